package replay

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// RPL016: what was said of the tools is not taken back unseen.
var RPL016 = &gate.Rule{
	ID: "RPL016", Name: "tool-surface-widened", Severity: finding.Error,
	Title: "Tool-surface.json is kept, and what it newly allows is shown",
	Doc: "`tool-surface.json` keeps tools from being added unnoticed (RPL004). Without it nothing is compared, so a pack with " +
		"tools must keep the file once it has one. An additional tool, a higher mode, a missing gate or a looser bound in a row " +
		"is a warning in every mode: one person often adds the row and the tool in one change, so that RPL004 has nothing to " +
		"report, and a reviewer has to see it.\n\n" +
		"Put the file back. If the tools are intended, approve them in the review.",
	Bad:   `{"base": {"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup"}]}, "head": null}`,
	Good:  `{"base": {"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup"}]}, "head": {"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup"}]}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkSurfaceKept,
}

// surfaceFile is the thing that findings about the whole file are of.
const surfaceFile = "tool-surface.json"

func checkSurfaceKept(p *gate.Pass) {
	if !p.HasBase() || p.Before.Unit.Surface == nil {
		return
	}
	was := p.Before.Unit.Surface
	if p.Unit.Surface == nil {
		if len(toolNames(p)) > 0 {
			d := gate.Faultf(idPlace(p), "put the file back", "tool-surface.json is removed, and the pack has %s", pack.Counted(len(toolNames(p)), "tool"))
			d.Thing = finding.Thing{Name: surfaceFile}
			p.Report(d.See(was.Node, "it is here in the base"))
		}
		return
	}
	rows, renamed := map[place][]*repo.SurfaceRow{}, p.Heirs()
	for i := range was.Surface.Items {
		row := &was.Surface.Items[i]
		at := place{cmp.Or(renamed[row.Intent.Value], row.Intent.Value), row.Capability.Value}
		rows[at] = append(rows[at], row)
	}
	for i := range p.Unit.Surface.Surface.Items {
		row := &p.Unit.Surface.Surface.Items[i]
		at := place{row.Intent.Value, row.Capability.Value}
		if row.Intent.OK && row.Capability.OK {
			widened(p, at, row, rows[at])
		}
	}
}

// widened warns of a row that lets in more than the rows of the base for its tool.
func widened(p *gate.Pass, at place, row *repo.SurfaceRow, was []*repo.SurfaceRow) {
	more := ""
	switch {
	case len(was) == 0:
		more = "it had no row"
	default:
		for _, old := range was {
			if more = lets(row, old); more == "" {
				return // another row of the base already let in as much
			}
		}
	}
	d := at.fault(pack.Place(row.Capability.Node, row.Node), "take the row back, or approve it in the review if the tool is intended",
		"tool-surface.json lets in more of tool %s for intent %s than in the base: %s", gate.Quote(at.tool), gate.Quote(at.intent), more).As(finding.Warning)
	d.Thing = finding.Thing{Name: at.tool}
	if len(was) > 0 {
		d = d.See(was[0].Node, "the row of the base")
	}
	d.Approve = true
	p.Report(d)
}

// lets says in which respect a row lets in more than another one; "" for none.
func lets(row, old *repo.SurfaceRow) string {
	if is, was := pack.Mode(row.ApprovalMode), pack.Mode(old.ApprovalMode); is.Known() && was.Known() && is.Rank() > was.Rank() {
		return fmt.Sprintf("its mode is %s and was %s", is, was)
	}
	if old.ApprovalMode.OK && !row.ApprovalMode.OK {
		return "it states no mode any more"
	}
	gates := map[string]bool{}
	for _, id := range row.Gates.Items {
		gates[id.Value] = true
	}
	for _, id := range old.Gates.Items {
		if id.OK && !gates[id.Value] {
			return fmt.Sprintf("gate %s is gone", gate.Quote(id.Value))
		}
	}
	have := map[string]any{}
	for _, e := range row.ArgConstraints.Entries {
		have[e.Name] = e.Value.Node.Any()
	}
	for _, e := range old.ArgConstraints.Entries {
		if want, ok := e.Value.Node.Any().(map[string]any); ok && looser(want, have[e.Name]) != "" {
			return fmt.Sprintf("argument %s is bounded less", gate.Quote(e.Name))
		}
	}
	return ""
}

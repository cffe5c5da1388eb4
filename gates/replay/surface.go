package replay

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// RPL004: no tool comes along unnoticed.
var RPL004 = &gate.Rule{
	ID: "RPL004", Name: "tool-surface-exceeded", Severity: finding.Error,
	Title: "Tools are those that tool-surface.json lists and the cases expect",
	Doc: "The tools that an agent can have are the first thing that a reviewer wants to know, and hard to see in a policy. " +
		"`tool-surface.json` lists them in one place: a row for each intent and tool, with the approval mode, the gates that " +
		"guard it and the bounds of its arguments. It is an error if some request can have a tool without a row; the finding " +
		"shows the smallest such request. It is also an error if the mode is above that of the row, if a gate of the row no " +
		"longer guards the tool, or if a bound is looser than in the row. A row for a tool that no request can have is a " +
		"warning. If golden cases name several packs, the tools that only the packs together provide are listed too, in the " +
		"file of the pack that has the case. The tools of a golden case are compared with its `expect.tools`.\n\n" +
		"If the tool is intended, add or correct the row, so that the review shows it. If not, undo the permission or the rule. " +
		"More gates and tighter bounds than in the row are allowed.",
	Bad:   `{"tool-surface.json": {"surface": []}, "surfaced": [{"intent": "support.refund", "capability": "adp_payments.issue_refund"}]}`,
	Good:  `{"surface": [{"intent": "support.refund", "capability": "adp_payments.issue_refund", "approval_mode": "destructive", "gates": ["GATE_FINANCE_APPROVAL"], "arg_constraints": {"amount_inr": {"max": 50000}}}]}`,
	Check: checkSurface,
}

func checkSurface(p *gate.Pass) {
	tell(p, compiled(p), golden.KindTools)
	if p.Unit.Surface == nil {
		p.NotApplicable(finding.Input{Kind: finding.ToolSurface}, "there is no tool-surface.json")
		return
	}
	s := &surface{
		notes: notes{Pass: p}, near: gate.NewBudget(), declared: declarations(p.Pack),
		listed: map[place][]*repo.SurfaceRow{}, told: map[aspect]bool{}, compiled: map[place]bool{}, taken: map[*repo.ToolSurface]bool{},
	}
	s.list(p.Unit.Surface)
	s.beside()
	results := p.Golden()
	for i := range results {
		if results[i].Detail != nil && results[i].Detail.Context != nil {
			s.compile(&results[i])
		}
	}
	s.proved()
}

// list takes the rows of a file in.
func (s *surface) list(file *repo.ToolSurface) {
	items := file.Surface.Items
	for i := range items {
		if at := (place{items[i].Intent.Value, items[i].Capability.Value}); items[i].Intent.OK && items[i].Capability.OK {
			s.listed[at] = append(s.listed[at], &items[i])
		}
	}
}

// place is one tool of one intent.
type place struct{ intent, tool string }

// surface holds the tools of a pack against tool-surface.json.
type surface struct {
	notes
	near     *gate.Budget
	declared map[string]*pack.Node // where the pack declares a tool
	listed   map[place][]*repo.SurfaceRow
	told     map[aspect]bool            // what was reported
	compiled map[place]bool             // tools that a golden case surfaces
	taken    map[*repo.ToolSurface]bool // of other packs
}

// aspect is something of a tool that is reported: its row, its mode, a gate by its
// name, or a bound of an argument.
type aspect struct {
	place
	what, name, bound string
}

// once reports whether something of a tool is to be told for the first time.
func (s *surface) once(a aspect) bool {
	first := !s.told[a]
	s.told[a] = true
	return first
}

// fault returns a fault of a tool's row.
func (p place) fault(at *pack.Node, hint, format string, args ...any) gate.Diagnostic {
	return gate.Faultf(at, hint, format, args...).Keyed(p.intent + " " + p.tool)
}

// compile checks the tools of one golden case that was compiled.
func (s *surface) compile(r *golden.Result) {
	for _, entry := range r.Detail.Context.Manifests.ToolManifest {
		for _, name := range entry.Capabilities {
			at := place{r.Intent, entry.AdapterID + "." + name}
			s.compiled[at] = true
			rows := s.listed[at]
			if len(rows) == 0 {
				s.unlisted(at, nil, caseOf(r))
			}
			for _, row := range rows {
				s.mode(at, row, pack.ApprovalMode(entry.CapabilityMetadata[name].ApprovalMode), caseOf(r))
				s.bounds(at, row, entry.Constraints[name], caseOf(r))
			}
		}
	}
}

// proved checks the tools that any request can surface.
func (s *surface) proved() {
	reach := s.Reach()
	if reach.Broken != "" {
		s.unchecked("which tools can be surfaced is not proved: the pack cannot be compiled: %s", reach.Broken)
		return
	}
	reachable := map[place]bool{}
	for _, found := range reach.Rows {
		at := place{found.Intent, found.Capability}
		reachable[at] = true
		rows := s.listed[at]
		switch {
		case found.Reach == nil:
			s.unchecked("whether tool %s can be surfaced for intent %s is not proved: %s", gate.Quote(at.tool), gate.Quote(at.intent), found.Reason)
		case len(rows) == 0:
			s.unlisted(at, found.Reach, nil)
		}
		s.row(at, &found)
	}
	s.together(reachable)
	s.unreachable(reachable)
}

// row checks a tool that is proved to be within reach against its rows.
func (s *surface) row(at place, found *proof.Row) {
	for _, row := range s.listed[at] {
		s.mode(at, row, found.Mode, nil)
		s.gates(at, row, found.Gates)
		if !s.compiled[at] {
			s.bounds(at, row, found.Bounds, nil)
		}
	}
}

// unlisted reports a tool that has no row, where the pack declares it.
func (s *surface) unlisted(at place, witness map[string]any, related []finding.Related) {
	if !s.once(aspect{place: at, what: "row"}) {
		return
	}
	related = append(gate.See(s.Unit.Surface.Surface.Node, "the rows that are listed"), related...)
	s.Report(gate.Diagnostic{
		At: pack.Place(s.declared[at.tool], idPlace(s.Pass)), Key: at.intent + " " + at.tool, Witness: witness, Related: related,
		Message: fmt.Sprintf("tool %s can be surfaced for intent %s, and tool-surface.json does not list it", gate.Quote(at.tool), gate.Quote(at.intent)),
		Hint:    "add a row to tool-surface.json if the tool is intended; otherwise take away what lets it in",
	})
}

// declarations returns where a pack declares its tools.
func declarations(p *pack.Pack) map[string]*pack.Node {
	declared := map[string]*pack.Node{}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		for _, c := range a.Capabilities.Items {
			declared[a.AdapterID.Value+"."+c.Value] = c.Node
		}
	}
	return declared
}

// mode checks the approval mode of a tool against its row.
func (s *surface) mode(at place, row *repo.SurfaceRow, have pack.ApprovalMode, related []finding.Related) {
	if listed := pack.Mode(row.ApprovalMode); row.ApprovalMode.OK && listed.Known() && have.Rank() > listed.Rank() && s.once(aspect{place: at, what: "mode"}) {
		d := at.fault(row.ApprovalMode.Node, fmt.Sprintf("write %q if it is intended; otherwise lower the mode in the pack", have),
			"tool %s is surfaced for intent %s with mode %s, and this row says %s", gate.Quote(at.tool), gate.Quote(at.intent), have, listed)
		d.Related = related
		s.Report(d)
	}
}

// gates checks that the gates of a row guard the tool.
func (s *surface) gates(at place, row *repo.SurfaceRow, have []string) {
	for _, id := range row.Gates.Items {
		if !id.OK || slices.Contains(have, id.Value) || !s.once(aspect{place: at, what: "gate", name: id.Value}) {
			continue
		}
		s.Report(at.fault(id.Node, gate.Choose(s.near.Nearest(id.Value, have), have, "let the tool's permission or a rule of its decision require it", gate.List),
			"gate %s does not guard tool %s for intent %s", gate.Quote(id.Value), gate.Quote(at.tool), gate.Quote(at.intent)).
			See(s.declared[at.tool], "the tool"))
	}
}

// bounds checks that what holds for the arguments of a tool is as tight as its
// row.
func (s *surface) bounds(at place, row *repo.SurfaceRow, have map[string]any, related []finding.Related) {
	for _, e := range row.ArgConstraints.Entries {
		want, ok := e.Value.Node.Any().(map[string]any)
		if !ok {
			continue // the schema gate's
		}
		loose := looser(want, have[e.Name])
		if loose == "" || !s.once(aspect{at, "argument", e.Name, loose}) {
			continue
		}
		holds := "nothing"
		if have[e.Name] != nil {
			holds = pack.Clip(pack.CompactJSON(have[e.Name]), gate.MostShown)
		}
		d := at.fault(pack.Place(e.Value.Node.Get(loose), e.Value.Node), "bound the argument in the permission as this row does, or correct the row if the change is intended",
			"argument %s of tool %s is not held to the %s of this row; what holds for it is %s", gate.Quote(e.Name), gate.Quote(at.tool), gate.Quote(loose), holds).
			See(s.declared[at.tool], "the tool")
		d.Related = append(d.Related, related...)
		s.Report(d)
	}
}

// unreachable warns of rows for tools that nothing surfaces.
func (s *surface) unreachable(reachable map[place]bool) {
	missing := map[string][]string{} // by intent, the tools without a row
	for at := range reachable {
		if len(s.listed[at]) == 0 {
			missing[at.intent] = append(missing[at.intent], at.tool)
		}
	}
	for _, tools := range missing {
		slices.Sort(tools)
	}
	items := s.Unit.Surface.Surface.Items
	for i := range items {
		row := &items[i]
		at := place{row.Intent.Value, row.Capability.Value}
		if !row.Intent.OK || !row.Capability.OK || reachable[at] || s.compiled[at] {
			continue
		}
		hint := "remove the row"
		if near := s.near.Nearest(at.tool, missing[at.intent]); near != "" {
			hint = fmt.Sprintf("write %q, or remove the row", near)
		}
		s.Report(at.fault(row.Capability.Node, hint,
			"no request of intent %s surfaces tool %s", gate.Quote(at.intent), gate.Quote(at.tool)).As(finding.Warning))
	}
}

// looser returns the first member, in the order of names, of a wanted bound that
// what holds for an argument does not keep; "" where all are kept. What holds is a
// bound, a list of bounds of which each holds, or nil. A bound that ends with an
// approval holds only where the wanted one ends so too.
func looser(want map[string]any, have any) string {
	conditional := want["unless_approved"] == true
	bounds := slices.DeleteFunc(boundsIn(have), func(b map[string]any) bool {
		return !conditional && b["unless_approved"] == true
	})
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name != "unless_approved" && !slices.ContainsFunc(bounds, func(b map[string]any) bool { return keeps(b, name, want[name]) }) {
			return name
		}
	}
	return ""
}

// boundsIn returns the bounds that hold for an argument.
func boundsIn(have any) []map[string]any {
	switch v := have.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []map[string]any:
		return slices.Clone(v)
	case []any:
		var list []map[string]any
		for _, item := range v {
			list = append(list, boundsIn(item)...)
		}
		return list
	}
	return nil
}

// keeps reports whether a bound is at least as tight as one member of another.
func keeps(bound map[string]any, name string, want any) bool {
	switch name {
	case "min":
		least, _ := span(bound)
		number, ok := want.(float64)
		return ok && least >= number
	case "max":
		_, most := span(bound)
		number, ok := want.(float64)
		return ok && most <= number
	case "enum":
		return isSubset(bound["enum"], want)
	case "required":
		return want != true || bound["required"] == true
	}
	return reflect.DeepEqual(bound[name], want)
}

// span returns the numbers between which a bound keeps its argument.
func span(bound map[string]any) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	if n, ok := bound["min"].(float64); ok {
		least = n
	}
	if n, ok := bound["max"].(float64); ok {
		most = n
	}
	words, ok := bound["enum"].([]any)
	if !ok || len(words) == 0 {
		return least, most
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, w := range words {
		n, ok := w.(float64)
		if !ok {
			return least, most
		}
		low, high = min(low, n), max(high, n)
	}
	return max(least, low), min(most, high)
}

// isSubset reports whether all items of a list are in another.
func isSubset(list, of any) bool {
	items, ok := list.([]any)
	all, okAll := of.([]any)
	return ok && okAll && !slices.ContainsFunc(items, func(item any) bool {
		return !slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(item, other) })
	})
}

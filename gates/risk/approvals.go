package risk

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// RSK002: nothing irreversible happens without a person's approval.
var RSK002 = &gate.Rule{
	ID: "RSK002", Name: "destructive-without-gate", Severity: finding.Error, NoWaiver: gate.InStrict,
	WhyNot: "A destructive action cannot be undone, and with `strict` nobody can excuse it from an approval.",
	Title:  "A destructive capability is open only behind an approval gate",
	Doc: "A destructive action cannot be undone, so a person approves it before. For every intent that can reach the capability, " +
		"its permission or a rule that applies to the intent must name an approval gate. If none does, it is an error, however " +
		"many other intents have one; the finding shows a request that gets through without an approval. No proof is needed if " +
		"no gate is named: if a condition cannot be followed, so that no request is found, it is the same error. A gate counts " +
		"as named only if it can really become active: unless a gate is active for every request, some golden case of the pack " +
		"must have the capability with a gate active. A gate with `when amount > 1000000000000` does not count. In a pack " +
		"without golden cases that is not checked.\n\n" +
		"A change that causes this has class reject, whether it adds the capability, removes its gate or raises its mode. In " +
		"strict mode the finding cannot be waived.\n\n" +
		"Name a gate in the permission's `requires_approval_gate`, or in the outcomes that allow the decision. If the pack has " +
		"exactly one gate, run `packgate check --fix`. RSK006 checks whether a named gate is active for every request.",
	Bad:   `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true}]`,
	Good:  `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Check: checkGated,
}

// RSK006: the gate is there when it is needed.
var RSK006 = &gate.Rule{
	ID: "RSK006", Name: "conditional-gate", Severity: finding.Warning, Strict: true,
	Title: "The gate of a destructive capability is active for every request that may use it",
	Doc: "A gate that a permission or a rule names is active if its `when` is true or unknown, and if an outcome that holds " +
		"requires it. All other requests use the destructive capability without an approval. That may be intended, for example " +
		"for small refunds. The finding shows such a request, so that somebody can agree to it. If no such request is found and " +
		"it is not proved that there is none, NPR001 reports that.\n\n" +
		"It is an error if the change brings the gap: the previous version kept the tool from every request of the intent, or " +
		"behind a gate.\n\n" +
		"Require approval for more requests in the gate's `when` (`true` makes it always active), or deny those requests in a " +
		"rule. If the gap is intended, bound the arguments and waive the finding with a reason.",
	Bad:   `"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": {">": [{"var": "request.context.refund_amount"}, 3000]}}]`,
	Good:  `"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": true}]`,
	From:  gate.FromCases,
	Check: checkConditional,
}

// rowsOf are rows of the tool surface about one tool, by intent.
type rowsOf struct {
	tool *policy.Tool
	rows []proof.Row
}

// eachTool returns the rows of destructive tools that pick wants, tool by tool.
func eachTool(rows []proof.Row, pick func(proof.Row) bool) (tools []rowsOf) {
	at := map[*policy.Tool]int{}
	for _, row := range rows {
		if row.Tool == nil || !row.Tool.Destructive() || !pick(row) {
			continue
		}
		i, known := at[row.Tool]
		if !known {
			i = len(tools)
			at[row.Tool] = i
			tools = append(tools, rowsOf{tool: row.Tool})
		}
		tools[i].rows = append(tools[i].rows, row)
	}
	return tools
}

// checkGated reports each destructive tool that some intent can reach and for which
// nothing names a gate there. Rows that were not listed may be such.
func checkGated(p *gate.Pass) {
	reach := p.Reach()
	rows := reach.Rows
	if reach.Broken != "" {
		rows = refused(p, reach.Broken)
	}
	for _, open := range eachTool(rows, func(row proof.Row) bool { return row.Unapproved() }) {
		shown := max(0, slices.IndexFunc(open.rows, func(row proof.Row) bool { return row.Reach != nil }))
		row := open.rows[shown]
		how := "it runs unapproved for intent " + gate.Quote(row.Intent) + example(row.Reach)
		if row.Reach == nil {
			how = fmt.Sprintf("nothing keeps it from running unapproved for intent %s (no request is shown: %s)", gate.Quote(row.Intent), row.Reason)
		}
		reportOpen(p, open.tool, how+further(len(open.rows)-1), row.Reach)
	}
	checkEarnest(p, reach.Rows)
	if n := len(rows); n > 0 && rows[n-1].Tool == nil {
		p.NotProved(gate.Claim{At: p.Pack.ToolingLayer.Node, What: "that every destructive tool has a gate", Reason: rows[n-1].Reason, Error: true})
	}
}

// reportOpen reports a tool without a gate.
func reportOpen(p *gate.Pass, t *policy.Tool, how string, witness map[string]any) {
	p.Report(gate.Diagnostic{
		At: place(t), Witness: witness, Fix: nameGate(p, t),
		Message: fmt.Sprintf("%s without a gate, and no rule names one: %s", opens(t), how),
		Hint:    "name an approval gate in the permission's requires_approval_gate",
	})
}

// refused returns the rows of a pack that cannot be compiled, as far as something can
// be read of it, and notes the destructive tools of which nothing is known.
func refused(p *gate.Pass, reason string) (rows []proof.Row) {
	unapproved := p.Proof().Unapproved()
	for _, t := range openTools(p) {
		if !t.Destructive() {
			continue
		}
		own := len(rows)
		for _, row := range unapproved {
			if row.Tool == t {
				rows = append(rows, row)
			}
		}
		if len(rows) == own {
			p.NotChecked(fmt.Sprintf("whether %s is gated: the pack cannot be compiled: %s", gate.Quote(t.String()), reason))
		}
	}
	return rows
}

func further(intents int) string {
	switch intents {
	case 0:
		return ""
	case 1:
		return "; and for 1 more intent"
	}
	return fmt.Sprintf("; and for %d more intents", intents)
}

// nameGate returns the fix that makes a tool's permission name the pack's only gate;
// nil where there is a choice, or nothing to choose.
func nameGate(p *gate.Pass, t *policy.Tool) *finding.Fix {
	one, gates := t.Permissions[0], p.Policy().Gates
	if len(gates) != 1 || !gates[0].GateID.OK || one.RequiresApprovalGate.Node != nil {
		return nil
	}
	id, err := json.Marshal(gates[0].ID)
	if err != nil {
		return nil
	}
	return gate.Edit("name the pack's only gate in the permission", "add", one.Node.KeyedPath()+"/requires_approval_gate", string(id))
}

// checkConditional reports each destructive tool that some request has with none of
// its gates raised, and those of which that is not known.
func checkConditional(p *gate.Pass) {
	reach := p.Reach()
	if reach.Broken != "" && slices.ContainsFunc(openTools(p), (*policy.Tool).Destructive) {
		p.NotChecked("which requests raise the gates: the pack cannot be compiled: " + reach.Broken)
	}
	before := gapsBefore(p)
	for _, open := range eachTool(reach.Rows, func(row proof.Row) bool {
		return len(row.Gates) > 0 && row.Ungated != nil && earnest(p, &row) != never // else RSK002's
	}) {
		reportGap(p, open, before)
	}
	for _, open := range eachTool(reach.Rows, func(row proof.Row) bool { return len(row.Gates) > 0 && row.Ungated == nil && !row.Held }) {
		row, fresh := before.newest(open.rows)
		p.NotProved(gate.Claim{
			At: place(open.tool), Error: fresh,
			What:   fmt.Sprintf("that %s never runs ungated for intent %s%s", gate.Quote(open.tool.String()), gate.Quote(row.Intent), further(len(open.rows)-1)),
			Reason: row.Reason,
		})
	}
}

// reportGap reports a tool that some requests have ungated.
func reportGap(p *gate.Pass, open rowsOf, before gaps) {
	row, fresh := before.newest(open.rows)
	one := naming(open.tool)
	d := gate.Diagnostic{
		At: place(open.tool), Witness: row.Ungated,
		Message: opens(open.tool) + ", which rules gate for some requests only: it",
		Hint:    "require approval for more requests, deny those requests in a rule, or waive the finding where the gap is intended",
	}
	if one != nil {
		d.At = one.RequiresApprovalGate.Node
		d.Message = fmt.Sprintf("gate %s of %s leaves requests open: %s",
			gate.Quote(one.RequiresApprovalGate.Value), gate.CalledBriefly("permission", one.PermissionID), called(open.tool))
	}
	d.Message += fmt.Sprintf(" runs ungated for intent %s%s%s", gate.Quote(row.Intent), example(row.Ungated, raising(p, row)...), further(len(open.rows)-1))
	if fresh {
		d.Severity = finding.Error
		d.Message += "; it did not before this change"
	}
	for i, when := range row.When[:min(len(row.When), gate.MostListed)] {
		which := "the gate"
		if len(row.When) > 1 {
			which = "gate " + gate.Quote(row.Gates[i])
		}
		d.Related = append(d.Related, gate.See(when, "when %s is raised", which)...)
	}
	p.Report(d)
}

// naming returns the first permission of a tool that names a gate of the pack, or nil.
func naming(t *policy.Tool) *pack.Permission {
	for _, one := range t.Permissions {
		if slices.ContainsFunc(t.Gates, func(g *policy.Gate) bool {
			return one.RequiresApprovalGate.OK && one.RequiresApprovalGate.Value == g.ID
		}) {
			return one
		}
	}
	return nil
}

// raising returns the conditions that can raise a gate of a row.
func raising(p *gate.Pass, row proof.Row) (about []*jsonlogic.Expr) {
	for _, id := range row.Gates {
		about = append(about, p.Policy().Gate(id).When.Expr)
	}
	for _, r := range p.Policy().Applicable(row.Intent) {
		if r.NamesGate() {
			about = append(about, r.When.Expr)
		}
	}
	return about
}

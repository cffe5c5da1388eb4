package risk

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/proof"
)

// evidence is what golden cases say of the gates of a row that leave requests open.
type evidence uint8

const (
	raises  evidence = iota // one has the tool with a gate active, or every request has
	unknown                 // there is no case, or one that may do so has to be fixed first
	never                   // the gates are named, and no case raises one for the tool
)

// earnest says whether the gates of a row can be raised in earnest: a gate that only
// requests raise which nobody has is none.
func earnest(p *gate.Pass, row *proof.Row) evidence {
	if len(row.Gates) == 0 || row.Held {
		return raises
	}
	results := p.Golden()
	open := len(results) == 0
	for i := range results {
		r := &results[i]
		switch {
		case r.Detail == nil || r.Expected != string(r.Outcome):
			open = true
		case r.Overlay == "" && shows(r, row):
			return raises
		}
	}
	if open {
		return unknown
	}
	return never
}

// shows reports whether a case has the tool of a row with one of its gates active.
func shows(r *golden.Result, row *proof.Row) bool {
	return r.Outcome == compiler.Compiled &&
		slices.ContainsFunc(r.Detail.Trace.Tools, func(t compiler.ToolTrace) bool { return t.Surfaced && t.Name() == row.Capability }) &&
		slices.ContainsFunc(row.Gates, func(id string) bool {
			return slices.Contains(r.Detail.Context.RuntimeControls.ApprovalGatesActive, id)
		})
}

// checkEarnest reports each destructive tool whose gates no golden case raises, and notes
// those of which that is not known.
func checkEarnest(p *gate.Pass, rows []proof.Row) {
	for _, open := range eachTool(rows, func(row proof.Row) bool { return earnest(p, &row) == never }) {
		row := open.rows[max(0, slices.IndexFunc(open.rows, func(row proof.Row) bool { return row.Ungated != nil }))]
		how := fmt.Sprintf("it may run unapproved for intent %s", gate.Quote(row.Intent))
		if row.Ungated != nil {
			how = fmt.Sprintf("it runs unapproved for intent %s%s", gate.Quote(row.Intent), example(row.Ungated, raising(p, row)...))
		}
		d := gate.Faultf(place(open.tool), "add a golden case that has the tool with the gate active, or require approval for more requests",
			"%s behind %s, which no golden case raises for it, so that it counts as none: %s%s",
			opens(open.tool), named(row.Gates), how, further(len(open.rows)-1))
		d.Witness = row.Ungated
		for _, when := range row.When[:min(len(row.When), gate.MostListed)] {
			d = d.See(when, "when a gate is raised")
		}
		p.Report(d)
	}
	for _, open := range eachTool(rows, func(row proof.Row) bool { return earnest(p, &row) == unknown }) {
		reason := "the pack has no golden case"
		if len(p.Golden()) > 0 {
			reason = "no golden case shows it, and one has to be fixed first"
		}
		p.NotChecked(fmt.Sprintf("whether a gate of %s is ever raised: %s", gate.Quote(open.tool.String()), reason))
	}
}

// named quotes the names of gates.
func named(gates []string) string {
	if len(gates) == 1 {
		return "gate " + gate.Quote(gates[0])
	}
	return "gates " + gate.ListBriefly(gates[:min(len(gates), gate.MostListed)])
}

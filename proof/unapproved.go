package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// Unapproved reports whether the row is of a destructive tool that no approval gate holds (RSK002).
func (r *Row) Unapproved() bool {
	return r.Tool != nil && r.Tool.Destructive() && len(r.Gates) == 0
}

// Unapproved returns these rows: for each intent, the destructive tools that are open and that no gate
// holds. For a pack that cannot be compiled they are the tools that, as far as the pack can be read,
// nothing keeps from being so.
func (m *Model) Unapproved() []Row {
	if m.broken == "" {
		return surveyed(m, jsonlogic.Solver{}, (*Row).Unapproved)
	}
	var rows []Row
	for _, intent := range m.Intents {
		rules := m.Applicable(intent)
		if slices.ContainsFunc(rules, (*policy.Rule).NamesGate) {
			continue
		}
		for _, t := range m.Tools {
			if len(rows) < mostRows && t.Allowed() && t.Destructive() && !t.NamesGate() &&
				slices.ContainsFunc(rules, func(r *policy.Rule) bool { return r.MayAllow(t) }) {
				rows = append(rows, Row{Intent: intent, Tool: t, Capability: t.String(), Reason: "the pack cannot be compiled: " + m.broken})
			}
		}
	}
	return rows
}

// Package references is the referential integrity gate: every name that a pack
// uses leads somewhere.
//
// A Context Pack is a graph written as a tree. A rule names a decision, a gate
// and pieces of evidence; a permission names an adapter and one of its
// capabilities; an eval target names an intent; the environment's catalog knows
// the ontology. A name that leads nowhere does no harm that anybody sees: the
// rule binds nothing, the gate is never raised, the evidence never comes. So
// each edge of the graph is a rule here, in the direction in which it is
// written, and REF011 looks for the nodes that no edge reaches.
//
// Only what could be read is judged. A member that is missing or of the wrong
// type is the schema gate's matter, and where a whole layer is missing, the
// names that would lead into it are not reported one by one.
//
// An unresolved name comes with the nearest name that exists, or with all of
// them where they are few.
package references

import "github.com/contextosai/packgate/gates/gate"

// Gate is the referential integrity gate.
var Gate = &gate.Gate{
	ID:    "references",
	Title: "Referential integrity",
	About: "Every name in the pack leads to something that exists: decisions, gates, adapters, capabilities, evidence, intents, and what the environment's catalog lists.",
	Rules: []*gate.Rule{
		REF001, REF002, REF003, REF004, REF005, REF006, REF007, REF008, REF009,
		REF010, REF011, REF012, REF013, REF014, REF015, REF016, REF017,
	},
}

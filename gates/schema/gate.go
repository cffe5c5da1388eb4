// Package schema is the first gate: it makes sure that a pack is a document
// that everything after it can rely on.
//
// Its rules go from the outside in. The first two are about the text: one JSON
// document, no name twice. The next three are about its shape: the ten layers,
// the types and required members of the JSON Schema, no member that nobody
// reads. The others are about what single values mean: versions, ranges,
// identifiers, conditions, names. The last one is about the files beside the
// pack, since a golden case that is silently misread tests nothing.
//
// Each fault has one rule. A required member that is missing, or a value of the
// wrong type, is for the JSON Schema (SCH004) alone: the rules about meaning
// look only at values that could be read, and the JSON Schema says nothing of
// meaning. So a pack with many faults shows each of them once, in one run.
package schema

import "github.com/contextosai/packgate/gates/gate"

// Gate is the schema gate.
var Gate = &gate.Gate{
	ID:    "schema",
	Title: "Schema",
	About: "The pack is one valid document of the Context Pack schema, and so are the files beside it.",
	Rules: []*gate.Rule{
		SCH001, SCH002, SCH003, SCH004, SCH005, SCH006, SCH007,
		SCH008, SCH009, SCH010, SCH011, SCH012, SCH013, SCH014,
	},
}

// ofPack returns a check of a pack that could be read; of any other it finds nothing.
func ofPack(check func(*gate.Pass)) func(*gate.Pass) {
	return func(p *gate.Pass) {
		if p.Pack != nil {
			check(p)
		}
	}
}

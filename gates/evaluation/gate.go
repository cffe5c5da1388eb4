// Package evaluation is the evaluation gate: what was measured of a pack reaches
// the targets that the pack sets itself, and does not get worse from one release
// to the next.
//
// Values come from two sources. A scorecard beside the pack holds what an
// evaluator measured; it counts only for the bytes that it was made for, because
// results of another version, or of this one before the last edit, say nothing
// of what is about to be released. What no scorecard gives is filled by built-in
// evaluators. These judge nothing that a person would have to judge: they count
// in how many golden cases and prior decisions policy came out as it was
// expected to, nothing unsafe was surfaced, and the required evidence was there.
// They are deterministic and say in every message that they are the source.
// Latency has no such substitute and comes from scorecards alone.
//
// Scorecards of other versions of the pack are history: the one that a scorecard
// names as its baseline gives the values to compare with. A value that is missing
// is never taken for a good one. It is listed as not checked, and where the config
// requires scorecards or a release gate is about it, it is an error.
package evaluation

import "github.com/contextosai/packgate/gates/gate"

// Gate is the evaluation gate.
var Gate = &gate.Gate{
	ID:    "evaluation",
	Title: "Evaluation",
	About: "Measured quality reaches its targets and does not get worse.",
	Layer: "evaluation_layer",
	Rules: []*gate.Rule{EVL001, EVL002, EVL003, EVL004, EVL005, EVL006, EVL007, EVL008, EVL009, EVL010, EVL011, EVL012, EVL013, EVL014},
}

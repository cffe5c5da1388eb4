// Package risk is the risk gate: every effect that an agent can have has the
// authority, the approval, the bounds and the idempotency that its risk requires.
//
// # Modes
//
// The contract orders effects by approval mode, from read_only to destructive.
// An adapter states the highest mode that any of its capabilities can produce,
// a decision the highest that it may authorise. A mode that is missing or
// unknown is reported once and counts as destructive for tools, and as no
// authority at all for decisions, so that what is not known is never taken for
// harmless. Most rules compare modes: of a tool with the decisions that can
// authorise it, of a decision with what it covers, of both with the ceilings of
// the environment, and of a capability's stated risks and name with its adapter.
//
// # Proof
//
// Whether a destructive capability can run without an approval is a question about
// requests, and package proof has the answer: the rows of the static tool surface say
// which gates hold a tool for an intent, and which request has it with none of them
// raised. A row for which nothing names a gate is RSK002, one with such a request
// RSK006, and one of which that is not known NPR001, so that no row which can be
// ungated is without a finding. What is proved to be out of reach has no row.
//
// Findings are about what is open: capabilities that a permission allows and
// none forbids. Names that lead nowhere are the references gate's matter.
package risk

import "github.com/contextosai/packgate/gates/gate"

// Gate is the risk gate.
var Gate = &gate.Gate{
	ID:    "risk",
	Title: "Risk",
	About: "Every effect has the authority, the approval, the bounds and the idempotency that its risk requires.",
	Layer: "tooling_layer",
	Reads: []string{"policy_layer", "decision_layer", "evaluation_layer"},
	Rules: []*gate.Rule{
		RSK001, RSK002, RSK003, RSK004, RSK005, RSK006, RSK007, RSK008, RSK009, RSK010, RSK011, RSK012, RSK013, RSK014, RSK015,
	},
}

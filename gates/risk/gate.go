// Package risk is the risk gate: every effect that an agent can have has the
// authority, the approval, the bounds and the idempotency that its risk asks for.
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
// Whether a destructive capability can run without an approval is a question
// about requests, and is answered by proof: the rules of an intent become a
// formula that says when a decision is allowed that may authorise the
// capability, when a gate is active, and when nothing is unknown. A solution of
// "permitted and no gate active" is a request that shows the gap, and the finding
// carries it. What cannot be proved is not claimed and is listed by name.
//
// Findings are about what is open: capabilities that a permission allows and
// none forbids. Names that lead nowhere are the references gate's matter.
package risk

import "github.com/contextosai/packgate/gates/gate"

// Gate is the risk gate.
var Gate = &gate.Gate{
	ID:    "risk",
	Title: "Risk",
	About: "Every effect has the authority, the approval, the bounds and the idempotency that its risk asks for.",
	Rules: []*gate.Rule{
		RSK001, RSK002, RSK003, RSK004, RSK005, RSK006, RSK007, RSK008, RSK009, RSK010, RSK011,
	},
}

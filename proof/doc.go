// Package proof says what a whole Context Pack permits: for which requests of
// an intent a decision is allowed, a tool is surfaced, an approval gate is
// active, and within which bounds. It says so as formulas over the request, so
// that the solver of package jsonlogic can be asked about all requests at once.
//
// # One pack
//
// A Model is a pack seen this way. Surface lists what any request can have of
// it: the static tool surface, with the smallest request for each row.
//
// # Two packs
//
// Rules cannot be compared one by one: a condition may move from one rule to
// another, a rule may be split, a deny may make up for an allow that became
// wider. What counts is what is permitted in the end (version classes: how a
// policy change is judged). Compare asks, for each decision and each tool,
// whether some request has it in one version and not in the other, and for what
// both versions give, whether it is held by fewer gates, by looser bounds or at
// another mode. What grew or shrank comes with a request that shows it.
//
// The question is cut down before it is asked. Conditions that stand in both
// versions are the same proposition, so that only what differs has to be looked
// at: a decision of which no outcome changed needs no proof. The rest of the
// rules is brought in only as far as a candidate offends against it.
//
// # What is certain
//
// A claim that something grew or shrank rests on a request that both versions
// were really compiled for. A claim that nothing did is a proof over all requests.
// What is neither is undecided, with the reason, and so is everything about a
// pack that the compiler refuses. Proofs are counted and bounded.
//
// What does not depend on a request is no matter of this package: guardrails,
// roles and lifetimes of approvals, evidence that an outcome asks for.
package proof

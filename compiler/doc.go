// Package compiler turns a resolved Context Pack, an invocation and its run
// context into a CompiledContext: what the model is told, which tools it may
// use, which controls hold, and what that cost. It does so in the eight stages
// of the ContextOS compiler.
//
// # A pure function
//
// A compile does no I/O, reads no clock, draws no random number, keeps no state
// and never lets the order of a map reach its output. The same inputs give the
// same bytes on every platform and in every process. That is what makes a stored
// snapshot worth comparing, and it lets the package run in a browser.
//
// # It fails closed
//
// There are three ways for a compile to end. It is compiled; or it is refused,
// because the invocation, the run context or the pack itself does not permit to
// go on; or an enforced rule could not be evaluated, which is a policy
// evaluation error. A refusal is a result with a reason, not a Go error: errors
// are left for a caller who asks for something that is no compile at all.
//
// Where something is not known, the stricter reading holds. Silence is not
// consent: a decision above read_only is allowed only if a rule that fired says
// so. A gate whose condition cannot be decided is active. An adapter without a
// known approval mode counts as destructive, a decision without one authorises
// nothing that writes. A pack with a dangling reference or a member of the wrong
// type is refused, because a rule that cannot be read cannot be enforced.
//
// # Nothing is dropped in silence
//
// What does not fit its bucket is dropped block by block, and every dropped
// block is listed, with a sentence about it. The trace of a Result says of every
// rule, decision, capability and gate what was decided about it, and why.
package compiler

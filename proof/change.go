package proof

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Verdict is how what one version permits compares with what the other permits. The zero value claims
// nothing.
type Verdict uint8

// The verdicts. Grew means that something is newly permitted; it may be open whether something was lost
// as well. Shrank means that nothing grew, and that something is lost, or may be: then there is a reason
// and no request.
const (
	Undecided Verdict = iota
	Equal
	Shrank
	Grew
	Incomparable // something is gained and something is lost
)

// String returns the verdict in a word.
func (v Verdict) String() string {
	return [...]string{"undecided", "equal", "shrank", "grew", "incomparable"}[v]
}

// Kind is what a change is about.
type Kind uint8

// The kinds of changes.
const (
	// Decision is whether a decision is allowed; Subject is its key.
	Decision Kind = iota
	// Tool is whether a tool is surfaced; Subject is "adapter.capability".
	Tool
	// Gate is whether a gate holds what is permitted in both versions; Subject is
	// the decision or tool, Arg the gate.
	Gate
	// Bounds is what an argument of a tool may be where both versions surface it;
	// Subject is the tool, Arg the argument.
	Bounds
	// Mode is the effective mode of a tool where both versions surface it; Subject
	// is the tool.
	Mode
	// Stop is whether a request is compiled in which no decision is allowed, if all else is equal: a
	// denial became a stop, or a stop a denial. Read-only tools are surfaced in one version and not in
	// the other, which does not count here.
	Stop
	// Whole is everything that could not be compared at all: of one intent, or of the packs if there
	// is no intent.
	Whole
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{"decision", "tool", "gate", "bounds", "mode", "stop", "whole"}[k]
}

// Change is one thing in which two versions differ for the requests of an intent. Fewer gates or looser
// bounds count as permitting more.
type Change struct {
	Intent  string
	Kind    Kind
	Subject string // see Kind
	Arg     string // see Kind
	Holder  Kind   // for a gate, what Subject is: Decision or Tool
	Facet   Facet  // of bounds
	Verdict Verdict
	// Gained is a small request for which head permits more than base, Lost one for which it permits
	// less, as data of conditions (see Request); nil if there is none or none is known. GainedWhat and
	// LostWhat describe what head permits.
	Gained, Lost         map[string]any
	GainedWhat, LostWhat string
	// GainedWhen and LostWhen are the requests that gain or lose; nil if there are none. Only Describe
	// sets them.
	GainedWhen, LostWhen *When
	// Unstopped is set for a gain if base stops at all requests that show it, because a rule is
	// unknown that head does not have: no request that both versions compile gains anything.
	Unstopped bool
	// Stopped is the same for a loss: head stops at all requests that show it.
	Stopped bool
	// Assumed names the variables that a claim takes to be single values, sorted. A change with the
	// verdict Equal is listed only because of them.
	Assumed []string
	// Reason is what could not be decided, and why.
	Reason string
}

// shows returns a request that shows the change, nil if none is known.
func (c *Change) shows() map[string]any {
	if c.Gained != nil {
		return c.Gained
	}
	return c.Lost
}

// Overall returns the verdict on several changes together. Certain growth counts, whatever else is
// undecided; that nothing grew is claimed only if nothing is undecided. No changes are Equal.
func Overall(changes []Change) Verdict {
	has := func(v Verdict) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return c.Verdict == v })
	}
	switch {
	case has(Incomparable), has(Grew) && has(Shrank):
		return Incomparable
	case has(Grew):
		return Grew
	case has(Undecided):
		return Undecided
	case has(Shrank):
		return Shrank
	}
	return Equal
}

// mostShown is how many characters of a pack's own text are repeated.
const mostShown = 64

// quote quotes text of a pack, and cuts a long one.
func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }

// quoteValue shows a value that is written as JSON.
func quoteValue(written string) string {
	var text string
	if json.Unmarshal([]byte(written), &text) == nil {
		return quote(text)
	}
	return written
}

package proof

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Verdict says how what one version permits is to what the other does. The zero
// value claims nothing.
type Verdict uint8

// The verdicts. Grew says that something is permitted that was not; it may be
// open whether something was lost as well. Shrank says that nothing grew, and
// that something is lost, or may be: then there is a reason and no request.
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

// Kind says what a change is about.
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
	// Stop is whether a request is compiled in which no decision is allowed, where
	// all else is equal: a denial became a stop, or a stop a denial. What only reads
	// is surfaced in the one and not in the other, and counts for nothing here.
	Stop
	// Whole is everything, of one intent or, without one, of the packs: what could
	// not be compared at all.
	Whole
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{"decision", "tool", "gate", "bounds", "mode", "stop", "whole"}[k]
}

// Change is one thing in which two versions differ for the requests of an
// intent. A request is permitted more also where it is held by less: by fewer
// gates, looser bounds.
type Change struct {
	Intent  string
	Kind    Kind
	Subject string // see Kind
	Arg     string // see Kind
	Holder  Kind   // for a gate, what Subject is: Decision or Tool
	Facet   Facet  // of bounds
	Verdict Verdict
	// Gained is a small request for which head permits more than base, Lost one
	// for which it permits less, as data of conditions (see Request); nil where
	// there is none or none is known. GainedWhat and LostWhat say in words what is
	// so in head.
	Gained, Lost         map[string]any
	GainedWhat, LostWhat string
	// GainedWhen and LostWhen say for which requests it is so; nil where there are none, and of
	// Compare.
	GainedWhen, LostWhen *When
	// Unstopped says of a gain that base stops at all requests that show it,
	// because a rule is unknown that head does not have: what both versions compile
	// has gained nothing.
	Unstopped bool
	// Stopped says the same of a loss: head stops at all requests that show it.
	Stopped bool
	// Assumed names the variables that a claim takes to be single values, sorted. A
	// change that is Equal is only there because of them.
	Assumed []string
	// Reason says what could not be decided, and why.
	Reason string
}

// shows returns a request that shows the change, nil where none is known.
func (c *Change) shows() map[string]any {
	if c.Gained != nil {
		return c.Gained
	}
	return c.Lost
}

// Overall returns what several changes come to. Where something grew for certain
// that counts, whatever is undecided beside it; a claim that nothing grew is made
// only where nothing is undecided. No changes are Equal.
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

// quote quotes text of a pack, cut where it is long.
func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }

// quoteValue shows a value that is written as JSON.
func quoteValue(written string) string {
	var text string
	if json.Unmarshal([]byte(written), &text) == nil {
		return quote(text)
	}
	return written
}

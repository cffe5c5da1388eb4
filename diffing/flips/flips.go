package flips

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
)

// Word is the state of a decision or a tool in one version, in words.
type Word string

// The words. Withheld is of tools, and the first four are of decisions.
const (
	Absent   Word = "not of the intent" // no rule binds the decision
	Allowed  Word = "allowed"
	Denied   Word = "denied"
	Blocked  Word = "blocked" // nothing denies it, and nothing allows it
	Surfaced Word = "surfaced"
	Withheld Word = "not surfaced"
	Stopped  Word = "stopped" // an enforced rule could not be evaluated
	Refused  Word = "refused" // the request is not compiled at all
)

// State is the state of a decision or a tool in one version.
type State struct {
	Word Word
	// Gates are the active gates that hold what is allowed or surfaced, in
	// declaration order.
	Gates []string
}

// String returns the state in words, such as "allowed behind GATE_FINANCE".
func (s State) String() string {
	if len(s.Gates) == 0 {
		return string(s.Word)
	}
	return string(s.Word) + " behind " + strings.Join(s.Gates, ", ")
}

// Permits reports whether it is there.
func (s State) Permits() bool { return s.Word == Allowed || s.Word == Surfaced }

// Flip is a request that the two versions decide otherwise.
type Flip struct {
	Intent string
	Kind   proof.Kind // Decision, or Tool
	// Subject is the decision's key, or the tool as "adapter.capability".
	Subject  string
	Old, New State // in the base, and in the head
	// Verdict says what the flip is: Grew where the head permits what the base does
	// not, or holds it by fewer gates; Shrank the other way round; Incomparable
	// where gates come and go, and where a refusal became a stop or the reverse;
	// Equal where nothing is permitted in either, for another reason.
	Verdict proof.Verdict
	// Request is the smallest request that was found to flip so, as data of
	// conditions (see proof.Request).
	Request map[string]any
	// From says where the request comes from: "golden case NAME", "proof" for one
	// that the comparison of effects found, the boundary, such as "boundary
	// request.context.amount = 3001", or "empty request".
	From string
	// Overlay is the overlay_id of the overlay that both versions were resolved with,
	// "" for none. A flip that is there without an overlay is not repeated.
	Overlay string
	// Cases are the names of the golden cases that flip so, in their order, those of
	// overlays after the others.
	Cases []string
}

// Result is what was found.
type Result struct {
	Flips []Flip // sorted by intent, kind, subject, old and new state
	// Requests is how many different requests were run through both versions.
	Requests int
	// NotChecked lists what was not looked at, and why.
	NotChecked []string
}

const (
	// mostRequests bounds the requests that are made in each way, around thresholds
	// and to make others small, and searchSteps and shrinkSteps what they may cost.
	mostRequests = 1000
	searchSteps  = 10_000_000
	shrinkSteps  = 5_000_000
	stepsPerLeaf = 4 // of a request, to write it down
	// mostFlips bounds what is reported.
	mostFlips = 100
)

// Step is the step from one version of a pack to another.
type Step struct {
	Base, Head *compiler.Program
	Cases      []compiles.Case // the golden cases, as compiled for both
	Effects    []proof.Change  // what the comparison of both found
}

// Find runs golden cases, the requests of effects and the boundary values of
// changed thresholds through the two versions of a pack. There is one Flip for each
// intent, subject, old and new state. Once the context has ended no more requests are
// run, and the result says so.
func Find(ctx context.Context, s Step) Result {
	f := &finder{
		pair:  pair{s.Base, s.Head},
		found: map[key]*candidate{}, cases: map[key][]string{}, seen: map[string]bool{},
	}
	for i, p := range []*compiler.Program{f.base, f.head} {
		// The request has no intent that the pack could know, so that nothing is compiled.
		if stop := p.Refuses(proof.Request(p.Pack, nil)); stop != nil && stop.Stage == "resolve" {
			f.NotChecked = []string{fmt.Sprintf("the %s pack cannot be compiled: %s", []string{"base", "head"}[i], stop.Reason)}
			return f.Result
		}
	}
	c := changedConditions(s.Base.Model, s.Head.Model)
	f.variables = c.variables
	f.memo = &memo{flips: map[asked][]flip{}, budget: jsonlogic.NewBudget(ctx, searchSteps)}
	bases := f.golden(s.Cases)
	bases = append(bases, f.proofs(s.Effects)...)
	f.boundaries(c, bases)
	f.overlaid(s.Cases)
	f.memo.budget = jsonlogic.NewBudget(ctx, shrinkSteps)
	f.settle()
	return f.Result
}

// key is what makes two flips the same.
type key struct {
	item
	intent   string
	old, new string
}

func (k key) compare(other key) int {
	return cmp.Or(
		cmp.Compare(k.intent, other.intent), cmp.Compare(k.kind, other.kind), cmp.Compare(k.subject, other.subject),
		cmp.Compare(k.old, other.old), cmp.Compare(k.new, other.new),
	)
}

// settle turns what was found into flips, and makes their requests small.
func (f *finder) settle() {
	keys := slices.SortedFunc(maps.Keys(f.found), key.compare)
	if len(keys) > mostFlips {
		f.NotChecked = append(f.NotChecked, fmt.Sprintf("only the first %d of %d are listed", mostFlips, len(keys)))
		keys = keys[:mostFlips]
	}
	for _, k := range keys {
		c := f.found[k]
		f.shrink(k, c)
		f.Flips = append(f.Flips, Flip{
			Intent: k.intent, Kind: k.kind, Subject: k.subject, Old: c.old, New: c.new, Verdict: verdict(c.old, c.new),
			Request: c.data, From: c.from(), Overlay: c.overlay, Cases: f.cases[k],
		})
	}
}

// verdict says what a flip is.
func verdict(old, new State) proof.Verdict {
	lost, gained := without(old.Gates, new.Gates), without(new.Gates, old.Gates)
	switch {
	case old.Permits() && new.Permits() && lost && gained:
		return proof.Incomparable
	case new.Permits() && (!old.Permits() || lost):
		return proof.Grew
	case old.Permits():
		return proof.Shrank
	case old.Word == Stopped || new.Word == Stopped || old.Word == Refused || new.Word == Refused:
		return proof.Incomparable
	}
	return proof.Equal
}

// without reports whether a has what b has not.
func without(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

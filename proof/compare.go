package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// Bounds of one comparison: the intents, the decisions, tools and gates that are
// looked at, and the changes.
const (
	mostIntents = 200
	mostItems   = 100_000
	mostChanges = 2_000
)

// Compare compares what two packs permit, over all requests of each intent, with the solver's budget
// for each proof. It returns what is not equal, sorted by intent, kind and subject; what is equal is
// left out, unless the claim takes a variable to be a single value (Change.Assumed). Nothing can be
// claimed about packs that the compiler refuses: then there is one undecided change.
func Compare(base, head *Model, s jsonlogic.Solver) []Change {
	return compareAll(base, head, s, bothWays)
}

// Growth compares as Compare does, and looks only for what head permits and base does not. The changes that have
// grown or are undecided are those of Compare with the same requests, but for those of the kind Stop; what is
// Incomparable there is Grew here. It asks half of the questions, so it decides more before the bounds of a
// comparison are reached. Of the other changes, Assumed belongs to the claim that nothing grew.
func Growth(base, head *Model, s jsonlogic.Solver) []Change {
	return compareAll(base, head, s, gains)
}

// extent is how much a comparison looks for.
type extent uint8

const (
	bothWays       extent = iota // what is permitted more, and what less
	withConditions               // and for which requests that is so
	gains                        // only what is permitted more
)

// compareAll compares two packs as far as it is wanted.
func compareAll(base, head *Model, s jsonlogic.Solver, wanted extent) []Change {
	for _, side := range []struct {
		name string
		*Model
	}{{"base", base}, {"head", head}} {
		if side.broken != "" {
			return []Change{{Kind: Whole, Reason: fmt.Sprintf("the %s pack cannot be compiled: %s", side.name, side.broken)}}
		}
	}
	c := newComparison(base, head, newProver(s, base, head))
	c.extent = wanted
	intents := Merged(base.Intents, head.Intents)
	for i, intent := range intents {
		if i == mostIntents {
			c.changes = append(c.changes, Change{Intent: intent, Kind: Whole,
				Reason: fmt.Sprintf("only the first %d intents are compared", mostIntents)})
			break
		}
		c.compare(intent, false)
	}
	for _, fill := range c.promised {
		fill()
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int { // facets stay in the order of keywords
		return cmp.Or(
			cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Holder, b.Holder),
			cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Arg, b.Arg),
		)
	})
	return c.changes
}

// comparison is one comparison of two packs.
type comparison struct {
	base, head             *Model
	table                  *table
	basePlaces, headPlaces []int
	ceilings               bool
	prover                 *prover
	results                map[compile]*outcome
	changes                []Change

	items int // looked at

	extent   extent
	promised []func() // fill in the conditions

	// Of one intent.
	memo  map[asked]answer
	whens map[asked]*When
}

func newComparison(base, head *Model, q *prover) *comparison {
	t := &table{}
	c := &comparison{
		base: base, head: head, table: t, basePlaces: t.add(base), headPlaces: t.add(head),
		prover: q, results: map[compile]*outcome{},
	}
	c.ceilings = base.reads[safetyModePath] || head.reads[safetyModePath]
	for _, tool := range base.Tools {
		other := head.Tool(tool.ToolID)
		c.ceilings = c.ceilings || other != nil && other.Rank() != tool.Rank()
	}
	return c
}

// compare compares an intent in both packs. If first is set it ends with the first certain change.
func (c *comparison) compare(intent string, first bool) {
	facts := factsOf(intent, c.ceilings, c.base, c.head)
	b, h := c.base.scene(c.table, c.basePlaces, intent), c.head.scene(c.table, c.headPlaces, intent)
	for _, s := range []*scene{b, h} {
		s.facts, s.ceilings = facts, c.ceilings
	}
	c.memo, c.whens = map[asked]answer{}, map[asked]*When{}
	before := len(c.changes)
	for _, key := range Merged(b.order, h.order) {
		if first && c.differs() || c.spent(intent) {
			return
		}
		c.decision(b, h, key)
	}
	ids := map[string]bool{}
	for _, t := range slices.Concat(b.Tools, h.Tools) {
		ids[t.String()] = t.Allowed() || ids[t.String()]
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if ids[id] && (first && c.differs() || c.spent(intent)) {
			return
		}
		if ids[id] {
			c.tool(b, h, id)
		}
	}
	if c.extent != gains && !slices.ContainsFunc(c.changes[before:], func(x Change) bool { return x.Verdict != Equal }) {
		c.stop(b, h)
	}
}

// differs reports whether a change was found for certain.
func (c *comparison) differs() bool {
	return slices.ContainsFunc(c.changes, func(x Change) bool { return x.shows() != nil })
}

// spent reports whether the rest of an intent is not compared, and notes why.
func (c *comparison) spent(intent string) bool {
	reason := c.prover.Spent()
	switch c.items++; {
	case reason != "":
	case c.items > mostItems:
		reason = fmt.Sprintf("more than %d decisions, tools and gates are to be compared", mostItems)
	case len(c.changes) > mostChanges:
		reason = fmt.Sprintf("there are more than %d changes", mostChanges)
	default:
		return false
	}
	c.changes = append(c.changes, Change{Intent: intent, Kind: Whole, Reason: "not all of it is compared: " + reason})
	return true
}

// asked identifies a question among those of an intent: equal ones have the same answer.
type asked struct {
	about    about
	up       bool // of what head permits and base does not
	gate     string
	held     [2]bool // whether the gate holds the item in from and in to
	from, to sign
	gates    string // the places of the gates of a row, each in a fixed width
}

// about is what a question that is answered once for several items is about.
type about uint8

const (
	itself about = iota // nothing that another question could share
	stopping
	surfacing
	releasing
	reaching
	ungating
)

// question is asked in both directions: what does `to` permit that `from` does not? Name identifies it;
// it is nil if no other question has the same answer.
type question struct {
	name   func(from, to *scene) asked
	probes func(from, to *scene) []probe
	// confirm looks at the compiles of both packs, and returns in words what `to` permits; "" if the
	// request shows nothing.
	confirm func(from, to *outcome) string
	// doubt returns why a request shows nothing although the compiles differ, "" for no reason. It may
	// be nil.
	doubt func(from, to *outcome) string
	// call returns a call of a tool that `to` lets through and `from` does not, if two versions differ
	// in calls and not in requests. It is nil if they differ in requests.
	call func(from, to *outcome) map[string]any
	// lost returns in words what `to` lost, if confirm is true in the other direction.
	lost func(from, to *outcome) string
}

// finding is the answer to a question in one direction.
type finding struct {
	answer
	what string
}

// judge asks a question in both directions, if both are looked for, and returns the change with the answers.
func (c *comparison) judge(change Change, b, h *scene, q question) Change {
	gained := c.find(b, h, q, q.confirm)
	confirmLost := func(from, to *outcome) string {
		if q.confirm(from, to) == "" {
			return ""
		}
		return q.lost(to, from)
	}
	lost := finding{answer: answer{Answer: jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}}}
	if c.extent != gains {
		lost = c.find(h, b, q, confirmLost)
	}
	change.Intent = b.intent
	change.GainedWhen, change.LostWhen = c.describe(b, h, q, gained, q.confirm), c.describe(h, b, q, lost, confirmLost)
	change.Gained, change.GainedWhat = gained.Witness, gained.what
	change.Unstopped, change.Stopped = gained.unstopped, lost.unstopped
	change.Lost, change.LostWhat = lost.Witness, lost.what
	change.Assumed = Merged(gained.Assumed, lost.Assumed)
	change.Reason = reasonOf(gained, lost)
	change.Verdict = verdictOf(gained, lost)
	return change
}

// note keeps a change, if it is one.
func (c *comparison) note(change Change) {
	if change.Verdict != Equal || len(change.Assumed) > 0 {
		c.changes = append(c.changes, change)
	}
}

const unconfirmed = "the compiler does not confirm the request that was found"

// verdictOf returns the verdict from both directions. It is not growth if requests that stopped are now
// permitted what they would have been.
func verdictOf(gained, lost finding) Verdict {
	grew := gained.Verdict == jsonlogic.Satisfiable && !gained.unstopped
	switch {
	case grew && lost.Verdict == jsonlogic.Satisfiable:
		return Incomparable
	case grew:
		return Grew
	case gained.Verdict == jsonlogic.Undecided:
		return Undecided
	case gained.Verdict == jsonlogic.Unsatisfiable && lost.Verdict == jsonlogic.Unsatisfiable:
		return Equal
	}
	return Shrank
}

func reasonOf(gained, lost finding) string {
	switch {
	case gained.Verdict == jsonlogic.Undecided:
		return "whether more is permitted is not proved: " + gained.Reason
	case lost.Verdict == jsonlogic.Undecided:
		return "whether less is permitted is not proved: " + lost.Reason
	}
	return ""
}

// find answers a question in one direction, and confirms the request by compiling it.
func (c *comparison) find(from, to *scene, q question, confirm func(from, to *outcome) string) finding {
	var name asked
	if q.name != nil {
		name = q.name(from, to)
		name.up = to.Model == c.head
	}
	a, known := c.memo[name]
	if !known || name.about == itself {
		a = c.prover.any(q.probes(from, to))
		c.memo[name] = a
	}
	if a.Verdict != jsonlogic.Satisfiable {
		return finding{answer: a}
	}
	was, is := c.compiled(from, a.Witness), c.compiled(to, a.Witness)
	if q.doubt != nil {
		if reason := q.doubt(was, is); reason != "" {
			return finding{answer: undecided(reason)}
		}
	}
	if what := confirm(was, is); what != "" {
		if q.call != nil {
			a.Witness = withCall(a.Witness, q.call(was, is))
		}
		return finding{a, what}
	}
	return finding{answer: undecided(unconfirmed)}
}

// withCall returns a witness with the call that shows what its request alone does not.
func withCall(witness, call map[string]any) map[string]any {
	if call == nil {
		return witness
	}
	witness = maps.Clone(witness)
	witness[CallMember] = call
	return witness
}

// stop compares which requests are compiled, if nothing else differs. Neither direction permits more: a
// refusal became an error, or the reverse.
func (c *comparison) stop(b, h *scene) {
	change := c.judge(Change{Kind: Stop}, b, h, question{
		probes: compiledOnly,
		confirm: func(from, to *outcome) string {
			return when(!from.ok() && to.ok(), "the request is compiled, and no decision is allowed in it")
		},
		lost: func(_, to *outcome) string { return "the compile stops: " + to.Reason() },
	})
	switch {
	case change.Gained != nil || change.Lost != nil:
		change.Verdict = Incomparable
	case change.Reason != "":
		change.Verdict = Undecided
	}
	c.note(change)
}

// when returns words that are true on a condition.
func when(yes bool, what string) string {
	if yes {
		return what
	}
	return ""
}

// compiledOnly asks for a request that `to` compiles and `from` does not.
func compiledOnly(from, to *scene) []probe {
	gone := from.stops(to)
	if !to.exists || len(gone) == 0 {
		return nil
	}
	return []probe{to.probe([]jsonlogic.Formula{jsonlogic.Any(gone...)})}
}

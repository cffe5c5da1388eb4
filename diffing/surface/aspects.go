package surface

import (
	"cmp"
	"maps"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// What says what an aspect is about.
type What string

// The aspects of a row, in the order in which a change lists them.
const (
	Requests What = "requests" // which requests have the tool
	Mode     What = "mode"     // the effective mode
	Sessions What = "sessions" // the weakest safety mode that has the tool
	Gate     What = "gate"     // an approval gate
	Ungated  What = "ungated"  // whether some request has the tool with no gate active
	Bound    What = "bound"    // the bound on an argument
)

// Aspect is one thing in which a row differs.
type Aspect struct {
	What What
	Name string // of the gate or the argument
	// Old and New are what the row says before and after: a mode, "held" for a gate
	// that is in the row, a bound as JSON. They are "" where it says nothing, and
	// alike where only the conditions of the rules differ.
	Old, New string
	Verdict  proof.Verdict
	// Words say what is so now, "" where the old and the new value say it.
	Words string
	// Witness is a request that shows what grew, or else what shrank; nil where none
	// is known.
	Witness map[string]any
	Reason  string // what is not proved
}

// change compares the two rows of a place; one of them may be nil.
func (e *effects) change(at place, base, head *Row) (change Change, differs bool) {
	change = Change{Intent: at.intent, Capability: at.tool, Base: base, Head: head, Kind: diffing.Changed}
	switch {
	case base == nil:
		change.Kind = diffing.Added
		change.Verdict, change.Witness, change.Reason = reached(head, proof.Grew), head.Reach, head.Reason
		if head.Ungated != nil {
			change.Open, change.Witness = true, head.Ungated
		}
		return change, true
	case head == nil:
		change.Kind = diffing.Removed
		change.Verdict, change.Reason = reached(base, proof.Shrank), base.Reason
		return change, true
	}
	for _, look := range []func(place, *Row, *Row) []Aspect{e.requests, e.mode, e.sessions, e.gates, e.ungated, e.bounds} {
		change.Aspects = append(change.Aspects, look(at, base, head)...)
	}
	change.settle()
	return change, len(change.Aspects) > 0
}

// reached is the verdict on a row that only one version has.
func reached(r *Row, v proof.Verdict) proof.Verdict {
	if r.Reach == nil {
		return proof.Undecided
	}
	return v
}

// settle draws together what the aspects say.
func (c *Change) settle() {
	verdicts := make([]proof.Change, len(c.Aspects))
	for i, a := range c.Aspects {
		verdicts[i].Verdict = a.Verdict
		grew := a.Verdict == proof.Grew || a.Verdict == proof.Incomparable
		if a.What == Ungated && grew {
			c.Open, c.Witness = true, a.Witness
		}
		if grew && c.Witness == nil {
			c.Witness = a.Witness
		}
		c.Reason = cmp.Or(c.Reason, a.Reason)
	}
	c.Verdict = proof.Overall(verdicts)
}

// requests compares which requests have a tool.
func (e *effects) requests(at place, base, head *Row) []Aspect {
	if known := e.about(at, proof.Tool, ""); known != nil && known.Verdict != proof.Equal {
		return []Aspect{aspect(Requests, "", "", "", known)}
	}
	if base.Reach == nil && head.Reach != nil && !e.decides(at) {
		return []Aspect{{What: Requests, Reason: base.Reason, Witness: head.Reach}}
	}
	return nil
}

func (e *effects) mode(at place, base, head *Row) []Aspect {
	list := e.named(Mode, proof.Mode, at, "", string(base.Mode), string(head.Mode))
	if len(list) > 0 && e.about(at, proof.Mode, "") == nil && !e.decides(at) { // no request could be looked at
		list[0].Verdict = raised(base.Mode, head.Mode)
	}
	return list
}

// raised is the verdict on a mode that is in a row.
func raised(from, to pack.ApprovalMode) proof.Verdict {
	switch cmp.Compare(to.Rank(), from.Rank()) {
	case 1:
		return proof.Grew
	case -1:
		return proof.Shrank
	}
	return proof.Equal
}

// sessions compares from which safety mode on a tool can be had. A weaker one is
// more: sessions get the tool that were not trusted with it.
func (e *effects) sessions(_ place, base, head *Row) []Aspect {
	if base.Sessions == head.Sessions {
		return nil
	}
	return []Aspect{{What: Sessions, Old: string(base.Sessions), New: string(head.Sessions), Verdict: raised(head.Sessions, base.Sessions)}}
}

// held says that a gate is in a row.
const held = "held"

func (e *effects) gates(at place, base, head *Row) (list []Aspect) {
	names := slices.Clone(base.Gates)
	for _, id := range head.Gates {
		if !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	said := func(r *Row, id string) string {
		if slices.Contains(r.Gates, id) {
			return held
		}
		return ""
	}
	for _, id := range names {
		list = append(list, e.named(Gate, proof.Gate, at, id, said(base, id), said(head, id))...)
	}
	return list
}

// ungated compares whether a tool can be had with no gate active.
func (e *effects) ungated(_ place, base, head *Row) []Aspect {
	switch {
	case base.Ungated == nil && head.Ungated != nil && base.Proved:
		return []Aspect{{What: Ungated, Verdict: proof.Grew, Witness: head.Ungated}}
	case base.Ungated == nil && head.Ungated != nil:
		return []Aspect{{What: Ungated, Verdict: proof.Undecided, Witness: head.Ungated, Reason: base.Reason}}
	case base.Ungated != nil && head.Ungated == nil && head.Proved:
		return []Aspect{{What: Ungated, Verdict: proof.Shrank, Witness: base.Ungated}}
	}
	return nil
}

func (e *effects) bounds(at place, base, head *Row) (list []Aspect) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(base.Bounds)), maps.Keys(head.Bounds))
	slices.Sort(names)
	for _, arg := range slices.Compact(names) {
		list = append(list, e.named(Bound, proof.Bounds, at, arg, written(base.Bounds, arg), written(head.Bounds, arg))...)
	}
	return list
}

func written(bounds map[string]any, arg string) string {
	if bound, there := bounds[arg]; there {
		return pack.CompactJSON(bound)
	}
	return ""
}

// aspect returns an aspect with what the effects say of it, if they do.
func aspect(what What, name, was, is string, e *proof.Change) Aspect {
	a := Aspect{What: what, Name: name, Old: was, New: is}
	if e == nil {
		return a
	}
	a.Verdict, a.Reason = e.Verdict, e.Reason
	a.Words, a.Witness = e.GainedWhat, e.Gained
	if a.Witness == nil {
		a.Words, a.Witness = cmp.Or(e.GainedWhat, e.LostWhat), e.Lost
	}
	return a
}

// effects finds what is known of a tool.
type effects struct {
	byPlace map[aspectKey]*proof.Change
	open    map[place]bool  // tools of which something is not decided
	closed  map[string]bool // intents that were not compared as a whole; "" for all
}

func newEffects(changes []proof.Change) *effects {
	e := &effects{byPlace: map[aspectKey]*proof.Change{}, open: map[place]bool{}, closed: map[string]bool{}}
	for i := range changes {
		c := &changes[i]
		at := place{c.Intent, c.Subject}
		switch {
		case c.Kind == proof.Whole:
			e.closed[c.Intent] = true
			continue
		case c.Kind == proof.Gate && c.Holder != proof.Tool:
			continue
		}
		key := aspectKey{at, c.Kind, c.Arg}
		e.byPlace[key] = joined(e.byPlace[key], c)
		if c.Verdict == proof.Undecided {
			e.open[at] = true
		}
	}
	return e
}

// joined returns what two changes of one aspect come to: those of the bounds of an argument. A
// may be nil.
func joined(a, b *proof.Change) *proof.Change {
	if a == nil {
		return b
	}
	both := *a
	both.Verdict = proof.Overall([]proof.Change{*a, *b})
	both.Reason = cmp.Or(a.Reason, b.Reason)
	if a.Gained == nil {
		both.Gained = b.Gained
	}
	if a.Lost == nil {
		both.Lost = b.Lost
	}
	both.GainedWhat, both.LostWhat = and(a.GainedWhat, b.GainedWhat), and(a.LostWhat, b.LostWhat)
	return &both
}

// and joins two sentences, each of which may be "".
func and(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// aspectKey is one aspect of a tool: of an argument, where it is about one.
type aspectKey struct {
	place
	kind proof.Kind
	arg  string
}

func (e *effects) about(at place, kind proof.Kind, arg string) *proof.Change {
	return e.byPlace[aspectKey{at, kind, arg}]
}

// named compares what two rows say under one name, none where that and what it permits
// are the same. The effects leave out what permits the same; where they do not decide,
// nothing is known of what they do not speak of.
func (e *effects) named(what What, kind proof.Kind, at place, name, was, is string) []Aspect {
	known := e.about(at, kind, name)
	if was == is && (known == nil || known.Verdict == proof.Equal) {
		return nil
	}
	a := aspect(what, name, was, is, known)
	if known == nil && e.decides(at) {
		a.Verdict = proof.Equal
	}
	return []Aspect{a}
}

// decides reports whether nothing about a tool is left open.
func (e *effects) decides(at place) bool {
	return !e.open[at] && !e.closed[at.intent] && !e.closed[""]
}

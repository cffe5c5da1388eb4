package proof

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// Keyword is a member of the bound of an argument.
type Keyword uint8

// The keywords of a bound, and what they are called in a pack.
const (
	Upper    Keyword = iota // max
	Lower                   // min
	Required                // required
	Listed                  // enum
	Matched                 // pattern, and members that are not known
)

var keywords = []Keyword{Upper, Lower, Required, Listed, Matched}

// Facet is what a change of the bounds of an argument is about: one keyword, before an approval or after
// it. Each facet is compared by itself, so that no loosening hides another.
type Facet struct {
	Keyword  Keyword
	Approved bool
}

// once returns the words for a facet that is about what holds after an approval, "" for another one.
func (f Facet) once() string { return when(f.Approved, " once approved") }

// bounds compares what the arguments of a tool may be where both versions surface it.
func (c *comparison) bounds(b, h *scene, was, is *policy.Tool) {
	for _, arg := range Merged(was.Arguments(), is.Arguments()) {
		if alike(b.sources(was, arg), h.sources(is, arg)) {
			continue
		}
		reasons := map[string]bool{} // why something about this argument is undecided, each once
		for _, k := range keywords {
			for _, approved := range []bool{false, true} {
				change := c.bound(b, h, Change{Kind: Bounds, Subject: was.String(), Arg: arg, Facet: Facet{k, approved}})
				if change.Verdict != Undecided || !reasons[change.Reason] {
					c.note(change)
				}
				reasons[change.Reason] = true
			}
		}
	}
}

// bound compares a facet of the bounds of an argument.
func (c *comparison) bound(b, h *scene, about Change) Change {
	return c.judge(about, b, h, question{
		probes:  func(from, to *scene) []probe { return c.loosened(from, to, about) },
		doubt:   func(from, to *outcome) string { return unlike(from, to, about) },
		confirm: func(from, to *outcome) string { return compared(from, to, about, held.beyond) },
		lost:    func(from, to *outcome) string { return compared(from, to, about, held.within) },
		call:    func(from, to *outcome) map[string]any { return calling(from, to, about) },
	})
}

// world returns the bounds on an argument in both versions, before an approval or after it.
// OK is false if the tool may not be there.
func world(from, to *outcome, about Change, approved bool) (was, is held, ok bool) {
	if x := (item{tool: about.Subject}); !from.mayPermit(x) || !to.mayPermit(x) {
		return held{}, held{}, false
	}
	on := func(o *outcome) held { return together(o.boundsOn(o.open(about.Subject), about.Arg), approved) }
	return on(from), on(to), true
}

// compared returns in words how the bounds of an argument differ, "" for nothing.
func compared(from, to *outcome, about Change, say func(now, was held, f Facet) string) string {
	was, is, ok := world(from, to, about, about.Facet.Approved)
	if !ok {
		return ""
	}
	what := say(is, was, about.Facet)
	return when(what != "", fmt.Sprintf("argument %s of %s %s", quote(about.Arg), quote(about.Subject), what))
}

// CallMember is the member of a witness that has a call of a tool, if two versions differ in what the
// tool may be called with in the same request.
const CallMember = "tool_call"

// calling returns a call that bounds newly let through, nil if none is known. Its argument is the one
// nearest to the former limit.
func calling(from, to *outcome, about Change) map[string]any {
	was, is, ok := world(from, to, about, about.Facet.Approved)
	if !ok {
		return nil
	}
	v, ok := is.nearest(was, about.Facet)
	if !ok {
		return nil
	}
	args := map[string]any{about.Arg: v.any()}
	if v.missing {
		args = map[string]any{}
	}
	return map[string]any{"capability_id": about.Subject, "args": args}
}

// unlike returns why bounds cannot be compared in one request, "" for no reason: it is not known which
// of two patterns is stricter, or which of two members that the contract does not have.
func unlike(from, to *outcome, about Change) string {
	for _, approved := range []bool{false, true} {
		switch was, is, ok := world(from, to, about, approved); {
		case !ok:
		case !subset(was.patterns, is.patterns) && !subset(is.patterns, was.patterns):
			return fmt.Sprintf("argument %s has a different pattern, and patterns are not compared", quote(about.Arg))
		case !subset(was.others, is.others) || !subset(is.others, was.others):
			return fmt.Sprintf("argument %s is bound by a member that is not known", quote(about.Arg))
		}
	}
	return ""
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// loosened returns the probes for a bound that holds in `from` and none as strict in `to`.
func (c *comparison) loosened(from, to *scene, about Change) (probes []probe) {
	x := item{tool: about.Subject}
	open := gaps(from.sources(from.open(x.tool), about.Arg), to.sources(to.open(x.tool), about.Arg), about.Facet)
	if len(open) == 0 {
		return nil
	}
	there := both(from, to, x, nil)
	for _, gap := range open {
		if gap.certain {
			probes = append(probes, to.probe(seeds(from.is(gap.bound.when)), plain(from.none(gap.covers)), there))
		}
		loose := append(to.none(gap.covers), from.may(gap.bound.when), jsonlogic.Not(from.mayRefuse(x)))
		probes = append(probes, c.regained(from, to, x, jsonlogic.All(loose...))...)
	}
	return probes
}

// gap is a bound that may not be covered: covers is when bounds hold that are as strict in some respect.
type gap struct {
	bound  source
	covers set
	// certain is set if none of these bounds holds whenever the bound does.
	certain bool
}

// gaps returns in what respects bounds may be looser than others, each once. After an approval they
// count as looser only if something is looser that was not before it.
func gaps(was, is []source, f Facet) []gap {
	if !f.Approved {
		before, _ := f.Keyword.openings(was, is)
		return before
	}
	wasAfter, isAfter := afterApproval(was), afterApproval(is)
	if len(wasAfter) == len(was) && len(isAfter) == len(is) {
		return nil // an approval ends nothing
	}
	_, known := f.Keyword.openings(was, is)
	after, found := f.Keyword.openings(wasAfter, isAfter)
	for key := range found {
		if !known[key] {
			return after
		}
	}
	return nil
}

// opening identifies one thing that a bound no longer rejects.
type opening struct {
	bound  string // what it says
	when   literal
	part   any // see part
	covers string
}

// openings returns in what respects bounds may be looser than others by a keyword, each once, and what
// is looser in each.
func (k Keyword) openings(old, now []source) (list []gap, found map[opening]bool) {
	if !slices.ContainsFunc(old, func(s source) bool { return s.says(k) }) {
		return nil, nil
	}
	var all []*atoms
	for _, s := range slices.Concat(old, now) {
		all = append(all, &s.atoms)
	}
	values := valuesOf(all...)
	found = map[opening]bool{}
	for _, s := range old {
		known := map[string]bool{}
		for _, part := range s.parts(k, values) {
			covers, certain := uncovered(s, now, part.rejects)
			at := written(covers)
			found[opening{s.key, s.when, part.is, at}] = true
			if !known[at] {
				known[at] = true
				list = append(list, gap{s, covers, certain})
			}
		}
	}
	return list, found
}

// afterApproval returns the bounds that hold after an approval too.
func afterApproval(list []source) []source {
	if !slices.ContainsFunc(list, func(s source) bool { return s.unlessApproved }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(s source) bool { return s.unlessApproved })
}

// part is something that a bound rejects, with which other bounds reject it.
type part struct {
	is      any // a value, or the text of a pattern or of a member that is not known
	rejects func(source) bool
}

// parts returns everything that a bound rejects by a keyword.
func (a *atoms) parts(k Keyword, values []value) (parts []part) {
	for _, v := range values {
		if a.rejectsBy(k, v) {
			parts = append(parts, part{v, func(t source) bool { return t.rejects(v) }})
		}
	}
	if k != Matched {
		return parts
	}
	if a.pattern != nil {
		parts = append(parts, part{*a.pattern, func(t source) bool { return t.pattern != nil && *t.pattern == *a.pattern }})
	}
	for _, other := range a.others {
		parts = append(parts, part{other, func(t source) bool { return slices.Contains(t.others, other) }})
	}
	return parts
}

// uncovered returns when the bounds hold that cover another one. Certain is false if one of them holds
// whenever that does.
func uncovered(held source, by []source, covers func(source) bool) (list set, certain bool) {
	certain = true
	for _, t := range by {
		if covers(t) {
			list = append(list, t.when)
			certain = certain && t.when != always && t.when != held.when
		}
	}
	return normal(list), certain
}

// mode compares the effective mode of a tool that both versions surface: that of its adapter or, if it
// is lower, the highest that fired outcomes of the authorising decisions state (compiler, C4). For a
// request that stops it is the lowest that some completion has.
func (c *comparison) mode(b, h *scene, was, is *policy.Tool) {
	x := item{tool: was.String()}
	c.note(c.judge(Change{Kind: Mode, Subject: x.tool}, b, h, question{
		probes: func(from, to *scene) []probe { return c.raised(from, to, x) },
		confirm: func(from, to *outcome) string {
			if !from.mayPermit(x) || !to.mayPermit(x) {
				return ""
			}
			old, now := from.modeOf(from.open(x.tool)), to.modeOf(to.open(x.tool))
			return when(now.Rank() > old.Rank(), fmt.Sprintf("tool %s has mode %s (was %s)", quote(x.tool), now, old))
		},
		lost: func(from, to *outcome) string {
			return fmt.Sprintf("tool %s has mode %s (was %s)", quote(x.tool), to.modeOf(to.open(x.tool)), from.modeOf(from.open(x.tool)))
		},
	}))
}

// raised returns the probes for a tool that both versions surface, in `to` at a higher mode.
func (c *comparison) raised(from, to *scene, x item) (probes []probe) {
	was, is := from.open(x.tool), to.open(x.tool)
	if was.Rank() == is.Rank() && from.sameModes(to, was, is) {
		return nil
	}
	for rank := range is.Rank() {
		low, may := from.atMost(was, rank)
		if !may {
			continue
		}
		high := jsonlogic.All()
		if limited, may := to.atMost(is, rank); may {
			high = jsonlogic.Not(limited)
		}
		probes = append(probes, to.probe(seeds(low, high), both(from, to, x, nil)))
		lower := jsonlogic.All(from.mayBeAtMost(was, rank), high, jsonlogic.Not(from.mayRefuse(x)))
		probes = append(probes, c.regained(from, to, x, lower)...)
	}
	return probes
}

// sameModes reports whether the effective mode of a tool is the same in both versions: no
// outcome lowers it, or the same decisions state the same.
func (s *scene) sameModes(other *scene, was, is *policy.Tool) bool {
	if !s.lowered(was) && !other.lowered(is) {
		return true
	}
	a, b := s.deciding(was), other.deciding(is)
	return slices.EqualFunc(a, b, func(x, y *standing) bool {
		same := x.Key == y.Key && sameStanding(s, other, x.Key)
		for rank := range x.modes {
			same = same && slices.Equal(x.modes[rank], y.modes[rank])
		}
		return same
	})
}

// lowered reports whether an outcome states a mode below that of the adapter.
func (s *scene) lowered(t *policy.Tool) bool {
	return slices.ContainsFunc(s.deciding(t), func(d *standing) bool {
		for rank := range t.Rank() {
			if len(d.modes[rank]) > 0 {
				return true
			}
		}
		return false
	})
}

// atMost returns the formula that the effective mode of a surfaced tool has at most the given rank. May
// is false if it never has.
func (s *scene) atMost(t *policy.Tool, rank int) (f jsonlogic.Formula, may bool) {
	if rank >= t.Rank() {
		return jsonlogic.All(), true
	}
	var low, high []jsonlogic.Formula
	for _, d := range s.deciding(t) {
		below, above := d.stating(rank)
		if len(below) > 0 {
			low = append(low, jsonlogic.All(s.core(d), s.any(below)))
		}
		if len(above) > 0 {
			high = append(high, jsonlogic.All(s.core(d), s.any(above)))
		}
	}
	return jsonlogic.All(jsonlogic.Any(low...), jsonlogic.Not(jsonlogic.Any(high...))), len(low) > 0
}

// mayBeAtMost returns the formula that the effective mode of a tool has at most the given rank in some
// completion.
func (s *scene) mayBeAtMost(t *policy.Tool, rank int) jsonlogic.Formula {
	if rank >= t.Rank() {
		return jsonlogic.All()
	}
	var low, high []jsonlogic.Formula
	for _, d := range s.deciding(t) {
		below, above := d.stating(rank)
		low = append(low, s.anyMay(below))
		high = append(high, jsonlogic.Any(s.mayRefuse(item{decision: d.Key}), s.noneMay(above)))
	}
	return jsonlogic.All(jsonlogic.Any(low...), jsonlogic.All(high...))
}

// stating returns when outcomes state a mode of a rank up to the given one, and when
// one above it.
func (d *standing) stating(rank int) (below, above set) {
	for r, stated := range d.modes {
		if r <= rank {
			below = append(below, stated...)
		} else {
			above = append(above, stated...)
		}
	}
	return normal(below), normal(above)
}

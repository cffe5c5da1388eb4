package proof

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// bounds compares what the arguments of a tool may be where both versions surface it.
func (c *comparison) bounds(b, h *scene, was, is *policy.Tool) {
	x := item{tool: was.String()}
	for _, arg := range Merged(was.Arguments(), is.Arguments()) {
		if alike(b.sources(was, arg), h.sources(is, arg)) {
			continue
		}
		c.note(c.judge(Change{Kind: Bounds, Subject: x.tool, Arg: arg}, b, h, question{
			probes:  func(from, to *scene) []probe { return c.loosened(from, to, x, arg) },
			doubt:   func(from, to *outcome) string { return unlike(from, to, x.tool, arg) },
			confirm: func(from, to *outcome) string { return compared(from, to, x.tool, arg, held.beyond) },
			lost:    func(from, to *outcome) string { return compared(from, to, x.tool, arg, held.within) },
			call:    func(from, to *outcome) map[string]any { return calling(from, to, x.tool, arg) },
		}))
	}
}

// worlds returns the bounds on an argument before an approval and, where some end with
// it, after it; nothing where the tool may not be there.
func worlds(from, to *outcome, id, arg string) [][2]held {
	if x := (item{tool: id}); !from.mayPermit(x) || !to.mayPermit(x) {
		return nil
	}
	was, is := from.boundsOn(from.open(id), arg), to.boundsOn(to.open(id), arg)
	before := [2]held{together(was, false), together(is, false)}
	if !slices.ContainsFunc(slices.Concat(was, is), func(a atoms) bool { return a.unlessApproved }) {
		return [][2]held{before}
	}
	return [][2]held{before, {together(was, true), together(is, true)}}
}

// compared says in words how the bounds of an argument differ, "" for nothing.
func compared(from, to *outcome, id, arg string, say func(now, was held) string) string {
	for i, w := range worlds(from, to, id, arg) {
		if what := say(w[1], w[0]); what != "" {
			return fmt.Sprintf("argument %s of %s %s%s", quote(arg), quote(id), what, [...]string{"", " once it is approved"}[i])
		}
	}
	return ""
}

// CallMember is the member of a witness that has a call of a tool, where two versions differ in
// what the tool may be called with for one and the same request.
const CallMember = "tool_call"

// calling returns a call that bounds let through now and did not, nil where none is known: its
// argument is the one nearest to the former limit.
func calling(from, to *outcome, id, arg string) map[string]any {
	for _, w := range worlds(from, to, id, arg) {
		v, ok := w[1].nearest(w[0])
		if !ok {
			continue
		}
		args := map[string]any{arg: v.any()}
		if v.missing {
			args = map[string]any{}
		}
		return map[string]any{"capability_id": id, "args": args}
	}
	return nil
}

// unlike says why bounds cannot be compared in one request: of two patterns, or of members
// that the contract does not have, nobody knows which is stricter.
func unlike(from, to *outcome, id, arg string) string {
	for _, w := range worlds(from, to, id, arg) {
		switch {
		case !subset(w[0].patterns, w[1].patterns) && !subset(w[1].patterns, w[0].patterns):
			return fmt.Sprintf("argument %s has another pattern, and patterns are not compared", quote(arg))
		case !subset(w[0].others, w[1].others) || !subset(w[1].others, w[0].others):
			return fmt.Sprintf("argument %s is bound by a member that is not known", quote(arg))
		}
	}
	return ""
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// loosened returns the probes for a bound that holds in `from` and none as strict in `to`.
func (c *comparison) loosened(from, to *scene, x item, arg string) (probes []probe) {
	there := both(from, to, x, nil)
	for _, gap := range gaps(from.sources(from.open(x.tool), arg), to.sources(to.open(x.tool), arg)) {
		if gap.certain {
			probes = append(probes, to.probe(seeds(from.is(gap.bound.when)), plain(from.none(gap.covers)), there))
		}
		loose := append(to.none(gap.covers), from.may(gap.bound.when), jsonlogic.Not(from.mayRefuse(x)))
		probes = append(probes, c.regained(from, to, x, jsonlogic.All(loose...))...)
	}
	return probes
}

// gap is a bound, and when the bounds hold that are as strict in something that it says.
type gap struct {
	bound  source
	covers set
	// certain says that no bound covers it which holds whenever it does.
	certain bool
}

// gaps returns in what bounds may be looser than others, before and after an approval, each once.
func gaps(was, is []source) (list []gap) {
	type once struct {
		bound  int
		covers string
	}
	known := map[once]bool{}
	for _, approved := range []bool{false, true} {
		old, now := until(was, approved), until(is, approved)
		var all []*atoms
		for _, s := range slices.Concat(old, now) {
			all = append(all, &s.atoms)
		}
		values := valuesOf(all...)
		for i, s := range old {
			for _, covers := range s.parts(values) {
				found, certain := uncovered(s, now, covers)
				if key := (once{i, written(found)}); !known[key] {
					known[key] = true
					list = append(list, gap{s, found, certain})
				}
			}
		}
		if len(until(was, true)) == len(was) && len(until(is, true)) == len(is) {
			break
		}
	}
	return list
}

// until returns the bounds that hold before an approval, or those after it.
func until(list []source, approved bool) []source {
	return slices.DeleteFunc(slices.Clone(list), func(s source) bool { return approved && s.unlessApproved })
}

// parts returns for each thing that a bound rejects what rejects it too.
func (a *atoms) parts(values []value) (parts []func(source) bool) {
	for _, v := range values {
		if a.rejects(v) {
			parts = append(parts, func(t source) bool { return t.rejects(v) })
		}
	}
	if a.pattern != nil {
		parts = append(parts, func(t source) bool { return t.pattern != nil && *t.pattern == *a.pattern })
	}
	for _, other := range a.others {
		parts = append(parts, func(t source) bool { return slices.Contains(t.others, other) })
	}
	return parts
}

// uncovered returns when the bounds hold that cover another one. Certain is false
// where one always does when that does.
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

// mode compares the effective mode of a tool where both versions surface it: that
// of its adapter or, where it is lower, the highest that fired outcomes of the
// decisions state which authorise it (compiler, C4). Of a request that stops it is the
// lowest that some completion has.
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

// atMost says of a request in which the tool is surfaced that its effective mode
// has a rank up to the given one. May is false where that is never so.
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

// mayBeAtMost says that the effective mode of a tool has a rank up to the given one in
// some completion.
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

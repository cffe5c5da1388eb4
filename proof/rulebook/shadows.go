package rulebook

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// mostWeighed bounds of how many rules it is found out which of them suffice.
const mostWeighed = 50

// reasonFor is something that keeps an outcome from making a difference.
type reasonFor struct {
	rule *rule
	as   func(*Shadow) *[]string // the list of a shadow that it belongs to
	when jsonlogic.Formula
}

func denied(s *Shadow) *[]string  { return &s.Denied }
func stopped(s *Shadow) *[]string { return &s.Stopped }
func said(s *Shadow) *[]string    { return &s.Said }

// shadows finds the outcomes that make no difference. An else that denies is a
// guard: it may lie inside others, and nobody would do without it.
func (c *chapter) shadows() {
	for i, e := range c.entries {
		if !e.counts() {
			continue
		}
		if !c.rules.charge(4 * len(c.entries)) {
			e.out.NotProved = append(e.out.NotProved, "whether it makes a difference: "+c.rules.usedUp())
			continue
		}
		for _, b := range e.branches {
			if !b.denies() {
				c.shadow(e, b, NeverDecides, c.standingAgainst(e, b))
			}
			if b.word == "then" {
				c.shadow(e, b, AddsNothing, c.sayingTheSame(c.entries[:i], b))
			}
		}
	}
}

// standingAgainst returns what keeps an outcome from deciding: outcomes of other
// rules that deny its decision, and other rules that are unknown.
func (c *chapter) standingAgainst(e *entry, b *branch) []reasonFor {
	var denials, unknowns []reasonFor
	for _, o := range c.entries {
		if !o.counts() || o.rule == e.rule {
			continue
		}
		for _, d := range o.branches {
			if d.denies() && (!o.DecisionBinding.OK || o.sameDecision(b.rule)) {
				denials = append(denials, reasonFor{o.rule, denied, d.holds})
			}
		}
		unknowns = append(unknowns, reasonFor{o.rule, stopped, jsonlogic.IsUnknown(o.when)})
	}
	return append(denials, unknowns...)
}

// sayingTheSame returns the outcomes of earlier rules that bind as this one does.
// A deny that is bound to no decision denies them all.
func (c *chapter) sayingTheSame(earlier []*entry, b *branch) []reasonFor {
	var all []reasonFor
	for _, e := range earlier {
		if !e.counts() {
			continue
		}
		for _, o := range e.branches {
			wider := o.denies() && !e.DecisionBinding.OK
			if b.sameEffect(o) && (wider || e.sameDecision(b.rule)) {
				all = append(all, reasonFor{e.rule, said, o.holds})
			}
		}
	}
	return all
}

func holdsAny(all []reasonFor) jsonlogic.Formula {
	parts := make([]jsonlogic.Formula, len(all))
	for i, r := range all {
		parts[i] = r.when
	}
	return jsonlogic.Any(parts...)
}

// shadow writes down that an outcome makes no difference, where that is so.
func (c *chapter) shadow(e *entry, b *branch, effect Effect, by []reasonFor) {
	witness := e.witnesses[b]
	if len(by) == 0 || holdsNever(e, b) {
		return
	}
	// A request that shows the opposite is mostly at hand and spares the question.
	if against := holdsAny(by); witness != nil {
		for _, request := range []map[string]any{witness, jsonlogic.Overlay(c.usual, witness)} {
			if b.holds.Holds(request) && !against.Holds(request) {
				return
			}
		}
	}
	a := c.covered(b, by)
	switch a.Verdict {
	case jsonlogic.Undecided:
		e.out.NotProved = append(e.out.NotProved, "whether its "+b.word+" makes a difference: "+reason(a))
		return
	case jsonlogic.Satisfiable:
		return
	}
	s := Shadow{Outcome: b.word, Effect: effect}
	by, a = c.sufficient(b, by, a)
	c.rules.claim(a)
	for _, r := range by {
		if list := r.as(&s); !slices.Contains(*list, r.rule.name) {
			*list = append(*list, r.rule.name)
		}
	}
	e.out.Shadows = append(e.out.Shadows, s)
}

// holdsNever reports whether an outcome was proved never to hold, which says more.
func holdsNever(e *entry, b *branch) bool {
	if b.word == "else" {
		return e.out.Rests.State == None
	}
	return e.out.Fires.State == None
}

func (c *chapter) covered(b *branch, by []reasonFor) jsonlogic.Answer {
	return c.rules.ask(c.is(), b.holds, jsonlogic.Not(holdsAny(by)))
}

// sufficient finds few of the reasons that are enough: one alone if there is one,
// else what is left when each that can be spared has been taken out. The answer
// is that of the proof that they are.
func (c *chapter) sufficient(b *branch, all []reasonFor, whole jsonlogic.Answer) ([]reasonFor, jsonlogic.Answer) {
	if len(all) > mostWeighed {
		return all, whole
	}
	for i := range all {
		if a := c.covered(b, all[i:i+1]); a.Verdict == jsonlogic.Unsatisfiable {
			return all[i : i+1], a
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(all), i, i+1)
		if a := c.covered(b, without); a.Verdict == jsonlogic.Unsatisfiable {
			all, whole = without, a
		}
	}
	return all, whole
}

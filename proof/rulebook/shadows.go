package rulebook

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
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
		if !c.rules.Charge(4 * len(c.entries)) {
			e.out.NotProved = append(e.out.NotProved, "whether it makes a difference: "+c.rules.Spent())
			continue
		}
		for _, b := range e.branches() {
			if !b.Denies() {
				c.shadow(e, b, NeverDecides, c.opposing(e, b))
			}
			if !b.IsElse {
				c.shadow(e, b, AddsNothing, c.agreeing(c.entries[:i], b))
			}
		}
	}
}

// opposing returns what keeps an outcome from deciding: outcomes of other
// rules that deny its decision, and other rules that are unknown.
func (c *chapter) opposing(e *entry, b *policy.Branch) []reasonFor {
	var denials, unknowns []reasonFor
	for _, o := range c.entries {
		if !o.counts() || o.rule == e.rule {
			continue
		}
		for _, d := range o.branches() {
			if d.Denies() && (!o.DecisionBinding.OK || sameDecision(o.Rule, b.Rule)) {
				denials = append(denials, reasonFor{o.rule, denied, d.Holds()})
			}
		}
		unknowns = append(unknowns, reasonFor{o.rule, stopped, unknown(o.rule)})
	}
	return append(denials, unknowns...)
}

// agreeing returns the outcomes of earlier rules that bind as this one does.
// A deny that is bound to no decision denies them all.
func (c *chapter) agreeing(earlier []*entry, b *policy.Branch) []reasonFor {
	var all []reasonFor
	for _, e := range earlier {
		if !e.counts() {
			continue
		}
		for _, o := range e.branches() {
			wider := o.Denies() && !e.DecisionBinding.OK
			if sameEffect(b, o) && (wider || sameDecision(e.Rule, b.Rule)) {
				all = append(all, reasonFor{e.rule, said, o.Holds()})
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
func (c *chapter) shadow(e *entry, b *policy.Branch, effect Effect, by []reasonFor) {
	witness := e.witnesses[b]
	if len(by) == 0 || holdsNever(e, b) {
		return
	}
	// A request that shows the opposite is mostly at hand and spares the question.
	if against := holdsAny(by); witness != nil {
		for _, request := range []map[string]any{witness, jsonlogic.Overlay(c.usual, witness)} {
			if b.Holds().Holds(request) && !against.Holds(request) {
				return
			}
		}
	}
	a := c.covered(b, by)
	switch a.Verdict {
	case jsonlogic.Undecided:
		e.out.NotProved = append(e.out.NotProved, "whether its "+b.Word()+" makes a difference: "+reason(a))
		return
	case jsonlogic.Satisfiable:
		return
	}
	s := Shadow{Outcome: b.Word(), Effect: effect}
	by, a = c.sufficient(b, by, a)
	c.claim(a)
	for _, r := range by {
		if list := r.as(&s); !slices.Contains(*list, r.rule.name) {
			*list = append(*list, r.rule.name)
		}
	}
	e.out.Shadows = append(e.out.Shadows, s)
}

// holdsNever reports whether an outcome was proved never to hold, which says more.
func holdsNever(e *entry, b *policy.Branch) bool {
	if b.IsElse {
		return e.out.Rests.State == None
	}
	return e.out.Fires.State == None
}

func (c *chapter) covered(b *policy.Branch, by []reasonFor) jsonlogic.Answer {
	return c.rules.Ask(c.intent, b.Holds(), jsonlogic.Not(holdsAny(by)))
}

// sufficient finds few of the reasons that are enough: one alone if there is one,
// else what is left when each that can be spared has been taken out. The answer
// is that of the proof that they are.
func (c *chapter) sufficient(b *policy.Branch, all []reasonFor, whole jsonlogic.Answer) ([]reasonFor, jsonlogic.Answer) {
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

package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// chapter is the part of the book about one intent.
type chapter struct {
	*author
	intent  string
	entries []*entry
	usual   map[string]any // a request for which no rule is unknown; nil if none is known
}

// entry is a rule of a chapter with what is written about it, and requests in which its outcomes hold.
type entry struct {
	*rule
	out       Rule
	witnesses map[*policy.Branch]map[string]any
}

// gaps looks for requests that the rules of an intent do not deal with.
func (c *chapter) gaps() []Gap {
	all := []Gap{}
	var decisions, gates []string
	for _, e := range c.entries {
		if key := e.DecisionBinding; e.Enforced && key.OK && !slices.Contains(decisions, key.Value) {
			decisions = append(decisions, key.Value)
		}
		for _, b := range e.branches() {
			if id := b.RequiresApprovalGate; e.Enforced && id.OK && !slices.Contains(gates, id.Value) {
				gates = append(gates, id.Value)
			}
		}
	}
	for _, key := range decisions {
		// One that does not exist is taken to have effects.
		if d := c.Decision(key); d == nil || !d.ReadOnly {
			all = append(all, Gap{Silence, key, c.silence(key)})
		}
	}
	for _, id := range gates {
		all = append(all, Gap{IdleGate, id, c.idle(id)})
	}
	return all
}

// silence asks for a request for which no rule of a decision fires, nothing
// denies all decisions, and the compile does not stop.
func (c *chapter) silence(key string) Example {
	parts := []jsonlogic.Formula{c.known()}
	for _, e := range c.entries {
		bound := e.DecisionBinding.OK && e.DecisionBinding.Value == key
		if !e.Enforced || e.DecisionBinding.OK && !bound {
			continue
		}
		if !e.readable() {
			return Example{State: NotProved, Reason: e.name + " cannot be read"}
		}
		for _, b := range e.branches() {
			if bound || b.Denies() {
				parts = append(parts, jsonlogic.Not(b.Holds()))
			}
		}
	}
	return c.gap(parts)
}

// idle asks for a request that compiles and requires a gate whose own condition is false.
func (c *chapter) idle(id string) Example {
	g := c.Gate(id)
	switch {
	case g == nil:
		return Example{State: NotProved, Reason: "the pack has no such gate"}
	case g.When == nil:
		at := placeOf(pack.Place(g.ApprovalGate.When, g.Node))
		return Example{State: NotProved, Reason: fmt.Sprintf("the gate's condition at %s:%d cannot be read: %s", at.File, at.Line, g.Problems[0].Message)}
	}
	var requiring []jsonlogic.Formula
	for _, e := range c.entries {
		for _, b := range e.branches() {
			if e.Enforced && b.Gate == g {
				requiring = append(requiring, b.Holds())
			}
		}
	}
	return c.gap([]jsonlogic.Formula{jsonlogic.Any(requiring...), jsonlogic.IsFalse(g.When.Expr), c.known()})
}

func (c *chapter) gap(parts []jsonlogic.Formula) Example {
	if !c.rules.Charge(2 * len(c.entries)) {
		return Example{State: NotProved, Reason: c.rules.Spent()}
	}
	return example(c.claim(c.rules.Ask(c.intent, parts...)))
}

// mostWeighed bounds the reasons among which the sufficient ones are looked for.
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

// shadows finds the outcomes that make no difference. An else that denies is a guard: it may lie inside
// others, and is wanted nevertheless.
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

// opposing returns what keeps an outcome from deciding: denies of its decision, and unknown rules.
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

// shadow notes that an outcome makes no difference, if that is proved.
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

// holdsNever reports whether an outcome was proved never to hold, which is the stronger statement.
func holdsNever(e *entry, b *policy.Branch) bool {
	if b.IsElse {
		return e.out.Rests.State == None
	}
	return e.out.Fires.State == None
}

func (c *chapter) covered(b *policy.Branch, by []reasonFor) jsonlogic.Answer {
	return c.rules.Ask(c.intent, b.Holds(), jsonlogic.Not(holdsAny(by)))
}

// sufficient finds a few of the reasons that are enough: one alone, or else what is left when all that
// can be spared are removed. The answer is the proof that they are enough.
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

// meet compares the rules of each decision in pairs, because only those can overlap.
func (c *chapter) meet() {
	groups := map[string][]*entry{}
	for _, e := range c.entries {
		if !e.counts() || !e.DecisionBinding.OK {
			continue
		}
		key := e.DecisionBinding.Value
		for _, o := range groups[key] {
			if c.only == "" || c.only == e.name || c.only == o.name {
				c.compare(o, e)
			}
		}
		groups[key] = append(groups[key], e)
	}
}

// compare notes, in both of two rules, where their outcomes overlap and differ.
func (c *chapter) compare(a, b *entry) {
	for _, x := range a.branches() {
		for _, y := range b.branches() {
			onX, onY := differences(x, y), differences(y, x)
			if len(onX) == 0 || holdsNever(a, x) || holdsNever(b, y) {
				continue
			}
			found := c.together(a, x, b, y)
			switch {
			case found.Verdict == jsonlogic.Satisfiable:
				words := words(found.Witness)
				a.out.Overlaps = append(a.out.Overlaps, Overlap{x.Word(), b.name, y.Word(), onX, found.Witness, words})
				b.out.Overlaps = append(b.out.Overlaps, Overlap{y.Word(), a.name, x.Word(), onY, found.Witness, words})
			case found.Verdict == jsonlogic.Unsatisfiable:
			case c.overlaps.Spent() != "":
				c.skipped++
			default:
				said := "whether its %s holds together with the %s of %s: %s"
				a.out.NotProved = append(a.out.NotProved, fmt.Sprintf(said, x.Word(), y.Word(), b.name, reason(found)))
				b.out.NotProved = append(b.out.NotProved, fmt.Sprintf(said, y.Word(), x.Word(), a.name, reason(found)))
			}
		}
	}
}

// together asks for a request in which two outcomes hold. The requests that were found for each of them
// can usually be combined, which saves the question.
func (c *chapter) together(a *entry, x *policy.Branch, b *entry, y *policy.Branch) jsonlogic.Answer {
	if one, other := a.witnesses[x], b.witnesses[y]; one != nil && other != nil {
		if request := jsonlogic.Overlay(one, other); c.overlaps.Shows(c.intent, request, x.Holds(), y.Holds()) {
			return jsonlogic.Answer{Verdict: jsonlogic.Satisfiable, Witness: request}
		}
	}
	return c.claim(c.overlaps.Ask(c.intent, x.Holds(), y.Holds()))
}

// differences returns how the second outcome differs from the first, as words that follow its name. Two
// denials do not differ; beside a denial nothing else counts.
func differences(a, b *policy.Branch) []string {
	if a.Allow.OK && b.Allow.OK && a.Allow.Value != b.Allow.Value {
		return []string{map[bool]string{true: "allows", false: "denies"}[b.Allow.Value]}
	}
	if a.Denies() || b.Denies() {
		return nil
	}
	var all []string
	for _, f := range []struct{ mine, theirs, says, not string }{
		{a.RequiresApprovalGate.Value, b.RequiresApprovalGate.Value, "requires gate ", "names no gate"},
		{a.ApprovalMode.Value, b.ApprovalMode.Value, "states mode ", "states no mode"},
	} {
		switch {
		case f.mine == f.theirs:
		case f.theirs == "":
			all = append(all, f.not)
		default:
			all = append(all, f.says+f.theirs)
		}
	}
	return all
}

// relate notes what a rule does to others, and which others there are for its decision.
func (c *chapter) relate(e *entry) {
	var mentioned []string
	for _, o := range e.out.Overlaps {
		mentioned = append(mentioned, o.With)
	}
	for _, s := range e.out.Shadows {
		mentioned = slices.Concat(mentioned, s.Denied, s.Stopped, s.Said)
	}
	for _, o := range c.entries {
		if o.rule == e.rule {
			continue
		}
		if slices.ContainsFunc(o.out.Shadows, func(s Shadow) bool {
			return slices.Contains(slices.Concat(s.Denied, s.Stopped, s.Said), e.name)
		}) {
			e.out.ShadowsOthers = append(e.out.ShadowsOthers, o.name)
			mentioned = append(mentioned, o.name)
		}
		if e.DecisionBinding.OK && sameDecision(o.Rule, e.Rule) && !slices.Contains(mentioned, o.name) {
			e.out.SameDecision = append(e.out.SameDecision, o.name)
		}
	}
}

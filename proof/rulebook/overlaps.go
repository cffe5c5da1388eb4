package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// meet compares the rules of each decision in pairs, for only those can meet.
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

// compare writes down, in both of two rules, where their outcomes hold together
// and say different things.
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

// together asks for a request in which two outcomes hold. What was found for each of
// them goes together more often than not, and spares the question.
func (c *chapter) together(a *entry, x *policy.Branch, b *entry, y *policy.Branch) jsonlogic.Answer {
	if one, other := a.witnesses[x], b.witnesses[y]; one != nil && other != nil {
		if request := jsonlogic.Overlay(one, other); c.overlaps.Shows(c.intent, request, x.Holds(), y.Holds()) {
			return jsonlogic.Answer{Verdict: jsonlogic.Satisfiable, Witness: request}
		}
	}
	return c.claim(c.overlaps.Ask(c.intent, x.Holds(), y.Holds()))
}

func skippedWords(pairs int) string {
	noun := "pairs of outcomes hold"
	if pairs == 1 {
		noun = "pair of outcomes holds"
	}
	return fmt.Sprintf("whether %d %s together: the proofs have used up their %d steps", pairs, noun, overlapSteps)
}

// differences returns what the second outcome says that the first does not, in
// words that follow its name. Two denials do not differ, and next to a denial
// nothing else counts.
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

// relate writes down what else a reader of one rule asks: what the rule does to
// others, and which others there are for its decision.
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

package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
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
	for _, x := range a.branches {
		for _, y := range b.branches {
			onX, onY := differences(x, y), differences(y, x)
			if len(onX) == 0 || holdsNever(a, x) || holdsNever(b, y) || x.word == "then" && y.word == "then" && apart(a.rule, b.rule) {
				continue
			}
			found := c.overlaps.ask(c.is(), x.holds, y.holds)
			switch {
			case found.Verdict == jsonlogic.Satisfiable:
				words := c.words(found.Witness)
				a.out.Overlaps = append(a.out.Overlaps, Overlap{x.word, b.name, y.word, onX, found.Witness, words})
				b.out.Overlaps = append(b.out.Overlaps, Overlap{y.word, a.name, x.word, onY, found.Witness, words})
			case found.Verdict == jsonlogic.Unsatisfiable:
				c.overlaps.claim(found)
			case c.overlaps.budget.Err() != nil:
				c.skipped++
			default:
				said := "whether its %s holds together with the %s of %s: %s"
				a.out.NotProved = append(a.out.NotProved, fmt.Sprintf(said, x.word, y.word, b.name, reason(found)))
				b.out.NotProved = append(b.out.NotProved, fmt.Sprintf(said, y.word, x.word, a.name, reason(found)))
			}
		}
	}
}

// apart reports whether two conditions are never true together because one
// variable would have to be two texts. That is so for most pairs of a large pack,
// and is seen without the solver.
func apart(a, b *rule) bool {
	for path, text := range a.wanted {
		if other, both := b.wanted[path]; both && other != text {
			return true
		}
	}
	return false
}

// wanted collects the texts that variables must be equal to for a condition to
// be true: it is such a comparison, or a conjunction that holds some.
func wanted(into map[string]string, n *pack.Node) {
	if n.Kind != pack.Object || len(n.Members) != 1 {
		return
	}
	operands := operandsOf(n.Members[0].Value)
	switch n.Members[0].Name {
	case "and":
		for _, operand := range operands {
			wanted(into, operand)
		}
	case "==", "===":
		path, text := operands[0], operands[1]
		if path.Kind == pack.String {
			path, text = text, path
		}
		if text.Kind != pack.String || path.Kind != pack.Object || path.Members[0].Name != "var" {
			return
		}
		if of := operandsOf(path.Members[0].Value); len(of) == 1 && of[0].Kind == pack.String {
			into[of[0].Text] = text.Text
		}
	}
}

func skippedWords(pairs int) string {
	noun := "pairs of outcomes hold"
	if pairs == 1 {
		noun = "pair of outcomes holds"
	}
	return fmt.Sprintf("whether %d %s together: the book has used up its %d steps", pairs, noun, overlapSteps)
}

// differences returns what the second outcome says that the first does not, in
// words that follow its name. Two denials do not differ, and next to a denial
// nothing else counts.
func differences(a, b *branch) []string {
	if a.Allow.OK && b.Allow.OK && a.Allow.Value != b.Allow.Value {
		return []string{map[bool]string{true: "allows", false: "denies"}[b.Allow.Value]}
	}
	if a.denies() || b.denies() {
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
		if e.DecisionBinding.OK && o.bound(e.DecisionBinding.Value) && !slices.Contains(mentioned, o.name) {
			e.out.SameDecision = append(e.out.SameDecision, o.name)
		}
	}
}

package diffing

import (
	"fmt"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// Bounds of what a comparison asks the solver beside what is permitted.
const (
	mostQuestions = 200
	questionSteps = 100_000
)

// asker asks the solver about single conditions, each of which is compiled once, and
// keeps account.
type asker struct {
	left int // questions
	*policy.Conditions
}

// expr returns a condition, nil for one that is not valid.
func (a *asker) expr(n *pack.Node) *jsonlogic.Expr {
	x, _, _ := a.Compile(n)
	return x
}

// ask answers whether there is a request for which all of the seed holds, and all
// of the context. The context is taken in only as far as a request that is found
// offends against it.
func (a *asker) ask(seed, context []jsonlogic.Formula) jsonlogic.Answer {
	if a.left--; a.left < 0 {
		return jsonlogic.Answer{Reason: fmt.Sprintf("more than %d questions about conditions", mostQuestions)}
	}
	taken := append([]jsonlogic.Formula(nil), seed...)
	rest := append([]jsonlogic.Formula(nil), context...)
	for {
		answer := jsonlogic.Solver{Steps: questionSteps}.Solve(jsonlogic.All(taken...))
		if answer.Verdict == jsonlogic.Undecided && len(rest) > 0 {
			taken, rest = append(taken, rest...), nil
			continue
		}
		if answer.Verdict != jsonlogic.Satisfiable {
			return answer
		}
		offended := false
		kept := rest[:0]
		for _, f := range rest {
			if f.Holds(answer.Witness) {
				kept = append(kept, f)
				continue
			}
			taken, offended = append(taken, f), true
		}
		if rest = kept; !offended {
			return answer
		}
	}
}

// eligibilityIs returns a condition on what is proved of conditions of eligibility
// that changed: who is eligible now and was not, and the other way round. The
// compiler does not read them, so they are held against each other alone.
func eligibilityIs(v proof.Verdict) func(*unit) bool {
	return func(u *unit) bool {
		if u.kind != Changed {
			return false
		}
		if u.proof == nil {
			u.proof = u.base.eligibility.compare(u)
		}
		return u.proof.Verdict == v
	}
}

// compare proves of two conditions how the one is to the other.
func (a *asker) compare(u *unit) *Proof {
	was, is := a.expr(u.old), a.expr(u.new)
	switch {
	case was == nil:
		return &Proof{Reason: "the condition of the base is not valid"}
	case is == nil:
		return &Proof{Reason: "the condition of the head is not valid"}
	}
	differ := a.ask([]jsonlogic.Formula{jsonlogic.Any(
		apart(jsonlogic.IsTrue(was), jsonlogic.IsTrue(is)), apart(jsonlogic.IsFalse(was), jsonlogic.IsFalse(is)),
	)}, nil)
	if differ.Verdict == jsonlogic.Unsatisfiable {
		return &Proof{Verdict: proof.Equal, Assumed: differ.Assumed}
	}
	gained := a.ask([]jsonlogic.Formula{jsonlogic.IsTrue(is), jsonlogic.Not(jsonlogic.IsTrue(was))}, nil)
	lost := a.ask([]jsonlogic.Formula{jsonlogic.IsTrue(was), jsonlogic.Not(jsonlogic.IsTrue(is))}, nil)
	p := &Proof{Gained: gained.Witness, Lost: lost.Witness}
	if gained.Witness != nil {
		p.GainedWhat = "the request is eligible"
	}
	if lost.Witness != nil {
		p.LostWhat = "the request is not eligible any more"
	}
	switch {
	case gained.Verdict == jsonlogic.Undecided:
		p.Reason = gained.Reason
	case gained.Verdict == jsonlogic.Unsatisfiable:
		p.Verdict, p.Assumed = proof.Shrank, gained.Assumed
	case lost.Verdict == jsonlogic.Satisfiable:
		p.Verdict = proof.Incomparable
	default:
		p.Verdict = proof.Grew
	}
	return p
}

// apart says that one of two formulas holds and the other does not.
func apart(a, b jsonlogic.Formula) jsonlogic.Formula {
	return jsonlogic.Any(jsonlogic.All(a, jsonlogic.Not(b)), jsonlogic.All(b, jsonlogic.Not(a)))
}

// stopped is a rule in both versions, seen from an intent.
type stopped struct {
	pair
	intent string
}

// unknownDiffers reports whether a rule can stop requests of an intent that it
// did not stop before, or the reverse: whether it is unknown in others. What
// cannot be decided counts.
func (p *proving) unknownDiffers(rule pair, intent string) bool {
	at := stopped{rule, intent}
	if known, ok := p.stopping[at]; ok {
		return known
	}
	var sides []jsonlogic.Formula
	valid := true
	for _, r := range []*pack.Rule{rule.old, rule.new} {
		unknown := jsonlogic.Any()
		if r != nil && enforced(r, intent) {
			x := p.expr(r.If)
			if valid = valid && x != nil; x != nil {
				unknown = jsonlogic.IsUnknown(x)
			}
		}
		sides = append(sides, unknown)
	}
	differs := !valid
	if valid && !(applies(rule, intent) && jsonlogic.KeyOf(rule.old.If) == jsonlogic.KeyOf(rule.new.If)) {
		differs = p.stops.ask([]jsonlogic.Formula{apart(sides[0], sides[1])}, nil).Verdict != jsonlogic.Unsatisfiable
	}
	p.stopping[at] = differs
	return differs
}

// applies reports whether both versions have the rule and apply it to an intent.
func applies(rule pair, intent string) bool {
	return rule.old != nil && rule.new != nil && enforced(rule.old, intent) && enforced(rule.new, intent)
}

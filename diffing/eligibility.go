package diffing

import (
	"github.com/contextosai/packgate/internal/effect"
	"github.com/contextosai/packgate/policy"
)

// eligibilityIs returns a condition on what is proved of conditions of eligibility
// that changed: who is eligible now and was not, and the other way round. The
// compiler does not read them, so they are held against each other alone.
func eligibilityIs(v effect.Verdict) func(*unit) bool {
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
	differ := a.ask([]policy.Formula{policy.Any(
		apart(policy.IsTrue(was), policy.IsTrue(is)), apart(policy.IsFalse(was), policy.IsFalse(is)),
	)}, nil)
	if differ.Verdict == policy.Unsatisfiable {
		return &Proof{Verdict: effect.Equal, Assumed: differ.Assumed}
	}
	gained := a.ask([]policy.Formula{policy.IsTrue(is), policy.Not(policy.IsTrue(was))}, nil)
	lost := a.ask([]policy.Formula{policy.IsTrue(was), policy.Not(policy.IsTrue(is))}, nil)
	p := &Proof{Gained: gained.Witness, Lost: lost.Witness}
	if gained.Witness != nil {
		p.GainedWhat = "the request is eligible"
	}
	if lost.Witness != nil {
		p.LostWhat = "the request is not eligible any more"
	}
	switch {
	case gained.Verdict == policy.Undecided:
		p.Reason = gained.Reason
	case gained.Verdict == policy.Unsatisfiable:
		p.Verdict, p.Assumed = effect.Shrank, gained.Assumed
	case lost.Verdict == policy.Satisfiable:
		p.Verdict = effect.Incomparable
	default:
		p.Verdict = effect.Grew
	}
	return p
}

// apart says that one of two formulas holds and the other does not.
func apart(a, b policy.Formula) policy.Formula {
	return policy.Any(policy.All(a, policy.Not(b)), policy.All(b, policy.Not(a)))
}

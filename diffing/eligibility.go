package diffing

import (
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
)

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

package starter

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/policy"
)

// The budget of a set, in the solver's steps, of which a machine does some
// million in a second.
const (
	firstTry = 1_000
	lastTry  = 1_000_000
	allSteps = 5_000_000
	// beyond is how the solver's reason begins where its steps were too few.
	beyond = "not proved within"
)

// prover asks the solver and keeps account.
type prover struct {
	left  int
	lists []string // variables that hold lists
}

func newProver(lists []string) *prover { return &prover{left: allSteps, lists: lists} }

// ask decides whether there is a request for which all the parts hold, and finds
// a small one. It tries with few steps first, so that what is easy costs little
// of the account.
func (q *prover) ask(parts ...policy.Formula) policy.Answer {
	f := policy.All(parts...)
	for steps := firstTry; ; steps *= 10 {
		if q.left < steps {
			q.left = 0
			return policy.Answer{Reason: usedUp()}
		}
		q.left -= steps
		a := policy.Solver{Steps: steps, Lists: q.lists}.Solve(f)
		if a.Verdict == policy.Satisfiable {
			a.Witness = shrink(a.Witness, f)
		}
		if steps == lastTry || a.Verdict != policy.Undecided || !strings.HasPrefix(a.Reason, beyond) {
			return a
		}
	}
}

func usedUp() string { return fmt.Sprintf("the set has used up its %d steps", allSteps) }

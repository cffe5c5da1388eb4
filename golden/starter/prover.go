package starter

import (
	"context"
	"fmt"

	"github.com/contextosai/packgate/jsonlogic"
)

// The budget of a set, in the solver's steps, of which a machine does some
// million in a second.
const (
	lastTry  = 1_000_000
	allSteps = 5_000_000
)

// prover asks the solver and keeps account.
type prover struct {
	budget *jsonlogic.Budget
	lists  []string // variables that hold lists
}

func newProver(lists []string) *prover {
	return &prover{jsonlogic.NewBudget(context.Background(), allSteps), lists}
}

// ask decides whether there is a request for which all the parts hold, and finds
// a small one.
func (q *prover) ask(parts ...jsonlogic.Formula) jsonlogic.Answer {
	f := jsonlogic.All(parts...)
	answer := jsonlogic.Solver{Steps: lastTry, Lists: q.lists, Budget: q.budget}.Solve(f)
	if answer.Err == jsonlogic.ErrBudget {
		answer.Reason = usedUp()
	}
	if answer.Verdict == jsonlogic.Satisfiable {
		answer.Witness = shrink(answer.Witness, f)
	}
	return answer
}

func usedUp() string { return fmt.Sprintf("the set has used up its %d steps", allSteps) }

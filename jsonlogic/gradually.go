package jsonlogic

import (
	"fmt"
	"strings"
)

const (
	// firstTry is how many steps Gradually begins with. Most questions about a pack
	// need less.
	firstTry = 1_000
	// outOfSteps is how the reason of an answer begins that would need more steps.
	outOfSteps = "not proved within"
)

// OutOfSteps reports whether the answer is Undecided for want of steps alone:
// with more of them there might be one.
func (a Answer) OutOfSteps() bool {
	return a.Verdict == Undecided && strings.HasPrefix(a.Reason, outOfSteps)
}

// Gradually decides like Solve, with few steps first, and with ten times as many
// each time that these did not suffice, up to those of the solver. So it is known
// about how many were needed, and a caller can keep account of them: spend is told
// the steps of every try before it is made. If it returns a reason, that is the
// reason of an Undecided answer.
//
// A try goes on where the one before it came to its end, and comes to the same
// answer as one that begins anew: up to there both do the same, and neither has a
// verdict. What a try still has when it finds one is all that goes into making the
// answer short.
func (s Solver) Gradually(f Formula, spend func(steps int) (refused string)) Answer {
	most := s.Steps
	if most <= 0 {
		most = DefaultSteps
	}
	steps := min(firstTry, most)
	if reason := spend(steps); reason != "" {
		return Answer{Reason: reason}
	}
	p := newProver(f, steps)
	p.lists = s.Lists
	refused := ""
	p.budget.more = func() int {
		next := min(10*steps, most)
		if next > steps {
			refused = spend(next)
		}
		if refused != "" {
			return 0
		}
		more := next - steps
		steps = next
		return more
	}
	answer, done := p.answer()
	switch {
	case refused != "":
		return Answer{Reason: refused}
	case !done:
		return exhausted(steps)
	}
	return answer
}

// exhausted is the answer for want of steps.
func exhausted(steps int) Answer {
	return Answer{Reason: fmt.Sprintf("%s %d steps", outOfSteps, steps)}
}

package policy

import "strings"

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
func (s Solver) Gradually(f Formula, spend func(steps int) (refused string)) Answer {
	most := s.Steps
	if most <= 0 {
		most = DefaultSteps
	}
	for steps := min(firstTry, most); ; steps = min(10*steps, most) {
		if reason := spend(steps); reason != "" {
			return Answer{Reason: reason}
		}
		answer := Solver{Steps: steps, Lists: s.Lists}.Solve(f)
		if steps == most || !answer.OutOfSteps() {
			return answer
		}
	}
}

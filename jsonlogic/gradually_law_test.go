package jsonlogic

import (
	"reflect"
	"slices"
	"testing"
)

// anew decides gradually as it is described: each try begins anew.
func anew(s Solver, f Formula, spend func(int) string) Answer {
	for steps := min(firstTry, s.Steps); ; steps = min(10*steps, s.Steps) {
		if reason := spend(steps); reason != "" {
			return Answer{Reason: reason}
		}
		a := Solver{Steps: steps, Lists: s.Lists}.Solve(f)
		if steps == s.Steps || !a.OutOfSteps() {
			return a
		}
	}
}

// TestGraduallyLaw: a try that goes on comes to the same answer as one that begins
// anew, and tells of the same tries, whatever the budget is and the caller has.
func TestGraduallyLaw(t *testing.T) {
	t.Parallel()
	const empty = "the account is empty"
	m := newMaker(5, true)
	tries, short, refusals := 0, 0, 0
	for range 1500 {
		var parts []Formula
		var written []string
		for range 1 + m.IntN(12) {
			written = append(written, source(t, m.condition(m.IntN(5))))
			parts = append(parts, Not(IsUnknown(compile(t, written[len(written)-1]))))
		}
		parts[0] = IsTrue(compile(t, written[0]))
		s := Solver{Steps: []int{300, 1_000, 1_500, 4_000, 10_000, 100_000}[m.IntN(6)], Lists: [][]string{nil, {"a"}}[m.IntN(2)]}
		account := []int{100, 1_200, 20_000, 1_000_000}[m.IntN(4)]
		var told [2][]int
		var answers [2]Answer
		for i, decide := range []func(Solver, Formula, func(int) string) Answer{Solver.Gradually, anew} {
			left := account
			answers[i] = decide(s, All(parts...), func(steps int) string {
				told[i] = append(told[i], steps)
				if left -= steps; left < 0 {
					return empty
				}
				return ""
			})
		}
		if !reflect.DeepEqual(answers[0], answers[1]) || !slices.Equal(told[0], told[1]) {
			t.Fatalf("%s with %+v: got %+v after %v, want %+v after %v", written, s, answers[0], told[0], answers[1], told[1])
		}
		tries += len(told[0]) - 1
		if answers[0].OutOfSteps() {
			short++
		} else if answers[0].Reason == empty {
			refusals++
		}
	}
	if tries < 100 || short < 100 || refusals < 100 {
		t.Errorf("%d further tries, %d for want of steps, %d refusals: the test has lost its power", tries, short, refusals)
	}
}

package jsonlogic

import (
	"slices"
	"testing"
)

func TestGradually(t *testing.T) {
	const reason = "the account is empty"
	hard := IsTrue(compile(t, `{"and": [{">": [{"var": "a"}, 1]}, {"<": [{"var": "a"}, 9]}]}`))
	var told []int
	free := func(steps int) string {
		told = append(told, steps)
		return ""
	}
	if a := (Solver{}).Gradually(hard, free); a.Verdict != Satisfiable || !slices.Equal(told, []int{firstTry}) {
		t.Errorf("an easy question is %s after tries of %d steps", a.Verdict, told)
	}
	if a := (Solver{Steps: 1}).Gradually(hard, free); !a.OutOfSteps() || told[1] != 1 || len(told) != 2 {
		t.Errorf("with one step it is %s (%s) after tries of %d steps", a.Verdict, a.Reason, told[1:])
	}
	if a := (Solver{}).Gradually(hard, func(int) string { return reason }); a.Verdict != Undecided || a.Reason != reason || a.OutOfSteps() {
		t.Errorf("with an empty account it is %s: %s", a.Verdict, a.Reason)
	}
}

package jsonlogic

import (
	"reflect"
	"testing"
)

// TestAnswersAreTheSameWithAMemo: what is kept from earlier formulas changes no answer and
// no count of steps, however few steps there are and however often the memo begins again.
func TestAnswersAreTheSameWithAMemo(t *testing.T) {
	t.Parallel()
	for _, wild := range []bool{false, true} {
		m, kept, met := newMaker(5, wild), &memo{}, 0
		for range 4000 {
			a, b := source(t, m.condition(m.IntN(4))), source(t, m.condition(m.IntN(3)))
			f, question := m.statementOf(compile(t, a), compile(t, b))
			lists := oneOf(m, nil, []string{"a"}, []string{"d"})
			steps := oneOf(m, DefaultSteps, DefaultSteps, 1+m.IntN(2000))
			solve := func(with *memo) (Answer, bool, int) {
				p := newProver(f, newBudget(nil, steps))
				p.memo, p.lists = with, lists
				answer, done := p.answer()
				return answer, done, p.budget.spent()
			}
			want, wantDone, wantSteps := solve(nil)
			got, done, spent := solve(kept)
			if !reflect.DeepEqual(got, want) || done != wantDone || done && spent != wantSteps {
				t.Fatalf("%s of %s and %s in %d steps: %+v (%v) after %d steps with a memo, %+v (%v) after %d without",
					question, a, b, steps, got, done, spent, want, wantDone, wantSteps)
			}
			if kept.room > mostKept {
				t.Fatalf("the memo keeps %d, more than %d", kept.room, mostKept)
			}
			met = max(met, len(kept.shapes))
		}
		if met < 100 {
			t.Errorf("only %d shapes were kept", met)
		}
	}
}

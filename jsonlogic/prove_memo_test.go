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

// TestATrialIsTheRequest: after any changes of its settings a trial says what evaluating the
// whole request says, in as many steps.
func TestATrialIsTheRequest(t *testing.T) {
	t.Parallel()
	shared, whole := 0, 0
	for _, wild := range []bool{false, true} {
		m := newMaker(6, wild)
		for range 2000 {
			f, question := m.statementOf(compile(t, source(t, m.condition(m.IntN(4)))), compile(t, source(t, m.condition(m.IntN(3)))))
			p := newProver(f, newBudget(nil, DefaultSteps))
			if p.search.add(p.statement(f)); p.search.conflict {
				continue
			}
			p.domains()
			if model, _, _ := p.search.solve(nil); !model {
				continue
			}
			settings, _ := p.candidate()
			tried := p.trial(settings)
			if tried.data == nil {
				whole++
			}
			for range 4 * len(settings) {
				i := m.IntN(len(settings))
				s := &settings[i]
				r := &s.term.regions[m.IntN(len(s.term.regions))]
				if r.undefinable {
					continue
				}
				s.value, s.present = r.value, !r.absent
				tried.changed(i)
				before := p.budget.spent()
				got := tried.holds(f)
				steps := p.budget.spent() - before
				if want := p.holds(f, settings); got != want || p.budget.spent()-before != 2*steps {
					t.Fatalf("%s: %v in %d steps, wanted %v in %d", question, got, steps, want, p.budget.spent()-before-steps)
				}
				shared++
			}
		}
	}
	if shared < 1000 || whole == 0 {
		t.Errorf("%d changes were tried, and %d requests as a whole", shared, whole)
	}
}

package jsonlogic

import (
	"reflect"
	"testing"
)

// TestAnswersAreTheSameWhenKept: a question that was asked before has the answer that it would
// have if it had not been, and leaves as many steps, however many there are, and whether it is
// asked of the same expressions or of others that are written the same.
func TestAnswersAreTheSameWhenKept(t *testing.T) {
	t.Parallel()
	again := 0
	for _, wild := range []bool{false, true} {
		m, kept := newMaker(7, wild), &answers{}
		type question struct {
			a, b, within string
			seed         int
		}
		var earlier []question
		for range 600 {
			q := question{source(t, m.condition(m.IntN(4))), source(t, m.condition(m.IntN(3))), source(t, m.condition(1)), m.IntN(3)}
			if len(earlier) > 0 && m.IntN(2) > 0 {
				q = earlier[m.IntN(len(earlier))]
			}
			earlier = append(earlier[max(0, len(earlier)-9):], q)
			a, b := compile(t, q.a), compile(t, q.b)
			if q.a == q.b && m.IntN(2) > 0 {
				b = a
			}
			f := []Formula{All(IsTrue(a), IsFalse(b)), Any(IsUnknown(a), Not(IsTrue(b))), All(Is("a", 2.0), IsTrue(a), IsTrue(b))}[q.seed]
			s := Solver{Steps: oneOf(m, 0, 0, 1+m.IntN(500)), Lists: oneOf(m, nil, nil, []string{"a"})}
			if m.IntN(3) == 0 {
				s.Within = IsTrue(compile(t, q.within))
			}
			left := oneOf(m, -1, 1_000_000, 1+m.IntN(20_000))
			ask := func(with *answers) (Answer, int) {
				of := s
				if left >= 0 {
					of.Budget = NewBudget(t.Context(), left)
				}
				answer := with.solve(of, f)
				if left < 0 {
					return answer, 0
				}
				return answer, of.Budget.Left()
			}
			if key, named := s.question(f); named {
				if _, there := kept.find(key); there {
					again++
				}
			}
			want, wantLeft := ask(&answers{})
			got, gotLeft := ask(kept)
			if mine, _ := ask(kept); mine.Witness != nil {
				mine.Witness["a"] = "whoever asks may change what it got"
			}
			if !reflect.DeepEqual(got, want) || gotLeft != wantLeft {
				t.Fatalf("question %d of %s and %s within %s, %d steps of %d: %+v with %d left, wanted %+v with %d left", q.seed, q.a, q.b, q.within, s.Steps, left, got, gotLeft, want, wantLeft)
			}
		}
		if kept.room > mostAnswers {
			t.Errorf("the answers kept are about %d variables, more than %d", kept.room, mostAnswers)
		}
	}
	if again < 150 {
		t.Errorf("only %d questions were asked again", again)
	}
}

// TestQuestionsThatDifferHaveDifferentNames: whatever the answer depends on is in the name.
func TestQuestionsThatDifferHaveDifferentNames(t *testing.T) {
	t.Parallel()
	x, same, other := compile(t, `{"==": [{"var": "a"}, 1]}`), compile(t, `{"==": [{"var": "a"}, 1]}`), compile(t, `{"==": [{"var": "a"}, 2]}`)
	names := map[Key]int{}
	for i, q := range []struct {
		s Solver
		f Formula
	}{
		{Solver{}, Formula{}},
		{Solver{}, IsTrue(x)},
		{Solver{}, IsFalse(x)},
		{Solver{}, IsUnknown(x)},
		{Solver{}, IsTrue(other)},
		{Solver{}, Not(IsTrue(x))},
		{Solver{}, All(IsTrue(x))},
		{Solver{}, Any(IsTrue(x))},
		{Solver{}, All(IsTrue(x), IsTrue(x))},
		{Solver{}, All(IsTrue(x), IsTrue(same))}, // the steps differ
		{Solver{}, All(All(IsTrue(x)), IsTrue(x))},
		{Solver{}, All(IsTrue(x), IsTrue(other))},
		{Solver{}, All(IsTrue(other), IsTrue(x))},
		{Solver{Within: IsTrue(x)}, IsTrue(x)},
		{Solver{Within: IsTrue(x)}, Formula{}},
		{Solver{Lists: []string{"a"}}, IsTrue(x)},
		{Solver{Lists: []string{"a", "b"}}, IsTrue(x)},
		{Solver{Lists: []string{"ab"}}, IsTrue(x)},
	} {
		name, ok := q.s.question(q.f)
		if before, taken := names[name]; taken || !ok {
			t.Errorf("question %d has the name of question %d, or none (%v)", i, before, ok)
		}
		names[name] = i
	}
	one, _ := Solver{}.question(IsTrue(x))
	if two, _ := (Solver{Steps: 5}).question(IsTrue(same)); one != two {
		t.Error("what is written the same has two names")
	}
	if _, ok := (Solver{}).question(oneOfMany(t, 10)); !ok {
		t.Error("a small question has no name")
	}
	var many []Formula
	for i := range 4000 {
		many = append(many, Is("a", float64(i)))
	}
	if _, ok := (Solver{}).question(All(many...)); ok {
		t.Error("a question is named whose name takes longer than its answer")
	}
}

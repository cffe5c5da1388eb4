package jsonlogic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// spent returns how many steps something takes of an account.
func spent(do func(*Budget)) int {
	const all = 1 << 40
	b := NewBudget(context.Background(), all)
	do(b)
	return all - b.Left()
}

// TestBudgetOfARun: what is done on an account is taken from it, until it has ended.
func TestBudgetOfARun(t *testing.T) {
	x := compile(t, `{"<": [1, {"var": "a"}, 9]}`)
	run, part := NewBudget(context.Background(), 10_000), NewBudget(context.Background(), 20_000)
	answers := 0
	for ; part.Err() == nil; answers++ {
		if a := (Solver{Budget: part}).Solve(IsTrue(x)); a.Verdict == Undecided && a.Err != ErrBudget {
			t.Fatalf("%+v", a)
		}
	}
	if part.Err() != ErrBudget || part.Left() != 0 || answers < 10 {
		t.Errorf("after %d answers: %v, %d steps left", answers, part.Err(), part.Left())
	}
	a := Solver{Budget: part}.Solve(IsTrue(x))
	if a.Verdict != Undecided || a.Err != ErrBudget || a.OutOfSteps() || a.Reason != "not proved: the budget of steps is used up" {
		t.Errorf("on an empty account: %+v", a)
	}
	if a := (Solver{Budget: run, Steps: 1}).Solve(IsTrue(x)); !a.OutOfSteps() || run.Err() != nil {
		t.Errorf("with one step: %+v, %v", a, run.Err())
	}
	if took := spent(func(b *Budget) { x.EvalWithin(b, map[string]any{"a": 2.0}) }); took != 2 {
		t.Errorf("Eval takes %d steps", took)
	}
}

// counted is a context that ends once it has been looked at so many times.
type counted struct {
	context.Context
	left int
}

func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContext: whatever takes long looks at the context every few thousand steps,
// and ends with it.
func TestContext(t *testing.T) {
	list := strings.TrimSuffix(strings.Repeat("1,", 100), ",")
	nested := `{"map": [[` + list + `], {"map": [[` + list + `], {"map": [[` + list + `], 1]}]}]}`
	slow := compile(t, `{"map": [{"var": "l"}, {"map": [[`+list+`], {"map": [[`+list+`], 1]}]}]}`)
	data := map[string]any{"l": make([]any, 100)}
	var parts []Formula
	for i := range 12 {
		for k := range i {
			parts = append(parts, Not(All(Is(fmt.Sprint("p", i), float64(k%11)), Is(fmt.Sprint("p", k), float64(i%11)))))
		}
		parts = append(parts, Not(IsUnknown(compile(t, fmt.Sprintf(`{"<": [%d, {"+": [{"var": "p%d"}, {"var": "q"}]}]}`, i, i)))))
	}
	parts = append(parts, IsTrue(slow), Is("l", "x"))
	for about, do := range map[string]func(*Budget) error{
		"Compile": func(b *Budget) error {
			if x, _ := b.Compile(read(t, nested)); x.Eval(nil).Truth != Unknown {
				return errors.New("a value")
			}
			return b.Err()
		},
		"Eval": func(b *Budget) error {
			if slow.EvalWithin(b, data).Truth != Unknown {
				return errors.New("a value")
			}
			return b.Err()
		},
		"Solve": func(b *Budget) error { return Solver{Budget: b}.Solve(All(parts...)).Err },
	} {
		for _, looks := range []int{0, 1, 2, 3} {
			b := NewBudget(&counted{context.Background(), looks}, 1<<40)
			if err := do(b); err != context.Canceled {
				t.Errorf("%s after %d looks: %v", about, looks, err)
			}
			if took := 1<<40 - b.Left(); took > (looks+2)*sliceSteps {
				t.Errorf("%s: %d steps after %d looks at the context", about, took, looks)
			}
		}
	}
	if b := (*Budget)(nil); b.Err() != nil || !b.Spend(1) {
		t.Error("no account has ended")
	}
}

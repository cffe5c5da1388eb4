package policyrules

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/test/gatetest"
)

// ruled returns rules of one intent, decision and priority, of which every third
// denies; condition is told which rule it is for.
func ruled(n int, condition func(i int) string) []string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": "support.refund"}, "decision_binding": "support.refund.execute",
			"rationale": "A reason.", "if": %s, "then": {"allow": %t, "reason": "A reason."}}`, i, condition(i), i%3 != 0)
	}
	return rules
}

func above(limit int) string {
	return fmt.Sprintf(`{">": [{"var": "request.context.refund_amount"}, %d]}`, limit)
}

func between(i int) string {
	return fmt.Sprintf(`{"<=": [%d, {"var": "request.context.refund_amount"}, %d]}`, 10*i, 10*i+9)
}

// steps returns what the proofs of a check over a pack with these rules take, which
// have to come to an answer.
func steps(t *testing.T, rules []string, check func(*questions)) int {
	t.Helper()
	p := gate.NewPass(gatetest.Surroundings{}.Subject(withRules(t, rules)), Gate, POL001)
	q := newQuestions(p)
	check(q)
	found, unchecked := p.Results()
	for _, f := range found {
		if f.Rule == gate.NPR001.ID {
			t.Error(f.Message)
		}
	}
	for _, n := range unchecked {
		t.Error(n.Reason)
	}
	return checkSteps - q.solver.Budget.Left()
}

// Rules of one condition are asked about once, however many there are, and limits of
// one variable take few steps for each rule.
func TestStepsOfManyRules(t *testing.T) {
	alike := func(int) string { return above(100) }
	conflicts := (*questions).checkConflicts
	reachable := func(q *questions) { newReach(q).checkAll() }
	if few, many := steps(t, ruled(30, alike), conflicts), steps(t, ruled(3000, alike), conflicts); few == 0 || many > few {
		t.Errorf("conflicts of 30 rules of one condition take %d steps, of 3000 rules %d", few, many)
	}
	for _, c := range []struct {
		name      string
		condition func(int) string
		rules     int
		check     func(*questions)
		each      int // steps for each rule
	}{
		{"reachability of rules of one condition", alike, 3000, reachable, 1},
		{"reachability of limits", above, 400, reachable, 4_000},
		{"conflicts of ranges", between, 200, conflicts, 12_000},
	} {
		if took := steps(t, ruled(c.rules, c.condition), c.check); took > c.each*c.rules {
			t.Errorf("%s: %d steps for %d rules", c.name, took, c.rules)
		}
	}
}

// What the budget does not suffice for is a claim that is not proved.
func TestBudget(t *testing.T) {
	p := gate.NewPass(gatetest.Surroundings{}.Subject(withRules(t, many(2))), Gate, POL001)
	q := newQuestions(p)
	q.solver.Budget = jsonlogic.NewBudget(context.Background(), 0)
	newReach(q).checkAll()
	found, _ := p.Results()
	if len(found) != 2 {
		t.Fatalf("found %v", found)
	}
	for i, f := range found {
		want := fmt.Sprintf(`whether the then of rule "R_%d" can decide is not proved (POL001): the check has used up its %d steps`, i, checkSteps)
		if f.Rule != gate.NPR001.ID || !strings.HasPrefix(f.Message, want) {
			t.Errorf("found %q, want %q", f.Message, want)
		}
	}
}

package policyrules

import (
	"fmt"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// A request that was found for another outcome spares a question and never
// changes what becomes of an outcome.
func TestFoundRequests(t *testing.T) {
	rules := append(many(24), `{"rule_id": "R_ALL", "if": {"<": [{"var": "request.context.refund_amount"}, 900]},
		"then": {"allow": false, "reason": "A reason."}, "else": {"allow": true}}`)
	s := gatetest.Surroundings{}.Subject(withRules(t, rules))
	left := map[bool]int{}
	fates := map[bool][]string{}
	for _, keeps := range []bool{true, false} {
		p := gate.NewPass(s, Gate, POL001)
		m, q := newModel(p), newProof(p)
		c := newReach(m, q)
		for _, r := range m.rules {
			for _, b := range r.branches {
				f, _ := c.fate(b)
				fates[keeps] = append(fates[keeps], fmt.Sprint(r.RuleID.Value, " ", b.word, " ", f))
				if !keeps {
					clear(c.found)
				}
			}
		}
		left[keeps] = q.budget.Left()
	}
	seen := map[byte]bool{}
	for i, want := range fates[false] {
		if got := fates[true][i]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		seen[want[len(want)-1]] = true
	}
	if left[true] <= left[false] || len(seen) < 2 {
		t.Errorf("%d steps are left and %d without, of %d kinds of fates: the test has lost its power", left[true], left[false], len(seen))
	}
}

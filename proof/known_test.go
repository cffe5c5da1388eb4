package proof_test

import (
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
)

// A request is known for its intent alone, where all of the formulas hold of it, and no more
// are kept than are tried in the time of a proof.
func TestKnownRequests(t *testing.T) {
	m := &proof.Model{}
	request := func(amount float64) map[string]any {
		return map[string]any{"request": map[string]any{"intent": "refund", "amount": amount}}
	}
	is := func(amount float64) []jsonlogic.Formula {
		return []jsonlogic.Formula{jsonlogic.Is("request.amount", amount)}
	}
	if _, found := m.Known("refund", is(1)); found {
		t.Error("a request is known before any was found")
	}
	for amount := range 100 {
		m.Remember("refund", request(float64(amount)))
	}
	data, found := m.Known("refund", is(7), []jsonlogic.Formula{jsonlogic.Not(jsonlogic.Is("request.amount", nil))})
	if value, _ := jsonlogic.Lookup(data, "request.amount"); !found || value != 7.0 {
		t.Errorf("the request that is known has the amount %v (%v), wanted 7", value, found)
	}
	if _, found := m.Known("refund", is(7), is(8)); found {
		t.Error("a request is known of which one of the formulas does not hold")
	}
	if _, found := m.Known("cancel", is(7)); found {
		t.Error("a request of one intent is known for another")
	}
	if _, found := m.Known("refund", is(99)); found {
		t.Error("a hundred requests are kept")
	}
}

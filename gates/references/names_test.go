package references

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"Order": "order", "OrderLine": "order_line", "order_line": "order_line", "Order Line": "order_line",
		"order-line": "order_line", "HTTPEndpoint": "httpendpoint", "Tier2Case": "tier2_case", "Übung": "übung",
	} {
		if got := snake(name); got != want {
			t.Errorf("snake(%q) = %q, want %q", name, got, want)
		}
		if letters(snake(name)) != letters(name) {
			t.Errorf("the namespace that is proposed for %q would not be taken for it", name)
		}
	}
}

// The parts of a long dotted name are not taken one by one, the name itself is.
func TestLongNames(t *testing.T) {
	deep := strings.Repeat("a.", 1<<18) + "b"
	s := &sources{read: map[string]*pack.Node{}}
	at := gatetest.Read("pack.json", []byte(`{"n": {"m": {"deepest": 1}}}`)).Root
	s.addVariable(contextPrefix+deep, at)
	if s.read[deep] == nil || s.read["a.a"] == nil || len(s.read) > gate.MostOfName {
		t.Errorf("%d parts of a long name", len(s.read))
	}
}

// A pack full of names that are almost right is judged in bounded time.
func TestManyUnresolvedNames(t *testing.T) {
	const count = 6000
	var requires, permissions, capabilities []any
	for i := range count {
		requires = append(requires, fmt.Sprintf("evidence_of_the_customer_number_%d_x", i))
		capabilities = append(capabilities, fmt.Sprintf("capability_of_the_adapter_number_%d", i))
		permissions = append(permissions, map[string]any{
			"permission_id": fmt.Sprint(i), "adapter_id": "adp_orders", "allow": true,
			"capability": fmt.Sprintf("capability_of_the_adapter_number_%d_x", i),
		})
	}
	var operations []finding.Operation
	values := map[string]any{
		"/decision_layer/decision_specs/0/required_evidence": requires,
		"/tooling_layer/permissions":                         permissions,
		"/tooling_layer/adapter_registry/0/capabilities":     capabilities,
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		text, err := json.Marshal(values[path])
		if err != nil {
			t.Fatal(err)
		}
		operations = append(operations, finding.Operation{Op: "replace", Path: path, Value: string(text)})
	}
	src := gatetest.Edit(t, gatetest.Support(), operations...)
	found, _ := gatetest.Judge(Gate, whole.Subject(src))
	if gatetest.Total(found) < 2*count {
		t.Errorf("%d findings, want each name", gatetest.Total(found))
	}
}

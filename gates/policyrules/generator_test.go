package policyrules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
)

// generator makes the support pack with random rules and gates.
type generator struct{ *rand.Rand }

func (g *generator) one(of ...any) any { return of[g.IntN(len(of))] }

func variable(name string) any { return map[string]any{"var": name} }

func op(name string, operands ...any) any { return map[string]any{name: operands} }

const (
	amountPath = "request.context.amount"
	rolePath   = "user.tier"
	flagPath   = "request.context.flag"
)

func (g *generator) condition(depth int) any {
	if depth > 0 && g.IntN(3) > 0 {
		switch g.IntN(5) {
		case 0:
			return op("!", g.condition(depth-1))
		case 1, 2:
			return op("and", g.condition(depth-1), g.condition(depth-1))
		default:
			return op("or", g.condition(depth-1), g.condition(depth-1))
		}
	}
	limit := g.one(3000.0, 5000.0)
	switch g.IntN(11) {
	case 0, 1, 2:
		return op(g.one(">", ">=", "<", "<=").(string), variable(amountPath), limit)
	case 3:
		return op("<", 3000.0, variable(amountPath), 5000.0)
	case 4:
		return op(g.one("==", "!=", "===").(string), variable(rolePath), g.one("a", "b"))
	case 5:
		return op("in", variable(rolePath), g.one([]any{}, []any{"a", "b"}, []any{"b"}))
	case 6:
		return op("==", variable(amountPath), g.one(nil, "4200", 3000.0))
	case 7:
		return g.one(true, false)
	case 8: // what no request that is compiled, or every one, has
		return op(g.one("==", "!=").(string), variable(g.one("tenant_id", "intent").(string)), g.one("tenant_acme_prod", "tenant_other", "one"))
	case 9:
		return op(g.one("==", "!=").(string), variable(g.one("safety_mode", "request.message").(string)), g.one("read_only", "destructive", "m", "", nil))
	default:
		return op(g.one("==", "===", "!==").(string), variable(flagPath), true)
	}
}

func (g *generator) outcome(kind int) map[string]any {
	o := map[string]any{}
	switch kind {
	case 0, 1:
		o["allow"] = true
	case 2:
		o["allow"], o["reason"] = false, "No."
	}
	if g.IntN(4) == 0 {
		o["requires_approval_gate"] = g.one("G_ONE", "G_TWO")
	}
	return o
}

func (g *generator) rule(i int) map[string]any {
	r := map[string]any{"rule_id": fmt.Sprintf("R_%d", i), "rationale": "A reason.", "if": g.condition(2), "then": g.outcome(g.IntN(4))}
	if g.IntN(4) == 0 {
		r["else"] = g.outcome(g.IntN(4))
	}
	if g.IntN(6) > 0 {
		r["applies_to"] = map[string]any{"intent": g.one("one", "one", "two")}
	}
	if g.IntN(6) > 0 {
		r["decision_binding"] = g.one("d.write", "d.write", "d.read")
	}
	if g.IntN(8) == 0 {
		r["non_enforcing"] = true
	}
	return r
}

// pack puts random rules and gates into the support pack.
func (g *generator) pack(t *testing.T) []byte {
	t.Helper()
	bundles := make([]any, 2)
	at := 0
	for i := range bundles {
		var rules []any
		for range 1 + g.IntN(3) {
			rules = append(rules, g.rule(at))
			at++
		}
		bundles[i] = map[string]any{
			"bundle_id": fmt.Sprintf("B_%d", i), "priority": g.one(1.0, 2.0),
			"policy_dsl": map[string]any{"language": "jsonlogic", "rules": rules},
		}
	}
	var gates, specs []any
	for _, id := range []string{"G_ONE", "G_TWO"} {
		gates = append(gates, map[string]any{"gate_id": id, "when": g.condition(1), "required_approver_role": "lead", "ttl_seconds": 60.0})
	}
	for key, mode := range map[string]string{"d.write": "destructive", "d.read": "read_only"} {
		specs = append(specs, map[string]any{"decision_key": key, "version": "1.0.0", "approval_mode": mode})
	}
	src := gatetest.Support()
	for path, value := range map[string]any{
		"/policy_layer/policy_bundles": bundles, "/policy_layer/approval_gates": gates, "/decision_layer/decision_specs": specs,
		"/tooling_layer/permissions":     []any{},
		"/evaluation_layer/eval_targets": []any{map[string]any{"intent": "one"}, map[string]any{"intent": "two"}},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		src = gatetest.Edit(t, src, finding.Operation{Op: "replace", Path: path, Value: string(text)})
	}
	return src
}

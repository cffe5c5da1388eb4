package risk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/contextosai/packgate/test/hang"
)

func BenchmarkSupportPack(b *testing.B) {
	s := whole.Subject(gatetest.Support())
	for b.Loop() {
		gatetest.Judge(Gate, s)
	}
}

// rulesOf returns a script that puts rules in the place of the support pack's,
// each with a condition and the intent of its number.
func rulesOf(n int, condition func(int) string, intent func(int) string) string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": %q}, "if": %s, "then": {"allow": true}, "decision_binding": "support.refund.execute"}`,
			i, intent(i), condition(i))
	}
	return "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules [" + strings.Join(rules, ", ") + "]"
}

// Packs that are made to be slow take bounded time, and no rule panics.
func TestHostilePacks(t *testing.T) {
	same := func(int) string { return "support.refund" }
	words := make([]string, 10_000)
	for i := range words {
		words[i] = fmt.Sprintf(`"w%d"`, i)
	}
	deep := strings.Repeat(`{"!": [`, 25) + `{">": [{"var": "request.context.refund_amount"}, 1]}` + strings.Repeat(`]}`, 25)
	odd := func(i int) string {
		return fmt.Sprintf(`{"==": [{"+": [{"*": [{"var": "request.context.v%d"}, {"var": "request.context.v%d"}]}, {"var": "user.u%d"}]}, %d.5]}`, i, i+1, i%7, i)
	}
	var capabilities, permissions []string
	for i := range 500 {
		capabilities = append(capabilities, fmt.Sprintf(`"c_%d"`, i))
		permissions = append(permissions, fmt.Sprintf(`{"permission_id": "p_%d", "adapter_id": "adp_payments", "capability": "c_%d", "allow": true}`, i, i))
	}
	many := "\nreplace /tooling_layer/adapter_registry/adp_payments/capabilities [" + strings.Join(capabilities, ", ") + "]\nreplace /tooling_layer/permissions [" + strings.Join(permissions, ", ") + "]"
	for name, script := range map[string]string{
		"200 rules": rulesOf(200, func(i int) string { return fmt.Sprintf(`{">": [{"var": "request.context.a%d"}, %d]}`, i%9, i) }, same),
		"200 intents, 500 capabilities": rulesOf(200, func(i int) string { return fmt.Sprintf(`{">": [{"var": "request.context.a"}, %d]}`, i) },
			func(i int) string { return fmt.Sprintf("intent.%d", i) }) + many,
		"long list":   rulesOf(3, func(int) string { return `{"in": [{"var": "user.role"}, [` + strings.Join(words, ", ") + `]]}` }, same),
		"deep":        rulesOf(20, func(int) string { return deep }, same),
		"arithmetic":  rulesOf(50, odd, same),
		"many proofs": rulesOf(200, odd, func(i int) string { return fmt.Sprintf("intent.%d", i%40) }) + many,
	} {
		src, err := edittest.Apply(gatetest.Support(), script)
		if err != nil {
			t.Fatal(err)
		}
		s := whole.Subject(src)
		hang.Within(t, name, func() { gatetest.Judge(Gate, s) })
	}
}

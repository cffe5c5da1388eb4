package policyrules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/contextosai/packgate/test/hang"
)

// withRules returns the support pack with other rules, given as JSON.
func withRules(t testing.TB, rules []string) []byte {
	t.Helper()
	return gatetest.Edit(t, gatetest.Support(), finding.Operation{
		Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules", Value: "[" + strings.Join(rules, ",") + "]",
	})
}

// many returns rules as a large pack has them: limits, regions and roles, with
// some denies, all of one intent, decision and priority.
func many(n int) []string {
	rules := make([]string, n)
	for i := range rules {
		allow := i%3 != 0
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": "support.refund"}, "decision_binding": "support.refund.execute", "rationale": "A reason.",
			"if": {"and": [{"<": [%d, {"var": "request.context.refund_amount"}, %d]}, {"==": [{"var": "user.role"}, "role_%d"]}, {"in": [{"var": "request.context.region"}, ["in", "eu", "r%d"]]}]},
			"then": {"allow": %t, "reason": "A reason."}}`, i, i*100, i*100+250, i%7, i%5, allow)
	}
	return rules
}

func BenchmarkSupportPack(b *testing.B) {
	s := whole.Subject(gatetest.Support())
	for b.Loop() {
		gatetest.Judge(Gate, s)
	}
}

func BenchmarkRules(b *testing.B) {
	for _, n := range []int{20, 50, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := whole.Subject(withRules(b, many(n)))
			for b.Loop() {
				gatetest.Judge(Gate, s)
			}
		})
	}
}

// Policies that are made to be slow end in time, and without a panic.
func TestBoundedTime(t *testing.T) {
	deep := strings.Repeat(`{"!": [`, 200) + "true" + strings.Repeat("]}", 200)
	var wide, texts []string
	for i := range 1600 {
		wide = append(wide, fmt.Sprintf(`{">": [{"var": "request.context.v%d"}, %d]}`, i%40, i))
	}
	for i := range 10_000 {
		texts = append(texts, fmt.Sprintf("\"(a+)+$%d\"", i))
	}
	product := `{">": [{"*": [{"var": "request.context.a"}, {"var": "request.context.b"}]}, {"var": "request.context.c"}]}`
	for name, condition := range map[string]string{
		"deep":     deep,
		"wide and": `{"and": [` + strings.Join(wide, ",") + `]}`,
		"wide or":  `{"or": [` + strings.Join(wide, ",") + `]}`,
		"texts":    `{"in": [{"var": "user.role"}, [` + strings.Join(texts, ",") + `]]}`,
		"opaque":   `{"and": [` + strings.Repeat(product+",", 50) + product + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			rules := many(20)
			for i := range 2 {
				rules = append(rules, fmt.Sprintf(`{"rule_id": "R_SLOW_%d", "applies_to": {"intent": "support.refund"}, "decision_binding": "support.refund.execute",
					"if": %s, "then": {"allow": false}}`, i, condition))
			}
			hang.Within(t, "the gate", func() { gatetest.Judge(Gate, whole.Subject(withRules(t, rules))) })
		})
	}
}

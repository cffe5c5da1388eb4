package proof

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/randompack"
)

// support returns the documented support pack after an edit script.
func support(t testing.TB, script string) *pack.Pack {
	t.Helper()
	src, err := os.ReadFile("../compiler/testdata/reference/context_pack_support_full.json")
	if err != nil {
		t.Fatal(err)
	}
	if src, err = edittest.Apply(src, script); err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	return randompack.Read(t, string(src))
}

const rulesPath = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules"

// BenchmarkCompareSupport compares the documented pack with one in which a
// threshold, a gate and a bound are changed, from the packs to the changes.
func BenchmarkCompareSupport(b *testing.B) {
	base := support(b, "")
	head := support(b, `replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000
replace `+rulesPath+`/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1 5000
replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max 20000`)
	b.ReportAllocs()
	for b.Loop() {
		if changes := Compare(New(base), New(head), jsonlogic.Solver{}); len(changes) < 3 {
			b.Fatalf("%d changes", len(changes))
		}
	}
}

// many returns rules so that a pack with 2,000 of them has about 1 MiB. In every
// rule that is turned the limit is another one.
func many(count int, varied bool, turned int) string {
	rules := make([]string, count)
	for i := range rules {
		limit, role, key := 3000, "support_agent", "support.refund.execute"
		if varied {
			limit, role = 10*i, fmt.Sprintf("role_%d", i%25)
		}
		if i == turned {
			limit += 5
		}
		allow := `{"allow": true, "approval_mode": "destructive", "requires_approval_gate": "GATE_FINANCE_APPROVAL", "requires": ["order_lookup"]}`
		if varied && i%3 == 0 {
			allow = `{"allow": false, "reason": "Requests like this one are never paid without somebody who looks."}`
		}
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%04d", "applies_to": {"intent": "support.refund"},
  "if": {"and": [{"==": [{"var": "user.role"}, %q]}, {">": [{"var": "request.context.refund_amount"}, %d]}]},
  "then": %s, "decision_binding": %q, "rationale": "High-value refunds of case %04d require finance approval, as the finance handbook says."}`, i, role, limit, allow, key, i)
	}
	return "[" + strings.Join(rules, ", ") + "]"
}

// large returns the support pack with so many rules.
func large(t testing.TB, rules string) *pack.Pack {
	t.Helper()
	return support(t, "replace "+rulesPath+" "+strings.ReplaceAll(rules, "\n", " "))
}

// BenchmarkCompareLarge compares packs of 2,000 rules of which one is changed,
// from the packs to the changes: with one condition in all rules, and with another
// in each. A rule that others cover changes nothing.
func BenchmarkCompareLarge(b *testing.B) {
	for _, c := range []struct {
		name   string
		varied bool
		turned int
		want   Verdict
	}{
		{"alike", false, 1000, Equal}, {"covered", true, 1000, Equal}, {"allow", true, 1, Shrank}, {"deny", true, 51, Grew}, {"same", true, -1, Equal},
	} {
		b.Run(c.name, func(b *testing.B) {
			base, head := large(b, many(2000, c.varied, -1)), large(b, many(2000, c.varied, c.turned))
			for b.Loop() {
				if changes := Compare(New(base), New(head), jsonlogic.Solver{}); Overall(changes) != c.want {
					b.Fatalf("%s: %+v", Overall(changes), changes)
				}
			}
		})
	}
}

// BenchmarkSurfaceSupport lists the static tool surface of the documented pack.
func BenchmarkSurfaceSupport(b *testing.B) {
	base := support(b, "")
	for b.Loop() {
		if rows := Surface(New(base), jsonlogic.Solver{}); len(rows) != 3 {
			b.Fatalf("%d rows", len(rows))
		}
	}
}

package diffing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

func benchmark(b *testing.B, baseSrc, headSrc []byte, changes int) {
	base, head := read(b, "base.json", baseSrc), read(b, "head.json", headSrc)
	b.ReportAllocs()
	for b.Loop() {
		d, err := Compare(base, head, nil)
		if err != nil || len(d.Changes()) != changes {
			b.Fatalf("%v, %d changes", err, len(d.Changes()))
		}
		d.Findings()
	}
}

// BenchmarkSupport compares the documented pack with one of five changes.
func BenchmarkSupport(b *testing.B) {
	head := edit(b, gatetest.Support(), `replace /pack_meta/pack_version "2.0.0"
replace /pack_meta/ttl_seconds 60
add /policy_layer/guardrails/must_refuse/- "x"
replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000
remove /tooling_layer/permissions/p_orders_lookup
replace /decision_layer/decision_specs/support.refund.execute/owner_role "x"`)
	benchmark(b, gatetest.Support(), head, 5)
}

// large returns a pack of about 1 MiB with 2,000 rules; limit is in every
// condition, and the rules stand in the order that turned gives.
func large(b *testing.B, limit int, turned bool) []byte {
	b.Helper()
	return largeOf(b, turned, func(int) (string, int) { return "support_agent", limit })
}

// largeOf is large with a role and a limit for each rule.
func largeOf(b *testing.B, turned bool, of func(i int) (role string, limit int)) []byte {
	b.Helper()
	rules := make([]string, 2000)
	for i := range rules {
		role, limit := of(i)
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%04d", "applies_to": {"intent": "support.refund"},
  "if": {"and": [{"==": [{"var": "user.role"}, %q]}, {">": [{"var": "request.context.refund_amount"}, %d]}]},
  "then": {"allow": true, "approval_mode": "destructive", "requires_approval_gate": "GATE_FINANCE_APPROVAL", "requires": ["order_lookup"]},
  "else": {"allow": false, "reason": "Number %04d does not apply to requests like this one."},
  "decision_binding": "support.refund.execute", "rationale": "High-value refunds require finance approval, case %04d."}`, i, role, limit, i, i)
	}
	if turned {
		rules = append(rules[1000:], rules[:1000]...)
	}
	d, _ := pack.Read("pack.json", gatetest.Support(), pack.DefaultLimits())
	list := d.Root.FindKeyed("/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules")
	src := string(gatetest.Support())
	src = src[:list.Start] + "[" + strings.Join(rules, ",\n") + "]" + src[list.End:]
	return []byte(src)
}

// BenchmarkLarge compares packs of 2,000 rules in another order: with a few
// changes, with one in every rule, with one in every rule where each has another
// condition, and with all rules renamed.
func BenchmarkLarge(b *testing.B) {
	base := large(b, 3000, false)
	b.Run("few", func(b *testing.B) {
		head := edit(b, large(b, 3000, true), `replace /pack_meta/ttl_seconds 60
replace /pack_meta/pack_version "2.0.0"
remove /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_0007
replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_0008/rationale "x"`)
		b.SetBytes(int64(len(base)))
		benchmark(b, base, head, 3)
	})
	b.Run("all", func(b *testing.B) {
		head := edit(b, large(b, 5000, true), `replace /pack_meta/pack_version "2.0.0"`)
		b.SetBytes(int64(len(base)))
		benchmark(b, base, head, 2000)
	})
	b.Run("varied", func(b *testing.B) {
		own := func(moved int) func(int) (string, int) {
			return func(i int) (string, int) { return fmt.Sprintf("role_%d", i%25), 10*i + moved }
		}
		base := largeOf(b, false, own(0))
		head := edit(b, largeOf(b, false, own(7)), `replace /pack_meta/pack_version "2.0.0"`)
		b.SetBytes(int64(len(base)))
		benchmark(b, base, head, 2000)
	})
	b.Run("renamed", func(b *testing.B) {
		head := []byte(strings.ReplaceAll(string(base), `"R_`, `"RULE_`))
		head = edit(b, head, `replace /pack_meta/pack_version "2.0.0"`)
		b.SetBytes(int64(len(base)))
		benchmark(b, base, head, 2000)
	})
}

package surface

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/gatetest"
)

// BenchmarkSupport compares the surfaces of the documented pack and one with
// another threshold; what is permitted was compared before.
func BenchmarkSupport(b *testing.B) {
	run(b, gatetest.Support(), edited(b, gatetest.Support(), "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000"))
}

// BenchmarkLarge does the same for two packs of 2,000 rules, 20 of which differ.
func BenchmarkLarge(b *testing.B) { run(b, large(b, 0), large(b, 20)) }

func run(b *testing.B, baseSrc, headSrc []byte) {
	base, head := read(b, baseSrc), read(b, headSrc)
	effects := proof.Compare(proof.New(base), proof.New(head), jsonlogic.Solver{})
	for b.Loop() {
		if d := Compare(proof.New(base), proof.New(head), effects, nil); d.Reason != "" || len(d.Head) == 0 {
			b.Fatalf("%+v", d)
		}
	}
}

// large returns the documented pack with 2,000 rules, of which some have another
// limit.
func large(b *testing.B, moved int) []byte {
	b.Helper()
	rules := make([]string, 2000)
	for i := range rules {
		limit := 3000 + i
		if i < moved {
			limit += 10000
		}
		rules[i] = fmt.Sprintf(`{"rule_id": "R_%04d", "applies_to": {"intent": "support.refund"},
  "if": {"and": [{"==": [{"var": "user.role"}, "agent_%d"]}, {">": [{"var": "request.context.refund_amount"}, %d]}]},
  "then": {"allow": true, "approval_mode": "destructive", "requires_approval_gate": "GATE_FINANCE_APPROVAL", "requires": ["order_lookup"]},
  "decision_binding": "support.refund.execute", "rationale": "case %04d"}`, i, i, limit, i)
	}
	d, _ := pack.Read("pack.json", gatetest.Support(), pack.DefaultLimits())
	list := d.Root.FindKeyed("/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules")
	src := string(gatetest.Support())
	return []byte(src[:list.Start] + "[" + strings.Join(rules, ",\n") + "]" + src[list.End:])
}

func BenchmarkLoosened(b *testing.B) {
	d, err := diffing.Compare(read(b, large(b, 0)), read(b, large(b, 20)), nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Loosened(d)
	}
}

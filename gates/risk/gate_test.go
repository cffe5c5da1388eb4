package risk

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "RSK") }

// A small environment that lets the documented support pack through.
const production = `{"environment": "prod", "max_approval_mode": "destructive"}`

// refundCase is the golden case in which the refund is there and the gate active.
const refundCase = `{"$schema": "https://contextosai.com/schemas/packgate/case.v1.schema.json", "case": "refund-high-value", "family": "approval", "description": "A support agent refunds more than 3000: allowed, after finance has approved.", "overlay": null, "invoke": {"request_id": "req_golden_1", "session_id": "sess_golden_1", "tenant_id": "tenant_acme_prod", "user": {"user_id": "usr_771", "role": "support_agent", "delegation": {"auth_type": "oauth2", "scopes": ["orders.read", "payments.refund"], "subject": "u:user:771"}}, "agent": {"agent_id": "agt_support", "agent_urn": "agent:contextos/support-refund@1.2.0", "workload_identity": "spiffe://contextos/agents/support", "role": "support_ops"}, "context_pack_refs": ["ctxpack.support@1.0.0"], "input": {"intent": "support.refund", "message": "Refund order ord_881 for INR 4200.", "channel": "app_chat", "locale": "en-IN", "context": {"order_id": "ord_881", "currency": "INR", "identity_verified": true, "refund_amount": 4200}}, "mode": "stream", "runtime": {"plan_timeout_ms": 15000, "max_tool_calls": 8, "max_payload_bytes": 1048576, "max_cost_cents": 25}, "trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4701", "span_id": "00f067aa0ba90201"}}, "run_context": {"run_id": "run_golden_1", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4701", "session_id": "sess_golden_1", "tenant_id": "tenant_acme_prod", "user": {"user_id": "usr_771", "role": "support_agent", "delegation": {"auth_type": "oauth2", "scopes": ["orders.read", "payments.refund"], "subject": "u:user:771"}}, "agent": {"agent_id": "agt_support", "agent_urn": "agent:contextos/support-refund@1.2.0", "workload_identity": "spiffe://contextos/agents/support", "role": "support_ops"}, "intent": "support.refund", "locale": "en-IN", "safety_mode": "destructive", "run_budget": {"total_tokens": 12000, "bucket_tokens": {"business": 1500, "policy": 1800, "tool": 1500, "evidence": 400, "memory": 1500, "session": 2200}, "max_tool_calls": 8, "max_replan_attempts": 2, "wall_clock_ms": 30000, "max_cost_cents": 25}}, "evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_kg_2026_05_03_T0930", "content": "Order ord_881: delivered on 2026-04-28, paid by card, INR 4200, one item."}, {"evidence_ref": "kg:customer:cus_77#snapshot_kg_2026_05_03_T0930", "content": "Customer cus_77: with Acme since 2023, two orders in twelve months, no refund so far."}, {"evidence_ref": "policy:POLICY_RETURNS_V4#R_REFUND_REQUIRES_IDV", "content": "Refunds require verified identity."}, {"evidence_ref": "tool:adp_orders.lookup:tool_117", "content": "Status delivered; the item was reported damaged on 2026-05-02."}, {"evidence_ref": "tool:adp_policy.eval:tool_116", "content": "Within the return window; a damaged item is refunded in full."}], "memory": [{"memory_ref": "mem:cus_77:preferred_channel", "content": "Prefers to be answered in the app.", "promoted": true}], "expect": {"outcome": "compiled"}}`

// whole is what is beside a pack of which every rule can be checked.
var whole = gatetest.Surroundings{Catalog: production, Case: refundCase}

// TestSupportPack: the documented support pack, with and without the rest of its
// repository, has no error and one warning beside RSK012 (which the repository does not
// have), of a refund that needs no approval.
func TestSupportPack(t *testing.T) {
	for name, s := range map[string]*gate.Subject{
		"pack":       whole.Subject(gatetest.Support()),
		"repository": gatetest.Example(t),
	} {
		found, unchecked := gatetest.Judge(Gate, s)
		found = slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Rule == RSK012.ID })
		if len(found) != 1 || len(unchecked) != 0 {
			t.Errorf("%s: found %v, not checked %v", name, found, unchecked)
			continue
		}
		f := found[0]
		if f.Rule != "RSK006" || f.Severity != finding.Warning || !strings.Contains(f.Message, "for example refund_amount 3000") {
			t.Errorf("%s: found %s %s: %s", name, f.Severity, f.Rule, f.Message)
		}
		want := map[string]any{"request": map[string]any{
			"intent": "support.refund", "context": map[string]any{"identity_verified": true, "refund_amount": 3000.0},
		}}
		if !reflect.DeepEqual(f.Witness, want) {
			t.Errorf("%s: the witness is %v, want %v", name, f.Witness, want)
		}
	}
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole, gatetest.CaseFile) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole, gatetest.CaseFile) }

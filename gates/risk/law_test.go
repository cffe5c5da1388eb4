package risk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// conditions and whens are the pieces that random policies are made of. Their
// constants are what the grid of requests below has a value on either side of.
var conditions = []string{
	`true`, `{"==": [{"var": "request.context.identity_verified"}, true]}`,
	`{">": [{"var": "request.context.refund_amount"}, 3000]}`, `{"<=": [{"var": "request.context.refund_amount"}, 3000]}`,
	`{"<": [3000, {"var": "request.context.refund_amount"}, 5000]}`,
	`{"and": [{"==": [{"var": "user.role"}, "support_agent"]}, {">": [{"var": "request.context.refund_amount"}, 5000]}]}`,
	`{"or": [{"!=": [{"var": "user.role"}, "support_agent"]}, {"!": [{">": [{"var": "request.context.refund_amount"}, 3000]}]}]}`,
	`{"in": [{"var": "user.role"}, ["support_agent", "finance_lead"]]}`, `{"==": [{"var": "request.context.refund_amount"}, null]}`,
	`{"missing": ["request.context.refund_amount"]}`, `{"in": [{"var": "user.role"}, []]}`, `false`,
}

var outcomes = []string{
	`{"allow": true}`, `{"allow": true}`, `{"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`,
	`{"allow": false, "reason": "no"}`, `{"requires_approval_gate": "GATE_FINANCE_APPROVAL"}`,
	`{"allow": true, "prohibits": ["issue_refund"]}`, `{"prohibits": ["adp_payments.issue_refund"]}`, `{}`,
}

// randomPolicy returns an edit script that gives the support pack other rules,
// another gate condition, and perhaps no gate in the permission.
func randomPolicy(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var rules []string
	for i := range 1 + r.IntN(4) {
		rule := fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": "support.refund"}, "if": %s, "then": %s`, i, pick(conditions), pick(outcomes))
		if r.IntN(2) == 0 {
			rule += `, "else": ` + pick(outcomes)
		}
		if r.IntN(6) > 0 {
			rule += `, "decision_binding": "support.refund.execute"`
		}
		if r.IntN(8) == 0 {
			rule += `, "non_enforcing": true`
		}
		rules = append(rules, rule+"}")
	}
	script := "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules [" + strings.Join(rules, ", ") + "]\n" +
		"replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when " + pick(conditions) + "\n"
	if r.IntN(2) == 0 {
		script += "remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate\n"
	}
	return script
}

// request compiles a pack for one request; the data is that of a witness.
func request(t *testing.T, program *compiler.Program, data map[string]any) *compiler.Result {
	t.Helper()
	input, _ := data["request"].(map[string]any)
	user, _ := data["user"].(map[string]any)
	if user == nil {
		user = map[string]any{}
	}
	user["user_id"] = "usr_1"
	result, err := program.Compile(compiler.Request{
		Invoke: map[string]any{
			"request_id": "req_1", "tenant_id": "tenant_acme_prod", "input": input,
			"context_pack_refs": []any{"ctxpack.support@1.0.0"},
		},
		RunContext: map[string]any{
			"run_id": "run_1", "trace_id": "trace_1", "tenant_id": "tenant_acme_prod", "user": user,
			"agent": map[string]any{"agent_id": "agt_1"}, "safety_mode": "destructive", "run_budget": map[string]any{"total_tokens": 12000.0},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// standing says of a compile whether the refund is there, and whether a gate is.
func standing(result *compiler.Result) (there, gated bool) {
	if result.Context == nil {
		return false, false
	}
	return slices.Contains(result.Context.ContextLedger.Tools, "adp_payments.issue_refund"),
		len(result.Context.RuntimeControls.ApprovalGatesActive) > 0
}

// grid returns a request for every region of every variable.
func grid() (requests []map[string]any) {
	for _, amount := range []any{nil, 3000.0, 3001.0, 5000.0, 5001.0, "4200"} {
		for _, verified := range []any{nil, true, false} {
			for _, role := range []any{nil, "support_agent", "finance_lead", "other"} {
				context := map[string]any{}
				if amount != nil {
					context["refund_amount"] = amount
				}
				if verified != nil {
					context["identity_verified"] = verified
				}
				data := map[string]any{"request": map[string]any{"intent": "support.refund", "message": "Refund.", "context": context}}
				if role != nil {
					data["user"] = map[string]any{"role": role}
				}
				requests = append(requests, data)
			}
		}
	}
	return requests
}

// RSK002 and RSK006 find a gap exactly where the compiler surfaces the refund
// without an active gate for some request, the severity of RSK002 is an error
// exactly where no request meets a gate, and each witness is such a request.
func TestGapsAgreeWithTheCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	kinds := map[string]int{}
	for range 120 {
		script := randomPolicy(r)
		src, err := edittest.Apply(gatetest.Support(), script)
		if err != nil {
			t.Fatal(err)
		}
		s := whole.Subject(src)
		program := compiler.Prepare(s.Pack)
		ungated, gated := false, false
		for _, data := range grid() {
			there, behind := standing(request(t, program, data))
			ungated, gated = ungated || there && !behind, gated || there && behind
		}
		found := gapFindings(t, s)
		kinds[fmt.Sprint(ungated, gated, len(found))]++
		if ungated != (len(found) == 1) {
			t.Errorf("a request runs ungated: %v, findings: %v\n%s", ungated, found, script)
			continue
		}
		for _, f := range found {
			if f.Rule == "RSK002" && gated != (f.Severity == finding.Warning) {
				t.Errorf("a request meets a gate: %v, finding: %v\n%s", gated, f, script)
			}
			witness := completed(t, f.Witness)
			if there, behind := standing(request(t, program, witness)); !there || behind {
				t.Errorf("the witness %v is no gap: the refund is there: %v, gated: %v\n%s", f.Witness, there, behind, script)
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("the policies were all alike: %v", kinds)
	}
}

// gapFindings runs the two rules and fails where something was not proved.
func gapFindings(t *testing.T, s *gate.Subject) (found []finding.Finding) {
	t.Helper()
	for _, r := range []*gate.Rule{RSK002, RSK006} {
		p := gate.NewPass(s, Gate, r)
		r.Check(p)
		f, unchecked := p.Results()
		found = append(found, f...)
		if len(unchecked) > 0 {
			t.Errorf("%s was not checked: %v", r.ID, unchecked)
		}
	}
	return found
}

// completed returns a copy of a witness with what every request has.
func completed(t *testing.T, witness map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(witness)
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]any{}
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	input, _ := data["request"].(map[string]any)
	if input == nil {
		t.Fatalf("the witness %s has no request", text)
	}
	input["message"] = "Refund."
	return data
}

// Every fix that a rule offers makes the rule silent, and leaves the rest of the
// file as it was.
func TestFixes(t *testing.T) {
	for _, script := range []string{
		"remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate",
		"remove /tooling_layer/permissions/p_issue_refund/arg_constraints",
		"remove /tooling_layer/permissions/p_issue_refund/arg_constraints/idempotency_key",
		`replace /tooling_layer/permissions/p_issue_refund/arg_constraints/idempotency_key {"pattern": "^ik_"}`,
		"replace /tooling_layer/permissions/p_issue_refund/arg_constraints/idempotency_key/required false",
		`replace /tooling_layer/adapter_registry/adp_orders/approval_mode "Read-Only"`,
	} {
		src, err := edittest.Apply(gatetest.Support(), script)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := gatetest.Judge(Gate, whole.Subject(src))
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Fix != nil })
		if i < 0 {
			t.Errorf("%s: no rule offers a fix", script)
			continue
		}
		fixed, after := gatetest.Fixed(t, Gate, whole, src, found[i])
		if slices.ContainsFunc(after, func(f finding.Finding) bool { return f.Rule == found[i].Rule }) {
			t.Errorf("%s: the fix of %s does not fix it", script, found[i].Rule)
		}
		if was, is := strings.Count(string(src), "\n"), strings.Count(string(fixed), "\n"); is < was || is > was+6 {
			t.Errorf("%s: the fix changes %d lines into %d", script, was, is)
		}
	}
}

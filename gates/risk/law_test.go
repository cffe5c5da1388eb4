package risk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// conditions are the pieces that random policies are made of. Their constants are
// what the grid of requests below has a value on either side of. Some are never true
// of a request, some are not followed.
var conditions = []string{
	`true`, `true`, `false`, `{"==": [{"var": "request.context.identity_verified"}, true]}`,
	`{">": [{"var": "request.context.refund_amount"}, 3000]}`, `{"<=": [{"var": "request.context.refund_amount"}, 3000]}`,
	`{"<": [3000, {"var": "request.context.refund_amount"}, 5000]}`,
	`{"or": [{"!=": [{"var": "user.role"}, "support_agent"]}, {"!": [{">": [{"var": "request.context.refund_amount"}, 3000]}]}]}`,
	`{"in": [{"var": "user.role"}, ["support_agent", "finance_lead"]]}`, `{"==": [{"var": "request.context.refund_amount"}, null]}`,
	`{"missing": ["request.context.refund_amount"]}`, `{"in": [{"var": "user.role"}, []]}`,
	`{"==": [{"var": "tenant_id"}, "tenant_acme_prod"]}`, `{"==": [{"var": "tenant_id"}, "tenant_other"]}`,
	`{"==": [{"var": "safety_mode"}, "destructive"]}`, `{"in": [{"var": "safety_mode"}, ["read_only", "paused"]]}`,
	`{"==": [{"%": [{"+": [{"*": [7, {"var": "request.context.refund_amount"}]}, 3]}, 1000]}, 3]}`,
	`{"==": [{"%": [{"+": [{"*": [7, {"var": "request.context.refund_amount"}]}, 3]}, 1000]}, 444]}`,
	`{">": [{"+": [{"var": "request.context.refund_amount"}, {"var": "request.context.fee"}]}, 3000]}`, notFollowed, notFollowed, `{"!": ` + notFollowed + `}`,
}

// notFollowed is a condition for which no request is found, nor proved that there is
// none.
const notFollowed = `{"and": [{"==": [{"*": [{"var": "request.context.refund_amount"}, {"var": "request.context.refund_amount"}, {"var": "request.context.rate"}]}, 17.25]}, ` +
	`{"==": [{"+": [{"var": "request.context.refund_amount"}, {"var": "request.context.rate"}]}, 93.125]}]}`

// Names that a key of joined texts would confuse: of gates, decisions and tools.
var (
	gateNames = []string{"GATE_FINANCE_APPROVAL", "4 []", `a" "b`}
	decisions = []string{"support.refund.execute", "4 []", "support.refund.execute 4"}
	outcomes  = []string{
		`{"allow": true}`, `{"allow": true}`, `{"allow": true}`, `{"allow": false, "reason": "no"}`, `{"requires_approval_gate": %q}`,
		`{"allow": true, "requires_approval_gate": %q}`, `{"allow": true, "prohibits": ["issue_refund"]}`, `{"prohibits": ["adp_payments.issue_refund"]}`, `{}`,
	}
	// tools are the destructive ones: adapter and capability. The last two have one
	// name, so that the compiler refuses a pack with both.
	tools = [][2]string{{"adp_payments", "issue_refund"}, {"4 []", "4 []"}, {"adp", "pay.out"}, {"adp.pay", "out"}}
)

// randomPack returns the support pack with other rules, decisions, gates and
// destructive tools: rules that name no intent, rules that are not enforced, gates
// that permissions and rules name or nobody does.
func randomPack(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	outcome := func() string {
		o := pick(outcomes)
		if strings.Contains(o, "%q") {
			o = fmt.Sprintf(o, pick(gateNames))
		}
		return o
	}
	var rules, gates, specs, permissions []string
	for i := range 1 + r.IntN(4) {
		rule := fmt.Sprintf(`{"rule_id": "R_%d", "if": %s, "then": %s`, i, pick(conditions), outcome())
		if intent := pick([]string{"", "support.refund", "support.vip"}); intent != "" {
			rule += fmt.Sprintf(`, "applies_to": {"intent": %q}`, intent)
		}
		if r.IntN(2) == 0 {
			rule += `, "else": ` + outcome()
		}
		if r.IntN(6) > 0 {
			rule += fmt.Sprintf(`, "decision_binding": %q`, pick(decisions))
		}
		if r.IntN(6) == 0 {
			rule += `, "non_enforcing": true`
		}
		rules = append(rules, rule+"}")
	}
	for _, name := range gateNames {
		gates = append(gates, fmt.Sprintf(`{"gate_id": %q, "when": %s, "required_approver_role": "cfo", "ttl_seconds": 60}`, name, pick(conditions)))
	}
	for _, key := range decisions {
		specs = append(specs, fmt.Sprintf(`{"decision_key": %q, "version": "1.0.0", "approval_mode": %q, "owner_role": "x", "allowed_outcomes": ["done"]}`, key, pick([]string{"destructive", "destructive", "network"})))
	}
	script := ""
	for i, tool := range tools {
		if i > 0 && (r.IntN(2) == 0 || i == 3 && r.IntN(4) > 0) {
			continue
		}
		if i > 0 {
			script += fmt.Sprintf("add /tooling_layer/adapter_registry/- {\"adapter_id\": %q, \"capabilities\": [%q], \"approval_mode\": \"destructive\", \"endpoint_ref\": \"internal://payments\"}\n", tool[0], tool[1])
		}
		permission := fmt.Sprintf(`{"permission_id": "p_%d", "adapter_id": %q, "capability": %q, "allow": true`, i, tool[0], tool[1])
		if r.IntN(2) == 0 {
			permission += fmt.Sprintf(`, "requires_approval_gate": %q`, pick(gateNames))
		}
		permissions = append(permissions, permission+"}")
	}
	src, err := edittest.Apply(gatetest.Support(), script+
		"replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules ["+strings.Join(rules, ", ")+"]\n"+
		"replace /policy_layer/approval_gates ["+strings.Join(gates, ", ")+"]\n"+
		"replace /decision_layer/decision_specs ["+strings.Join(specs, ", ")+"]\n"+
		"replace /tooling_layer/permissions ["+strings.Join(permissions, ", ")+"]\n"+
		pick([]string{"", "", `add /evaluation_layer/eval_targets/- {"intent": "support.measured", "policy": 1, "safety": 1}` + "\n"}))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// grid returns a request of each intent for every region of the variables that
// conditions read, as far as it is a request of the pack at all. Rules name two of the
// intents, an eval target the third one, and nothing but a case or the tool surface the last.
func grid() (requests []map[string]any) {
	for _, intent := range []string{"support.refund", "support.vip", "support.measured", "support.elsewhere"} {
		for _, amount := range []any{nil, 0.0, 63.0, 3000.0, 3001.0, 5001.0, "4200"} {
			for _, role := range []any{nil, "support_agent", "other"} {
				for _, mode := range []any{"destructive", "network"} {
					context := map[string]any{"identity_verified": true, "fee": 1.0}
					data := map[string]any{"safety_mode": mode, "request": map[string]any{"intent": intent, "context": context}}
					if amount != nil {
						context["refund_amount"] = amount
					}
					if role != nil {
						data["user"] = map[string]any{"role": role}
					}
					requests = append(requests, data)
				}
			}
		}
	}
	return requests
}

// holding returns the gates that hold a tool for an intent, as the pack is written:
// those that its permissions name, and those of the enforced rules that apply.
func holding(p *pack.Pack, id policy.ToolID, intent string) (gates []string) {
	add := func(name pack.Text) {
		if name.OK {
			gates = append(gates, name.Value)
		}
	}
	for _, one := range p.ToolingLayer.Permissions.Items {
		if one.AdapterID.Value == id.Adapter && one.Capability.Value == id.Capability {
			add(one.RequiresApprovalGate)
		}
	}
	for _, bundle := range p.PolicyLayer.PolicyBundles.Items {
		for _, r := range bundle.PolicyDSL.Rules.Items {
			if to := r.AppliesTo.Intent; !r.NonEnforcing.Value && (to.Node == nil || to.Value == intent) {
				add(r.Then.RequiresApprovalGate)
				add(r.Else.RequiresApprovalGate)
			}
		}
	}
	return gates
}

// ungated returns the destructive tools that a pack is compiled to have for a request
// with none of their gates active.
func ungated(t *testing.T, s *gate.Subject, data map[string]any) (open []policy.ToolID) {
	t.Helper()
	result, err := s.Proof().Program().Compile(proof.Request(s.Pack, data))
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != compiler.Compiled {
		return nil
	}
	intent, _ := data["request"].(map[string]any)["intent"].(string)
	for _, tool := range result.Trace.Tools {
		id := policy.ToolID{Adapter: tool.Adapter.AdapterID.Value, Capability: tool.Capability}
		held := slices.ContainsFunc(holding(s.Pack, id, intent), func(name string) bool {
			return slices.Contains(result.Context.RuntimeControls.ApprovalGatesActive, name)
		})
		if tool.Surfaced && pack.Mode(tool.Adapter.ApprovalMode).Rank() == pack.Destructive.Rank() && !held {
			open = append(open, id)
		}
	}
	return open
}

// about returns the findings that are at the permission of a tool.
func about(s *gate.Subject, id policy.ToolID, found []finding.Finding) (rules []finding.Finding) {
	for _, f := range found {
		for _, one := range s.Policy().Tool(id).Permissions {
			if strings.HasPrefix(f.Location.Pointer, one.Node.Pointer()+"/") {
				rules = append(rules, f)
			}
		}
	}
	return rules
}

// No destructive tool that some request has ungated is without a finding: RSK002
// where nothing names a gate for the intent, or none that a golden case raises, else RSK006,
// or NPR001 where it is not proved. Each witness is a request that the compiler gives the tool ungated.
func TestNothingRunsUngatedInSilence(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	kinds := map[string]int{}
	for range 250 {
		src := randomPack(t, r)
		s := whole.Subject(src)
		found, unchecked := gapFindings(s)
		if s.Proof().Broken() != "" {
			kinds["refused"]++
			checkRefusedPack(t, s, found, unchecked)
			continue
		}
		for _, row := range s.Reach().Rows {
			if row.Tool.Destructive() && !row.Held && len(about(s, row.Tool.ToolID, found)) == 0 {
				t.Errorf("the row of %s for %s has no finding\n%s", row.Capability, row.Intent, src)
			}
		}
		for _, data := range grid() {
			for _, id := range ungated(t, s, data) {
				if len(about(s, id, found)) == 0 {
					t.Errorf("%s runs ungated without a finding for %v\n%s", id, data, src)
				}
			}
		}
		for _, f := range found {
			kinds[f.Rule+map[bool]string{true: " with a request"}[f.Witness != nil]]++
			if strings.Contains(f.Message, "which no golden case raises") {
				kinds["inert"]++
			}
			checkWitness(t, s, f, src)
		}
	}
	for _, kind := range []string{"refused", "RSK002 with a request", "RSK002", "RSK006 with a request", "NPR001", "inert"} {
		if kinds[kind] == 0 {
			t.Errorf("no pack has %s: %v", kind, kinds)
		}
	}
}

// checkWitness holds that a finding is true of its request.
func checkWitness(t *testing.T, s *gate.Subject, f finding.Finding, src []byte) {
	t.Helper()
	if f.Rule == RSK002.ID && f.Severity != finding.Error {
		t.Errorf("RSK002 is a %s\n%s", f.Severity, src)
	}
	if f.Witness == nil {
		return
	}
	intent, _ := f.Witness["request"].(map[string]any)["intent"].(string)
	shown := slices.ContainsFunc(ungated(t, s, f.Witness), func(id policy.ToolID) bool {
		counts := raised(s, id, holding(s.Pack, id, intent))
		return counts == (f.Rule == RSK006.ID) && slices.ContainsFunc(about(s, id, []finding.Finding{f}), func(finding.Finding) bool { return true })
	})
	if !shown {
		t.Errorf("%s does not hold of its request %v: %s\n%s", f.Rule, f.Witness, f.Message, src)
	}
}

// raised reports whether a golden case has a tool with one of the gates active, or one that
// is not known to may.
func raised(s *gate.Subject, id policy.ToolID, gates []string) bool {
	return len(gates) > 0 && slices.ContainsFunc(s.Golden(), func(r golden.Result) bool {
		if r.Outcome != compiler.Compiled {
			return true
		}
		return slices.Contains(r.Detail.Context.ContextLedger.Tools, id.String()) &&
			slices.ContainsFunc(gates, func(id string) bool {
				return slices.Contains(r.Detail.Context.RuntimeControls.ApprovalGatesActive, id)
			})
	})
}

// checkRefusedPack holds that each destructive tool of a pack that cannot be compiled
// is reported, or named as not checked.
func checkRefusedPack(t *testing.T, s *gate.Subject, found []finding.Finding, unchecked []finding.NotChecked) {
	t.Helper()
	for _, tool := range openTools(&gate.Pass{Subject: s}) {
		named := slices.ContainsFunc(unchecked, func(n finding.NotChecked) bool { return strings.Contains(n.Reason, gate.Quote(tool.String())) })
		if tool.Destructive() && !named && len(about(s, tool.ToolID, found)) == 0 {
			t.Errorf("%s of a pack that is refused is neither reported nor not checked", tool)
		}
	}
}

// gapFindings runs the rules that look for gaps.
func gapFindings(s *gate.Subject) (found []finding.Finding, unchecked []finding.NotChecked) {
	for _, r := range []*gate.Rule{RSK002, RSK006} {
		p := gate.NewPass(s, Gate, r)
		r.Check(p)
		f, n := p.Results()
		found, unchecked = append(found, f...), append(unchecked, n...)
	}
	return found, unchecked
}

// Every fix that a rule offers makes the rule silent, and leaves the rest of the
// file as it was.
func TestFixes(t *testing.T) {
	for _, script := range []string{
		"remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate\n" +
			"remove /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/then/requires_approval_gate",
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

package compiler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

var allowAll = policyOf(ruleOf("R1", always, allow, onExecute)) // a value of the test, never changed

// prohibiting returns a policy that allows the decision and prohibits entries.
func prohibiting(entries string) string {
	return ruleOf("R1", always, `{"allow": true, "prohibits": `+entries+`}`, onExecute)
}

func TestTools(t *testing.T) {
	safety := func(mode pack.ApprovalMode) func(*compiler.Request) {
		return func(r *compiler.Request) { set(r.RunContext, string(mode), "safety_mode") }
	}
	runScenarios(t, []scenario{
		{name: "manifest order is registry order, then capability order",
			edits: edits(allowAll, replace("/tooling_layer/adapter_registry/adp_orders/capabilities", `["zeta", "lookup"]`),
				add("/tooling_layer/permissions/0", `{"permission_id": "p_z", "adapter_id": "adp_orders", "capability": "zeta", "allow": true}`)),
			tools: []string{"adp_orders.zeta", readOne, readTwo, issue}},
		{name: "a capability without a permission is out",
			edits: edits(allowAll, remove("/tooling_layer/permissions/p_policy_eval")), tools: []string{readOne, issue}},
		{name: "a permission that says no",
			edits: edits(allowAll, replace("/tooling_layer/permissions/p_policy_eval/allow", never)), tools: []string{readOne, issue}},
		{name: "a permission that does not say",
			edits: edits(allowAll, remove("/tooling_layer/permissions/p_policy_eval/allow")), tools: []string{readOne, issue}},
		{name: "of two permissions the one that says no wins",
			edits: edits(allowAll, add("/tooling_layer/permissions/-", `{"permission_id": "p_no", "adapter_id": "adp_policy", "capability": "eval", "allow": false}`)),
			tools: []string{readOne, issue}},
		{name: "a prohibition of one capability",
			edits: edits(policyOf(prohibiting(`["adp_orders.lookup"]`))), tools: []string{readTwo, issue}},
		{name: "a bare prohibition means every adapter's capability",
			edits: edits(policyOf(prohibiting(`["lookup"]`)), replace("/tooling_layer/adapter_registry/adp_policy/capabilities", `["lookup"]`),
				replace("/tooling_layer/permissions/p_policy_eval/capability", `"lookup"`)),
			tools: []string{issue}},
		{name: "a prohibition of the other adapter's capability",
			edits: edits(policyOf(prohibiting(`["adp_policy.lookup"]`)), replace("/tooling_layer/adapter_registry/adp_policy/capabilities", `["lookup"]`),
				replace("/tooling_layer/permissions/p_policy_eval/capability", `"lookup"`)),
			tools: []string{readOne, issue}},
		{name: "a prohibition of an outcome that does not hold",
			edits: edits(policyOf(ruleOf("R1", always, allow, onExecute, `"else": {"prohibits": ["lookup"]}`))), tools: []string{readOne, readTwo, issue}},
		{name: "a prohibition of a rule that is bound to nothing",
			edits: edits(policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", always, `{"prohibits": ["eval"]}`))), tools: []string{readOne, issue}},
		{name: "the safety mode is a ceiling", edits: edits(allowAll), request: safety(pack.Delegated), tools: []string{readOne, readTwo}},
		{name: "up to the safety mode is below it",
			edits: edits(allowAll, replace("/tooling_layer/adapter_registry/adp_payments/approval_mode", `"network"`)), request: safety(pack.Network),
			tools: []string{readOne, readTwo, issue}},
		{name: "an outcome's lower mode does not lift the ceiling",
			edits:   edits(policyOf(ruleOf("R1", always, `{"allow": true, "approval_mode": "network"}`, onExecute))),
			request: safety(pack.Network), tools: []string{readOne, readTwo}},
		{name: "an adapter without a mode counts as destructive",
			edits: edits(allowAll, remove("/tooling_layer/adapter_registry/adp_orders/approval_mode")), request: safety(pack.Delegated), tools: []string{readTwo}},
		{name: "a decision below the adapter's mode does not authorise it",
			edits: edits(decisionsOf(), policyOf(ruleOf("R1", always, allow, onNotify), ruleOf("R2", always, deny, onExecute))), tools: []string{readOne, readTwo}},
		{name: "any allowed decision that is strong enough authorises it",
			edits: edits(decisionsOf(), policyOf(ruleOf("R1", always, deny, onNotify), ruleOf("R2", always, allow, onExecute))), tools: []string{readOne, readTwo, issue}},
		{name: "a decision without a mode authorises nothing that writes",
			edits: edits(allowAll, remove("/decision_layer/decision_specs/support.refund.execute/approval_mode")), tools: []string{readOne, readTwo}},
		{name: "of two versions of a decision the weaker one counts",
			edits: edits(allowAll, add("/decision_layer/decision_specs/-", `{"decision_key": "support.refund.execute", "version": "2.0.0", "approval_mode": "network"}`)),
			tools: []string{readOne, readTwo}},
	})
}

// A capability that is out anyway is not said to be out for its bounds.
func TestBoundsOfWhatIsOut(t *testing.T) {
	runScenarios(t, []scenario{{
		name:  "prohibited, and no value left",
		edits: edits(policyOf(ruleOf("R1", always, `{"allow": true, "prohibits": ["issue_refund"], "arg_constraints": {"amount_inr": {"max": 0}}}`, onExecute))),
		tools: []string{readOne, readTwo}, warnings: none(),
	}})
}

func TestObstaclesAreAllNamed(t *testing.T) {
	r := reference(t)
	set(r.Invoke, false, "input", "context", "identity_verified")
	set(r.RunContext, "read_only", "safety_mode")
	p := supportPack(t, replace("/tooling_layer/permissions/p_issue_refund/allow", never),
		add("/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/else/prohibits", `["issue_refund"]`))
	result, _ := compiled(t, p, r)
	var got []string
	for _, o := range result.Trace.Tools[2].Obstacles {
		place := "-"
		if o.At != nil {
			place = o.At.Pointer()
		}
		got = append(got, o.Reason+" "+place)
	}
	check(t, "obstacles", got,
		`permission "p_issue_refund" does not allow it /tooling_layer/permissions/2/allow`,
		`rule "R_REFUND_REQUIRES_IDV" prohibits it /policy_layer/policy_bundles/0/policy_dsl/rules/0/else/prohibits`,
		`no decision that is allowed for "support.refund" may authorise destructive effects -`,
		`its adapter is destructive and the safety mode read_only /tooling_layer/adapter_registry/2/approval_mode`,
	)
	if trace := result.Trace.Tools[0]; !trace.Surfaced || len(trace.Obstacles) > 0 {
		t.Errorf("the trace of a surfaced tool is %+v", trace)
	}
}

// metadataOf compiles and returns the metadata of issue_refund.
func metadataOf(t *testing.T, mode, then, risks string) compiler.Metadata {
	t.Helper()
	ops := edits(replace("/tooling_layer/adapter_registry/adp_payments/approval_mode", mode), policyOf(ruleOf("R1", always, then, onExecute)))
	if risks != "" {
		ops = append(ops, add("/tooling_layer/adapter_registry/2/capability_risks", risks))
	}
	_, c := compiled(t, supportPack(t, ops...), reference(t))
	return c.Manifests.ToolManifest[2].CapabilityMetadata["issue_refund"]
}

func TestMetadata(t *testing.T) {
	stating := func(mode string) string { return `{"allow": true, "approval_mode": "` + mode + `"}` }
	for _, c := range []struct{ mode, then, risks, want string }{
		{`"read_only"`, allow, "", "read read read_only"},
		{`"local_write"`, allow, "", "write write_reversible local_write"},
		{`"network"`, allow, "", "write external network"},
		{`"network"`, allow, `{"issue_refund": {"effect": "none"}}`, "read external network"},
		{`"network"`, allow, `{"issue_refund": {"effect": "external_state"}}`, "write external network"},
		{`"delegated"`, allow, `{"issue_refund": {"effect": "none"}}`, "write external_delegated delegated"},
		{`"destructive"`, allow, "", "write write_irreversible destructive"},
		{`"unheard_of"`, allow, "", "write write_irreversible destructive"},
		{`"destructive"`, stating("network"), "", "write write_irreversible network"},
		{`"network"`, stating("destructive"), "", "write external network"},
		{`"destructive"`, stating("unheard_of"), "", "write write_irreversible destructive"},
		{`"read_only"`, stating("destructive"), "", "read read read_only"},
	} {
		m := metadataOf(t, c.mode, c.then, c.risks)
		if got := fmt.Sprintf("%s %s %s", m.Kind, m.RiskLevel, m.ApprovalMode); got != c.want || m.Source != "adapter_registry" {
			t.Errorf("adapter %s, outcome %s, risks %s: %s, wanted %s", c.mode, c.then, c.risks, got, c.want)
		}
	}
	t.Run("the highest stated mode counts", func(t *testing.T) {
		_, c := compiled(t, supportPack(t, policyOf(
			ruleOf("R1", always, stating("delegated"), onExecute), ruleOf("R2", always, stating("network"), onExecute),
			ruleOf("R3", always, stating("destructive"))),
		), reference(t))
		if m := c.Manifests.ToolManifest[2].CapabilityMetadata["issue_refund"]; m.ApprovalMode != "delegated" {
			t.Errorf("the effective mode is %s", m.ApprovalMode)
		}
	})
}

func TestConstraints(t *testing.T) {
	for _, c := range []struct {
		name        string
		permissions []string // arg_constraints of permissions of issue_refund
		outcomes    []string // arg_constraints of fired outcomes
		want        string
	}{
		{"the permission's alone", []string{`{"a": {"max": 5}}`}, nil, `{"a":{"max":5}}`},
		{"the lower max wins", []string{`{"a": {"max": 5}}`}, []string{`{"a": {"max": 3}}`}, `{"a":{"max":3}}`},
		{"the lower max wins, whosever it is", []string{`{"a": {"max": 3}}`}, []string{`{"a": {"max": 5}}`}, `{"a":{"max":3}}`},
		{"the higher min wins", []string{`{"a": {"min": 1}}`}, []string{`{"a": {"min": 2, "max": 9}}`}, `{"a":{"max":9,"min":2}}`},
		{"required wins", []string{`{"a": {"required": false}}`}, []string{`{"a": {"required": true}}`}, `{"a":{"required":true}}`},
		{"words in common, in the permission's order", []string{`{"a": {"enum": ["x", "y", "z"]}}`}, []string{`{"a": {"enum": ["z", "x", "w"]}}`}, `{"a":{"enum":["x","z"]}}`},
		{"one pattern twice is one", []string{`{"a": {"pattern": "^x"}}`}, []string{`{"a": {"pattern": "^x"}}`}, `{"a":{"pattern":"^x"}}`},
		{"two patterns both hold", []string{`{"a": {"pattern": "^x", "max": 5}}`}, []string{`{"a": {"pattern": "y$", "max": 3}}`}, `{"a":[{"max":3,"pattern":"^x"},{"pattern":"y$"}]}`},
		{"members of the future are kept", []string{`{"a": {"max_length": 5}}`}, []string{`{"a": {"unit": "INR"}}`}, `{"a":{"max_length":5,"unit":"INR"}}`},
		{"an argument that the permission does not name", []string{`{"a": {"max": 5}}`}, []string{`{"b": {"max": 3}}`}, `{"a":{"max":5}}`},
		{"unless approved stands beside", []string{`{"a": {"max": 5}}`}, []string{`{"a": {"max": 3, "unless_approved": true}}`}, `{"a":[{"max":5},{"max":3,"unless_approved":true}]}`},
		{"unless approved alone", []string{`{"a": {"max": 3, "unless_approved": true}}`}, nil, `{"a":{"max":3,"unless_approved":true}}`},
		{"two of them are one", []string{`{"a": {"max": 5}}`}, []string{`{"a": {"max": 3, "unless_approved": true}}`, `{"a": {"max": 2, "unless_approved": true}}`}, `{"a":[{"max":5},{"max":2,"unless_approved":true}]}`},
		{"unless approved false is unconditional", []string{`{"a": {"max": 5}}`}, []string{`{"a": {"max": 3, "unless_approved": false}}`}, `{"a":{"max":3,"unless_approved":false}}`},
		{"permissions add up", []string{`{"a": {"max": 5}}`, `{"a": {"min": 2}, "b": {"required": true}}`}, nil, `{"a":{"max":5,"min":2},"b":{"required":true}}`},
		{"one value is left", []string{`{"a": {"min": 3}}`}, []string{`{"a": {"max": 3}}`}, `{"a":{"max":3,"min":3}}`},
		{"an empty bound alone", []string{`{"a": {}}`}, nil, `{"a":{}}`},
		{"an empty bound", []string{`{"a": {}}`}, []string{`{"a": {"max": 3}}`}, `{"a":{"max":3}}`},
		{"no bounds", []string{`{}`}, []string{`{"a": {"max": 3}}`}, `null`},
		{"no word in common", []string{`{"a": {"enum": ["x"]}}`}, []string{`{"a": {"enum": ["y"]}}`}, `dropped`},
		{"no number in common", []string{`{"a": {"min": 5}}`}, []string{`{"a": {"max": 3}}`}, `dropped`},
		{"no word in common unless approved", []string{`{"a": {"enum": ["x"]}}`}, []string{`{"a": {"enum": ["y"], "unless_approved": true}}`}, `{"a":[{"enum":["x"]},{"enum":["y"],"unless_approved":true}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := constraintsOf(t, c.permissions, c.outcomes); got != c.want {
				t.Errorf("the constraints are %s, wanted %s", got, c.want)
			}
		})
	}
}

// constraintsOf returns the compiled constraints of issue_refund as JSON, or
// "dropped" where the capability is left out with a warning.
func constraintsOf(t *testing.T, permissions, outcomes []string) string {
	t.Helper()
	var perms, rules []string
	for i, constraints := range permissions {
		perms = append(perms, fmt.Sprintf(`{"permission_id": "p%d", "adapter_id": "adp_payments", "capability": "issue_refund", "allow": true, "arg_constraints": %s}`, i, constraints))
	}
	for i, constraints := range append([]string{"{}"}, outcomes...) {
		rules = append(rules, ruleOf(fmt.Sprintf("R%d", i), always, `{"allow": true, "arg_constraints": `+constraints+`}`, onExecute))
	}
	p := supportPack(t, replace("/tooling_layer/permissions", "["+strings.Join(perms, ",")+"]"), policyOf(rules...))
	_, c := compiled(t, p, reference(t))
	valid(t, c)
	if len(c.Manifests.ToolManifest) == 0 {
		check(t, "warnings", c.BudgetReport.Warnings, `tool adp_payments.issue_refund was left out: the bounds on argument "a" leave no value`)
		return "dropped"
	}
	b, err := json.Marshal(c.Manifests.ToolManifest[0].Constraints["issue_refund"])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBoundThatHoldsNowhereIsSaid(t *testing.T) {
	_, c := compiled(t, supportPack(t, policyOf(
		ruleOf("R1", always, `{"allow": true, "arg_constraints": {"refund_amount": {"max": 3}, "amount_inr": {"max": 3000}}}`, onExecute),
	)), reference(t))
	check(t, "warnings", c.BudgetReport.Warnings, "rule R1 bounds argument refund_amount, which no permission names; the bound holds nowhere")
	if !slices.Equal(c.Manifests.ToolManifest[2].Capabilities, []string{"issue_refund"}) {
		t.Error("the capability is not surfaced")
	}
}

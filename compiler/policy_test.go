package compiler_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
)

const (
	lookup   = "support.refund.lookup"
	notify   = "support.refund.notify"
	execute  = "support.refund.execute"
	guard    = "refund_without_identity" // the support pack's one must_refuse
	issue    = "adp_payments.issue_refund"
	readOne  = "adp_orders.lookup"
	readTwo  = "adp_policy.eval"
	approval = "GATE_FINANCE_APPROVAL"
)

func TestDecisions(t *testing.T) {
	var many, order, lower []string // of two priorities by turns
	for i := range 60 {
		id := fmt.Sprintf("R%02d", i)
		many = append(many, bundle("B"+id, i%2, ruleOf(id, always, `{}`)))
		if i%2 == 1 {
			order = append(order, id)
		} else {
			lower = append(lower, id)
		}
	}
	order = append(order, lower...)
	runScenarios(t, []scenario{
		{
			name:  "an allow that fires allows",
			edits: edits(policyOf(ruleOf("R1", always, allow, onExecute))),
			rules: []string{"R1"}, denied: none(), refuse: []string{guard}, tools: []string{readOne, readTwo, issue},
		},
		{
			name:  "silence is no consent above read_only",
			edits: edits(policyOf(ruleOf("R1", never, allow, onExecute))),
			rules: none(), denied: none(), refuse: []string{guard, execute}, tools: []string{readOne, readTwo},
		},
		{
			name:  "a fired outcome without allow is silence",
			edits: edits(policyOf(ruleOf("R1", always, `{"requires": ["order_lookup"]}`, onExecute))),
			rules: []string{"R1"}, denied: none(), refuse: []string{guard, execute},
		},
		{
			name:   "an unbound allow allows nothing",
			edits:  edits(policyOf(ruleOf("R1", always, allow), ruleOf("R2", never, allow, onExecute))),
			denied: none(), refuse: []string{guard, execute}, tools: []string{readOne, readTwo},
		},
		{
			name:   "a deny wins over an allow before it and after it",
			edits:  edits(policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", always, deny, onExecute), ruleOf("R3", always, allow, onExecute))),
			denied: []string{execute}, refuse: []string{guard, execute}, tools: []string{readOne, readTwo},
		},
		{
			name: "a deny of a lower bundle wins over an allow of a higher one",
			edits: edits(replace("/policy_layer/policy_bundles", "["+
				bundle("LOW", 1, ruleOf("R1", always, deny, onExecute))+","+bundle("HIGH", 99, ruleOf("R2", always, allow, onExecute))+"]")),
			rules: []string{"R2", "R1"}, denied: []string{execute}, refuse: []string{guard, execute},
		},
		{
			name:  "many bundles of two priorities keep the document's order",
			edits: edits(replace("/policy_layer/policy_bundles", "["+strings.Join(many, ",")+"]")),
			rules: order,
		},
		{
			name: "bundles of one priority keep the document's order",
			edits: edits(replace("/policy_layer/policy_bundles", "["+
				bundle("A", 5, ruleOf("R1", always, allow, onExecute))+","+bundle("B", 7, ruleOf("R2", always, allow, onExecute))+","+
				bundle("C", 5, ruleOf("R3", always, allow, onExecute))+"]")),
			rules: []string{"R2", "R1", "R3"},
		},
		{
			name:  "an else fires where the condition is false",
			edits: edits(policyOf(ruleOf("R1", never, allow, onExecute, `"else": `+deny))),
			rules: []string{"R1"}, denied: []string{execute}, refuse: []string{guard, execute},
		},
		{
			name:  "an else can allow",
			edits: edits(policyOf(ruleOf("R1", never, deny, onExecute, `"else": `+allow))),
			rules: []string{"R1"}, denied: none(), tools: []string{readOne, readTwo, issue},
		},
		{
			name:  "a rule of another intent is not applicable, not even where it is unknown",
			edits: edits(policyOf(`{"rule_id": "R1", "applies_to": {"intent": "support.other"}, "if": `+unknown+`, "then": `+deny+`, `+onExecute+`}`, ruleOf("R2", always, allow, onExecute))),
			rules: []string{"R2"}, denied: none(),
		},
		{
			name:  "a rule without an intent is applicable to every one",
			edits: edits(policyOf(`{"rule_id": "R1", "if": true, "then": ` + allow + `, ` + onExecute + `}`)),
			rules: []string{"R1"}, tools: []string{readOne, readTwo, issue},
		},
		{
			name:   "an unbound deny denies every decision of the intent",
			edits:  edits(decisionsOf(), policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", always, allow, onNotify), ruleOf("R3", always, deny))),
			denied: []string{notify, execute}, refuse: []string{guard, notify, execute}, tools: []string{readOne, readTwo},
		},
		{
			name:   "an unbound deny leaves decisions of no rule alone",
			edits:  edits(decisionsOf(), policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R3", always, deny))),
			denied: []string{execute}, refuse: []string{guard, execute},
		},
		{
			name: "must_refuse lists denials in firing order and then silence in decision order",
			edits: edits(decisionsOf(), policyOf(
				ruleOf("R1", never, allow, onNotify), ruleOf("R2", always, deny, onExecute))),
			denied: []string{execute}, refuse: []string{guard, execute, notify},
		},
		{
			name: "two denials stand in firing order, each once",
			edits: edits(decisionsOf(), policyOf(
				ruleOf("R1", always, deny, onExecute), ruleOf("R2", always, deny, onNotify), ruleOf("R3", always, deny, onExecute))),
			denied: []string{execute, notify}, refuse: []string{guard, execute, notify},
		},
		{
			name:   "a denied read_only decision is denied and is not in must_refuse",
			edits:  edits(decisionsOf(), policyOf(ruleOf("R1", always, deny, onLookup))),
			denied: []string{lookup}, refuse: []string{guard},
		},
		{
			name:   "a blocked read_only decision is not in must_refuse",
			edits:  edits(decisionsOf(), policyOf(ruleOf("R1", always, `{}`, onLookup))),
			denied: none(), refuse: []string{guard},
		},
		{
			name: "of two versions of a decision one that is not read_only counts",
			edits: edits(decisionsOf(), policyOf(ruleOf("R1", always, deny, onLookup)),
				add("/decision_layer/decision_specs/-", `{"decision_key": "support.refund.lookup", "version": "2.0.0", "approval_mode": "network"}`)),
			denied: []string{lookup}, refuse: []string{guard, lookup},
		},
		{
			name:   "a decision that shares its name with a guardrail is listed once",
			edits:  edits(replace("/policy_layer/guardrails/must_refuse", `["support.refund.execute", "x"]`), policyOf(ruleOf("R1", always, deny, onExecute))),
			refuse: []string{execute, "x"},
		},
	})
}

func TestReadOnlyDecisions(t *testing.T) {
	state := func(rules ...string) compiler.DecisionState {
		result, _ := compiled(t, supportPack(t, decisionsOf(), policyOf(rules...)), reference(t))
		return result.Trace.Decisions[0].State
	}
	for _, c := range []struct {
		name  string
		rules []string
		want  compiler.DecisionState
	}{
		{"no rule of it fires", []string{ruleOf("R1", never, deny, onLookup)}, compiler.DecisionAllowed},
		{"a rule of it fires and is silent", []string{ruleOf("R1", always, `{}`, onLookup)}, compiler.DecisionSilent},
		{"a rule of it allows", []string{ruleOf("R1", always, allow, onLookup)}, compiler.DecisionAllowed},
		{"a rule of it denies", []string{ruleOf("R1", always, deny, onLookup)}, compiler.DecisionDenied},
		{"an unbound rule denies", []string{ruleOf("R1", never, deny, onLookup), ruleOf("R2", always, deny)}, compiler.DecisionDenied},
		{"no rule is bound to it", []string{ruleOf("R1", always, allow, onExecute)}, compiler.DecisionOther},
		{"only a rule that is not enforced is bound to it", []string{ruleOf("R1", always, allow, onLookup, notEnforce)}, compiler.DecisionOther},
	} {
		if got := state(c.rules...); got != c.want {
			t.Errorf("%s: %s, wanted %s", c.name, got, c.want)
		}
	}
}

// A pack that several tenants use is compiled for any one of them.
func TestSharedPack(t *testing.T) {
	p := supportPack(t)
	p.Shared = true
	for _, c := range []struct{ invoke, run, reason string }{
		{"tenant_globex", "tenant_globex", ""},
		{"tenant_acme_prod", "tenant_globex", `the invocation is of tenant "tenant_acme_prod" and the run context of tenant "tenant_globex"`},
		{"", "", `the invocation is of tenant "" and the pack of tenant "tenant_acme_prod"`},
	} {
		r := reference(t)
		r.Invoke["tenant_id"], r.RunContext["tenant_id"] = c.invoke, c.run
		if got := compile(t, p, r); got.Reason() != c.reason {
			t.Errorf("%q and %q: %q, wanted %q", c.invoke, c.run, got.Reason(), c.reason)
		}
	}
}

func TestNonEnforcingRules(t *testing.T) {
	everything := `{"allow": false, "requires_approval_gate": "GATE_FINANCE_APPROVAL", "prohibits": ["lookup"],
		"arg_constraints": {"amount_inr": {"max": 0}, "nothing": {"max": 0}}}`
	runScenarios(t, []scenario{
		{
			name: "it is listed and binds nothing",
			edits: edits(gateWhen(never),
				policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", always, everything, onExecute, notEnforce))),
			rules: []string{"R1", "R2"}, denied: none(), gates: none(), tools: []string{readOne, readTwo, issue}, warnings: none(),
		},
		{
			name:  "unknown is a warning",
			edits: edits(policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", unknown, deny, onExecute, notEnforce))),
			rules: []string{"R1"}, denied: none(),
			warnings: []string{`rule R2 is not enforced and was skipped: operator ">" cannot decide: variable "request.context.absent" is missing or null, wanted a number`},
		},
		{
			name:   "it allows nothing",
			edits:  edits(policyOf(ruleOf("R1", always, allow, onExecute, notEnforce), ruleOf("R2", never, allow, onExecute))),
			refuse: []string{guard, execute}, tools: []string{readOne, readTwo},
		},
		{
			name:   "a gate that it alone names is not active",
			edits:  edits(remove("/tooling_layer/permissions/p_issue_refund/requires_approval_gate"), policyOf(ruleOf("R1", always, allow, onExecute), ruleOf("R2", never, everything, notEnforce))),
			gates:  none(),
			denied: none(),
		},
	})
}

// The manifest groups the rules that fired by bundle, and the ledger lists the
// bundles.
func TestPolicyManifest(t *testing.T) {
	_, c := compiled(t, supportPack(t, replace("/policy_layer/policy_bundles", "["+
		bundle("LOW", 1, ruleOf("R1", always, `{}`))+","+bundle("SILENT", 5, ruleOf("R2", never, `{}`))+","+
		bundle("HIGH", 9, ruleOf("R3", always, `{}`), ruleOf("R4", always, `{}`))+"]")), reference(t))
	want := []compiler.PolicyEntry{{BundleID: "HIGH", RuleIDs: []string{"R3", "R4"}}, {BundleID: "LOW", RuleIDs: []string{"R1"}}}
	if got := c.Manifests.PolicyManifest; !reflect.DeepEqual(got, want) {
		t.Errorf("the manifest is %v, wanted %v", got, want)
	}
	check(t, "bundles", c.ContextLedger.PolicyBundles, "HIGH", "LOW")
}

func TestPolicyEvalError(t *testing.T) {
	missing := `operator ">" cannot decide: variable "request.context.absent" is missing or null, wanted a number`
	runScenarios(t, []scenario{
		{
			name:    "it names rule, operator and variable",
			edits:   edits(policyOf(ruleOf("R1", unknown, allow, onExecute))),
			outcome: compiler.PolicyEvalError, reason: `rule "R1": ` + missing,
		},
		{
			name:    "it stops even where the decision is denied already",
			edits:   edits(policyOf(ruleOf("R1", always, deny, onExecute), ruleOf("R2", unknown, allow, onExecute))),
			outcome: compiler.PolicyEvalError, reason: `rule "R2": ` + missing,
		},
		{
			name:    "it stops for a rule that is bound to nothing",
			edits:   edits(policyOf(ruleOf("R1", unknown, allow))),
			outcome: compiler.PolicyEvalError, reason: `rule "R1": ` + missing,
		},
		{
			name:    "it names the variable where the cause does not",
			edits:   edits(policyOf(ruleOf("R1", `{">": [{"*": [{"var": "request.context.refund_amount"}, 1e308]}, 1]}`, allow))),
			outcome: compiler.PolicyEvalError, reason: `rule "R1": operator "*" cannot decide: the result is too large for a number (it depends on request.context.refund_amount)`,
		},
		{
			name:  "what is decided in spite of an unknown operand is decided",
			edits: edits(policyOf(ruleOf("R1", `{"or": [`+unknown+`, true]}`, allow, onExecute), ruleOf("R2", `{"and": [`+unknown+`, false]}`, deny, onExecute))),
			rules: []string{"R1"}, denied: none(),
		},
	})
	result := compile(t, supportPack(t, policyOf(ruleOf("R1", unknown, allow))), reference(t))
	stop := result.Stop
	if stop.Rule != "R1" || stop.Operator != ">" || stop.Variable != "request.context.absent" || stop.Stage != "policy" || stop.At == nil {
		t.Errorf("the stop is %+v", stop)
	}
	last := result.Trace.Rules[len(result.Trace.Rules)-1]
	if last.State != compiler.RuleUndecided || last.Cause == nil {
		t.Errorf("the trace of the rule is %+v", last)
	}
}

func TestConditionsReadRunContextAndRequest(t *testing.T) {
	for _, condition := range []string{
		`{"==": [{"var": "user.role"}, "support_agent"]}`,
		`{"==": [{"var": "tenant_id"}, "tenant_acme_prod"]}`,
		`{"==": [{"var": "request.intent"}, "support.refund"]}`,
		`{"==": [{"var": "request.context.currency"}, "INR"]}`,
		`{"in": ["ord_881", {"var": "request.message"}]}`,
		`{"!": [{"var": "request_id"}]}`, // a member of the invocation alone
	} {
		r := reference(t)
		r.RunContext["request"] = map[string]any{"context": "not this one"}
		r.Invoke["user"] = map[string]any{"role": "not this one"}
		result, _ := compiled(t, supportPack(t, policyOf(ruleOf("R1", condition, allow, onExecute))), r)
		if state := result.Trace.Rules[0].State; state != compiler.RuleThen {
			t.Errorf("%s: %s", condition, state)
		}
	}
}

func TestGates(t *testing.T) {
	named := ruleOf("R1", always, allow, onExecute)
	runScenarios(t, []scenario{
		{
			name:  "named by a surfaced permission and true",
			edits: edits(policyOf(named), gateWhen(always)),
			gates: []string{approval}, warnings: none(),
		},
		{
			name:  "named by a surfaced permission and false",
			edits: edits(policyOf(named), gateWhen(never)),
			gates: none(), warnings: none(),
		},
		{
			name:  "named by a surfaced permission and unknown",
			edits: edits(policyOf(named), gateWhen(unknown)),
			gates: []string{approval},
			warnings: []string{`gate GATE_FINANCE_APPROVAL is active because its condition is unknown: ` +
				`operator ">" cannot decide: variable "request.context.absent" is missing or null, wanted a number`},
		},
		{
			name: "named by a permission that is not surfaced",
			edits: edits(policyOf(ruleOf("R1", always, deny, onExecute)),
				gateWhen(always)),
			gates: none(), tools: []string{readOne, readTwo},
		},
		{
			name: "named by an applicable rule that does not fire",
			edits: edits(remove("/tooling_layer/permissions/p_issue_refund/requires_approval_gate"),
				policyOf(named, ruleOf("R2", never, `{"requires_approval_gate": "GATE_FINANCE_APPROVAL"}`)),
				gateWhen(unknown)),
			gates: []string{approval},
		},
		{
			name: "named by the else of an applicable rule",
			edits: edits(remove("/tooling_layer/permissions/p_issue_refund/requires_approval_gate"),
				policyOf(named, ruleOf("R2", always, `{}`, `"else": {"requires_approval_gate": "GATE_FINANCE_APPROVAL"}`)),
				gateWhen(always)),
			gates: []string{approval},
		},
		{
			name: "named by a rule of another intent alone",
			edits: edits(remove("/tooling_layer/permissions/p_issue_refund/requires_approval_gate"),
				policyOf(named, `{"rule_id": "R2", "applies_to": {"intent": "support.other"}, "if": true, "then": {"requires_approval_gate": "GATE_FINANCE_APPROVAL"}}`),
				gateWhen(always)),
			gates: none(),
		},
		{
			name: "named by nobody",
			edits: edits(remove("/tooling_layer/permissions/p_issue_refund/requires_approval_gate"), policyOf(named),
				gateWhen(always)),
			gates: none(),
		},
		{
			name: "required by a fired outcome whatever its own condition says",
			edits: edits(policyOf(ruleOf("R1", always, `{"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`, onExecute)),
				gateWhen(never)),
			gates: []string{approval}, warnings: none(),
		},
		{
			name: "required by a fired outcome, so that an unknown condition needs no warning",
			edits: edits(policyOf(ruleOf("R1", always, `{"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`, onExecute)),
				gateWhen(unknown)),
			gates: []string{approval}, warnings: none(),
		},
		{
			name: "gates stand in declaration order",
			edits: edits(
				replace("/policy_layer/approval_gates", `[{"gate_id": "G2", "when": true}, {"gate_id": "GATE_FINANCE_APPROVAL", "when": true}, {"gate_id": "G1", "when": true}]`),
				policyOf(ruleOf("R1", always, `{"allow": true, "requires_approval_gate": "G1"}`, onExecute), ruleOf("R2", always, `{"requires_approval_gate": "G2"}`))),
			gates: []string{"G2", approval, "G1"},
		},
	})
}

func TestGateTrace(t *testing.T) {
	result, _ := compiled(t, supportPack(t), reference(t))
	g := result.Trace.Gates[0]
	if !g.Active || g.When != jsonlogic.True || len(g.RequiredBy) != 1 || len(g.NamedBy) != 2 {
		t.Errorf("the gate's trace is %+v", g)
	}
}

package compiler_test

import (
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// refused is a scenario that is refused for a reason.
func refused(name, reason string, request func(*compiler.Request)) scenario {
	return scenario{name: name, outcome: compiler.Refused, reason: reason, request: request}
}

func TestResolver(t *testing.T) {
	refs := func(refs ...any) func(*compiler.Request) {
		return func(r *compiler.Request) { set(r.Invoke, refs, "context_pack_refs") }
	}
	in := func(value any, path ...string) func(*compiler.Request) {
		return func(r *compiler.Request) { set(r.Invoke, value, path...) }
	}
	run := func(value any, path ...string) func(*compiler.Request) {
		return func(r *compiler.Request) { set(r.RunContext, value, path...) }
	}
	catalog := func(c compiler.Catalog) func(*compiler.Request) {
		return func(r *compiler.Request) { c.Name = "prod"; r.Catalog = &c }
	}
	shape := func(ref string) string {
		return `pack reference "` + ref + `" is not of the form pack_id@MAJOR.MINOR.PATCH`
	}
	scenarios := []scenario{
		refused("alias", shape("ctxpack.support@latest"), refs("ctxpack.support@latest")),
		refused("range", shape("ctxpack.support@^1.0.0"), refs("ctxpack.support@^1.0.0")),
		refused("no version", shape("ctxpack.support"), refs("ctxpack.support")),
		refused("two numbers", shape("ctxpack.support@1.0"), refs("ctxpack.support@1.0")),
		refused("four numbers", shape("ctxpack.support@1.0.0.0"), refs("ctxpack.support@1.0.0.0")),
		refused("pre-release", shape("ctxpack.support@1.0.0-rc1"), refs("ctxpack.support@1.0.0-rc1")),
		refused("sign", shape("ctxpack.support@+1.0.0"), refs("ctxpack.support@+1.0.0")),
		refused("no id", shape("@1.0.0"), refs("@1.0.0")),
		refused("bad id", shape("ctx pack@1.0.0"), refs("ctx pack@1.0.0")),
		refused("no text", "pack reference 7 is not of the form pack_id@MAJOR.MINOR.PATCH", refs(7.0)),
		refused("one of several", shape("other"), refs("ctxpack.support@1.0.0", "other")),
		refused("another pack", `the invocation does not name the pack "ctxpack.support"`, refs("ctxpack.finops@1.0.0")),
		refused("no references", "context_pack_refs of the invocation is missing, empty or not a list", refs()),
		refused("references missing", "context_pack_refs of the invocation is missing, empty or not a list", in(nil, "context_pack_refs")),
		refused("no input", "input of the invocation is missing or not an object", in(nil, "input")),
		refused("input no object", "input of the invocation is missing or not an object", in("x", "input")),
		refused("no request_id", "request_id of the invocation is missing or not a text", in(nil, "request_id")),
		refused("no message", "message of the invocation is missing or not a text", in(nil, "input", "message")),
		refused("locale no text", "locale of the invocation is missing or not a text", in(7.0, "input", "locale")),
		refused("no tenant", "tenant_id of the invocation is missing or not a text", in(nil, "tenant_id")),
		refused("other tenant", `the invocation is of tenant "tenant_b" and the pack of tenant "tenant_acme_prod"`, in("tenant_b", "tenant_id")),
		refused("run context of another tenant", `the run context is of tenant "tenant_b" and the pack of tenant "tenant_acme_prod"`, run("tenant_b", "tenant_id")),
		refused("no safety mode", `safety_mode of the run context is missing or not a text, wanted one of read_only, local_write, network, delegated, destructive`, run(nil, "safety_mode")),
		refused("unknown safety mode", `safety_mode of the run context is "yolo", wanted one of read_only, local_write, network, delegated, destructive`, run("yolo", "safety_mode")),
		refused("runtime too old", `requires.runtime is ">=1.0.0" and the runtime of prod has version 0.9.0`, catalog(compiler.Catalog{Runtime: "0.9.0"})),
		refused("runtime no version", `requires.runtime: the version of the runtime of prod, "1.4", is not a semantic version`, catalog(compiler.Catalog{Runtime: "1.4"})),
		refused("intent not in the catalog", `the environment catalog of prod has no intent "support.refund"`, catalog(compiler.Catalog{Intents: []string{"support.other"}})),
		refused("empty intent catalog", `the environment catalog of prod has no intent "support.refund"`, catalog(compiler.Catalog{Intents: []string{}})),
		refused("unknown intent", `the pack knows no intent "support.other", wanted one of support.refund`, in("support.other", "input", "intent")),
		refused("intent of the run context", `the invocation's intent is "support.refund" and the run context's "support.other"`, run("support.other", "intent")),
		refused("intent of the run context no text", "intent of the run context is not a text", run(7.0, "intent")),
		{name: "another version of the pack", request: refs("ctxpack.support@0.9.0")},
		{name: "several packs", request: refs("decision-catalog.support@2.1.0", "ctxpack.support@1.0.0")},
		{name: "several packs, this one first", request: refs("ctxpack.support@1.0.0", "decision-catalog.support@2.1.0")},
		{name: "the same intent", request: run("support.refund", "intent")},
		{name: "catalog fits", request: catalog(compiler.Catalog{Runtime: "1.4.0", Intents: []string{"support.refund"}})},
		{name: "intent of an evaluation target alone", request: in("support.ask", "input", "intent"),
			edits: edits(add("/evaluation_layer/eval_targets/-", `{"intent": "support.ask"}`)), rules: none(), tools: []string{readOne, readTwo}, refuse: []string{guard}},
		{name: "ontology too old", edits: edits(replace("/contract_meta/compatibility/requires/ontology", `">=2.0.0"`)),
			outcome: compiler.Refused, reason: `requires.ontology is ">=2.0.0" and the pack's ontology has version 1.0.0`},
		{name: "no version of the ontology", edits: edits(remove("/intelligence_refs/ontology/version")),
			outcome: compiler.Refused, reason: `requires.ontology is ">=1.0.0" and the pack's ontology has no version`},
		{name: "a pack without intents", edits: edits(replace("/policy_layer/policy_bundles", `[]`), replace("/evaluation_layer/eval_targets", `[]`)),
			outcome: compiler.Refused, reason: "the pack names no intent, in a rule or an evaluation target"},
		{name: "ontology no version", edits: edits(replace("/intelligence_refs/ontology/version", `"one"`)),
			outcome: compiler.Refused, reason: `requires.ontology: the version of the pack's ontology, "one", is not a semantic version`},
	}
	runScenarios(t, scenarios)
}

// A pack that cannot be read as its author meant is refused, at its place.
func TestInvalidPacks(t *testing.T) {
	for _, c := range []struct{ name, path, value, reason, at string }{
		{"expression", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/if", `{"nope": [1]}`,
			`the pack is not valid: if of rule "R_REFUND_REQUIRES_IDV": unknown operator "nope", wanted one of the JsonLogic profile`, "/policy_layer/policy_bundles/0/policy_dsl/rules/0/if"},
		{"gate condition", "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when", `{">": [1]}`,
			`the pack is not valid: when of gate "GATE_FINANCE_APPROVAL": operator ">" has 1 operand, wanted 2`, "/policy_layer/approval_gates/0/when"},
		{"binding", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/decision_binding", `"support.refund.other"`,
			`the pack is not valid: there is no decision "support.refund.other"`, "/policy_layer/policy_bundles/0/policy_dsl/rules/0/decision_binding"},
		{"gate of an outcome", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/then/requires_approval_gate", `"GATE_X"`,
			`the pack is not valid: there is no approval gate "GATE_X"`, "/policy_layer/policy_bundles/0/policy_dsl/rules/1/then/requires_approval_gate"},
		{"gate of a permission", "/tooling_layer/permissions/p_issue_refund/requires_approval_gate", `"GATE_X"`,
			`the pack is not valid: there is no approval gate "GATE_X"`, "/tooling_layer/permissions/2/requires_approval_gate"},
		{"capability of a permission", "/tooling_layer/permissions/p_issue_refund/capability", `"issue"`,
			`the pack is not valid: no adapter has the capability "adp_payments.issue"`, "/tooling_layer/permissions/2/capability"},
		{"allow", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/else/allow", `"false"`,
			"the pack is not valid: /policy_layer/policy_bundles/0/policy_dsl/rules/0/else/allow is a string, wanted a boolean", "/policy_layer/policy_bundles/0/policy_dsl/rules/0/else/allow"},
		{"outcome", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/else", `[]`,
			"the pack is not valid: /policy_layer/policy_bundles/0/policy_dsl/rules/0/else is an array, wanted an object", "/policy_layer/policy_bundles/0/policy_dsl/rules/0/else"},
		{"list", "/policy_layer/guardrails/must_refuse", `"refund_without_identity"`,
			"the pack is not valid: /policy_layer/guardrails/must_refuse is a string, wanted an array", "/policy_layer/guardrails/must_refuse"},
		{"item", "/policy_layer/guardrails/must_refuse", `[7]`,
			"the pack is not valid: /policy_layer/guardrails/must_refuse/0 is a number, wanted a string", "/policy_layer/guardrails/must_refuse/0"},
		{"number", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/priority", `"10"`,
			"the pack is not valid: /policy_layer/policy_bundles/0/priority is a string, wanted a number", "/policy_layer/policy_bundles/0/priority"},
		{"dictionary", "/tooling_layer/permissions/p_issue_refund/arg_constraints", `[]`,
			"the pack is not valid: /tooling_layer/permissions/2/arg_constraints is an array, wanted an object", "/tooling_layer/permissions/2/arg_constraints"},
		{"layer", "/tone_and_comms", `"calm"`,
			"the pack is not valid: /tone_and_comms is a string, wanted an object", "/tone_and_comms"},
		{"version", "/pack_meta/pack_version", `"1.0.0-rc1"`,
			`the pack is not valid: "ctxpack.support@1.0.0-rc1" is not a reference of the form pack_id@MAJOR.MINOR.PATCH`, "/pack_meta/pack_version"},
		{"range", "/contract_meta/compatibility/requires/runtime", `"about 1"`,
			`the pack is not valid: requires.runtime: "about 1" is not a version range`, "/contract_meta/compatibility/requires/runtime"},
		{"capabilities", "/tooling_layer/adapter_registry/adp_orders/capabilities", `["lookup", "lookup"]`,
			`the pack is not valid: capability "adp_orders.lookup" is declared twice`, "/tooling_layer/adapter_registry/0/capabilities/1"},
		{"gates", "/policy_layer/approval_gates", `[{"gate_id": "GATE_FINANCE_APPROVAL", "when": true}, {"gate_id": "GATE_FINANCE_APPROVAL", "when": false}]`,
			`the pack is not valid: gate "GATE_FINANCE_APPROVAL" is declared twice`, "/policy_layer/approval_gates/1/gate_id"},
		{"rules", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/rule_id", `"R_REFUND_REQUIRES_IDV"`,
			`the pack is not valid: rule "R_REFUND_REQUIRES_IDV" is declared twice`, "/policy_layer/policy_bundles/0/policy_dsl/rules/1/rule_id"},
		{"prohibition", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/else", `{"allow": false, "prohibits": ["issue_refnd"]}`,
			`the pack is not valid: no adapter has the capability "issue_refnd"`, "/policy_layer/policy_bundles/0/policy_dsl/rules/0/else/prohibits/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := compile(t, supportPack(t, replace(c.path, c.value)), reference(t))
			stop := result.Stop
			if result.Outcome != compiler.Refused || stop.Reason != c.reason || stop.Stage != "resolve" {
				t.Fatalf("%s at %s: %s, wanted a refusal: %s", result.Outcome, stop.Stage, stop.Reason, c.reason)
			}
			if stop.At == nil || stop.At.Pointer() != c.at {
				t.Errorf("the place is not %s", c.at)
			}
		})
	}
	for _, path := range []string{
		"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/if",
		"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/then",
		"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/rule_id",
		"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when",
		"/tooling_layer/adapter_registry/adp_orders/adapter_id",
		"/pack_meta/tenant",
		"/pack_meta",
	} {
		if result := compile(t, supportPack(t, remove(path)), reference(t)); result.Outcome != compiler.Refused || result.Stop.At == nil {
			t.Errorf("without %s: %s", path, result.Outcome)
		}
	}
}

func TestNotChecked(t *testing.T) {
	p := supportPack(t, add("/contract_meta/compatibility/requires/adapters", `">=2.0.0"`))
	result, _ := compiled(t, p, reference(t))
	check(t, "not checked", result.Trace.NotChecked,
		"requires.runtime: no environment catalog gives the version of the runtime",
		"requires.adapters: nothing gives its version",
		"intent: no environment catalog lists the intents",
	)
	r := reference(t)
	r.Catalog = &compiler.Catalog{Name: "prod", Runtime: "1.4.0", Intents: []string{"support.refund"}}
	result, _ = compiled(t, supportPack(t), r)
	check(t, "not checked", result.Trace.NotChecked)
}

func TestEmptyPack(t *testing.T) {
	empty := pack.New(read(t, []byte(`{}`)))
	if result := compile(t, empty, reference(t)); result.Outcome != compiler.Refused {
		t.Errorf("an empty pack is %s", result.Outcome)
	}
}

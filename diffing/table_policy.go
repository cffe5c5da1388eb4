package diffing

import (
	"github.com/contextosai/packgate/proof"
)

// Where policies stand, in keyed paths.
const (
	bundleAt = "/policy_layer/policy_bundles/*"
	ruleAt   = bundleAt + "/rules/*"
	thenAt   = ruleAt + "/then"
	elseAt   = ruleAt + "/else"
	gateAt   = "/policy_layer/approval_gates/*"
)

func policyRows() []*Row {
	elses := on(elseAt)
	return []*Row{
		{ID: "policy_layer.language", What: "policy_dsl.language changed, or a new bundle in another language", Class: Reject,
			Reason: "an unsupported language fails closed", matcher: on(bundleAt+"/language", bundleAt).where(otherLanguage)},
		{ID: "policy_layer.rationale", What: "rationale", Class: Minor, Human: true,
			Reason: "text that may reach the prompt", matcher: on(ruleAt + "/rationale")},
		{ID: "policy_layer.decision_binding.missing", What: "decision_binding to a missing decision spec", Class: Reject,
			Reason: "it is not stated what the rule decides", matcher: on(ruleAt+"/decision_binding", ruleAt, bundleAt).of(Added, Changed).where(bindsNothing)},
		{ID: "policy_layer.bundle.renamed", What: "bundle renamed", Class: Minor, Human: true,
			Reason: "audit trails name another bundle", matcher: on(bundleAt, bundleAt+"/bundle_id").where(identityMoved("bundle_id"))},
		{ID: "policy_layer.rule.renamed", What: "rule renamed", Class: Minor, Human: true,
			Reason: "audit trails name another rule", matcher: on(ruleAt, ruleAt+"/rule_id").where(identityMoved("rule_id"))},
		{ID: "policy_layer.rule.constrains", What: "new rule that allows nothing: it denies, or asks for evidence, gates or bounds", Class: Minor,
			Reason: "stricter", Proved: true, matcher: on(ruleAt, bundleAt).of(Added).where(constrains)},
		{ID: "policy_layer.rule.added", What: "new rule otherwise", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt, bundleAt).of(Added)},
		{ID: "policy_layer.rule.removed", What: "rule removed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt, bundleAt).of(Removed)},
		{ID: "policy_layer.condition", What: "if changed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt + "/if")},
		{ID: "policy_layer.else.denies", What: "else added that does not allow", Class: Minor,
			Reason: "a new deny", Proved: true, matcher: elses.of(Added).where(func(u *unit) bool { return takesAway(u.new) })},
		{ID: "policy_layer.else.allows", What: "else added that allows, or states a mode without denying", Class: Major,
			Reason: notProved, Proved: true, matcher: elses.of(Added)},
		{ID: "policy_layer.else.removed", What: "else removed", Class: Major,
			Reason: "a deny may be lost", Proved: true, matcher: elses.of(Removed)},
		{ID: "policy_layer.priority", What: "bundle priority", Class: Major, Human: true,
			Reason: "changed behaviour", Proved: true, matcher: on(bundleAt + "/priority")},
		{ID: "policy_layer.intent", What: "rule intent", Class: Major, Human: true,
			Reason: "the rule is about other requests", Proved: true, matcher: on(ruleAt + "/applies_to/intent")},
		{ID: "policy_layer.decision_binding", What: "decision_binding to another existing decision spec, or none", Class: Major, Human: true,
			Reason: "the rule decides something else", Proved: true, matcher: on(ruleAt + "/decision_binding")},
		{ID: "policy_layer.non_enforcing.critical", What: "critical rule marked non_enforcing", Class: Reject,
			Reason: "a delegated or destructive decision no longer fails closed", matcher: on(ruleAt + "/non_enforcing").where(criticalReleased)},
		{ID: "policy_layer.non_enforcing", What: "rule marked non_enforcing", Class: Major, Human: true,
			Reason: "it no longer fails closed", Proved: true, matcher: on(ruleAt + "/non_enforcing").where(flagMoved(true))},
		{ID: "policy_layer.non_enforcing.cleared", What: "rule no longer marked non_enforcing", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt + "/non_enforcing")},
	}
}

func outcomeRows() []*Row {
	both := func(member string) matcher { return on(thenAt+member, elseAt+member) }
	return []*Row{
		{ID: "policy_layer.allow.narrowed", What: "outcome denies, or no longer allows", Class: Minor,
			Reason: "stricter", Proved: true, matcher: both("/allow").where(allowNarrowed)},
		{ID: "policy_layer.allow.widened", What: "outcome allows, or no longer denies", Class: Major,
			Reason: "what is permitted grows", Proved: true, matcher: both("/allow")},
		{ID: "policy_layer.requires.added", What: "evidence required by an outcome added", Class: Minor,
			Reason: "stricter", matcher: both("/requires/*").of(Added)},
		{ID: "policy_layer.requires.removed", What: "evidence required by an outcome removed", Class: Major,
			Reason: "looser", matcher: both("/requires/*").of(Removed)},
		{ID: "policy_layer.approval_mode.lowered", What: "approval_mode of an outcome lowered", Class: Minor, Human: true,
			Reason: "constrains the effect, and changes which tools appear", Proved: true, matcher: both("/approval_mode").where(modeLowered)},
		{ID: "policy_layer.approval_mode.raised", What: "approval_mode of an outcome raised", Class: Major,
			Reason: "stronger effects", Proved: true, matcher: both("/approval_mode")},
		{ID: "policy_layer.outcome_gate.added", What: "gate required by an outcome added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/requires_approval_gate").of(Added)},
		{ID: "policy_layer.outcome_gate.removed", What: "gate required by an outcome changed or removed", Class: Major,
			Reason: "the old gate no longer guards", Proved: true, matcher: both("/requires_approval_gate")},
		{ID: "policy_layer.arg_constraints.tightened", What: "argument bounds of an outcome tightened", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/arg_constraints/*").where(tightened)},
		{ID: "policy_layer.arg_constraints.loosened", What: "argument bounds of an outcome loosened or not comparable", Class: Major,
			Reason: "what is permitted may grow", Proved: true, matcher: both("/arg_constraints/*")},
		{ID: "policy_layer.prohibits.added", What: "prohibited capability added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/prohibits/*").of(Added)},
		{ID: "policy_layer.prohibits.removed", What: "prohibited capability removed", Class: Major,
			Reason: "what is permitted grows", Proved: true, matcher: both("/prohibits/*").of(Removed)},
		{ID: "policy_layer.reason", What: "reason of an outcome", Class: Minor,
			Reason: "this text is part of the prompt", matcher: both("/reason")},
	}
}

func guardRows() []*Row {
	guardrails := on("/policy_layer/guardrails/must_refuse/*", "/policy_layer/guardrails/must_escalate/*",
		"/policy_layer/guardrails/redaction_rules/*")
	gates := on(gateAt)
	ttl := on(gateAt + "/ttl_seconds")
	return []*Row{
		{ID: "policy_layer.guardrail.added", What: "redaction, must_refuse or must_escalate added", Class: Minor,
			Reason: "constrains", matcher: guardrails.of(Added)},
		{ID: "policy_layer.guardrail.last_removed", What: "last guard of a write path removed: no guardrail is left, and no gate before a permitted write", Class: Reject,
			Reason: "a write path without any guard", matcher: guardrails.of(Removed).where(lastGuard)},
		{ID: "policy_layer.guardrail.removed", What: "redaction, must_refuse or must_escalate removed", Class: Major, Human: true,
			Reason: "weaker", matcher: guardrails.of(Removed)},
		{ID: "policy_layer.gate.added", What: "gate added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: gates.of(Added)},
		{ID: "policy_layer.gate.relied_on_removed", What: "gate removed that a destructive capability relied on, and nothing guards it now", Class: Reject,
			Reason: "a destructive capability without a gate", matcher: gates.of(Removed).where(gateReliedOn)},
		{ID: "policy_layer.gate.removed", What: "gate removed", Class: Major,
			Reason: "an approval is lost", Proved: true, matcher: gates.of(Removed)},
		{ID: "policy_layer.gate.when", What: "when of a gate changed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(gateAt + "/when")},
		{ID: "policy_layer.gate.required_approver_role", What: "required_approver_role", Class: Major, Human: true,
			Reason: "another role approves", matcher: on(gateAt + "/required_approver_role")},
		{ID: "policy_layer.gate.ttl_seconds.shorter", What: "ttl_seconds of a gate shorter", Class: Minor,
			Reason: "approvals are valid for less time", matcher: ttl.where(numberMoved(-1))},
		{ID: "policy_layer.gate.ttl_seconds.longer", What: "ttl_seconds of a gate longer, added or removed", Class: Major, Human: true,
			Reason: "approvals are valid for longer", matcher: ttl},
	}
}

// Where tools and decisions stand, in keyed paths.
const (
	adapterAt    = "/tooling_layer/adapter_registry/*"
	capabilityAt = adapterAt + "/capabilities/*"
	permissionAt = "/tooling_layer/permissions/*"
	specAt       = "/decision_layer/decision_specs/*"
)

func toolingRows() []*Row {
	mode := on(adapterAt + "/approval_mode")
	tools := on(adapterAt, capabilityAt, permissionAt, permissionAt+"/allow")
	named := on(adapterAt, capabilityAt, permissionAt, permissionAt+"/adapter_id", permissionAt+"/capability")
	return []*Row{
		{ID: "tooling_layer.unresolved_permission", What: "permission without adapter or capability", Class: Reject,
			Reason: "it permits something that does not exist", matcher: named.where(unresolved)},
		{ID: "tooling_layer.destructive_without_gate", What: "destructive capability added or permitted without a gate", Class: Reject,
			Reason: "nobody approves an effect that cannot be undone", matcher: on(append(named.at, permissionAt+"/allow")...).where(addedUnguarded)},
		{ID: "tooling_layer.idempotency_key.dropped", What: "required idempotency_key dropped on a write", Class: Reject,
			Reason: "a repeated write happens twice", matcher: on(permissionAt, permissionAt+"/arg_constraints/*").where(idempotencyDropped)},
		{ID: "tooling_layer.read_only.shared_endpoint", What: "read_only adapter, capability or permission added, on an endpoint that also serves writing ones", Class: Major, Human: true,
			Reason: "the endpoint can write, and only the pack says that this capability does not", matcher: tools.where(addedBesideWriting)},
		{ID: rowReading, What: "read_only adapter, capability or permission added", Class: Minor,
			Reason: "an additional read-only source of evidence", matcher: tools.where(addedReadOnly)},
		{ID: "tooling_layer.permission.forbids", What: "permission with allow false added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: on(permissionAt).of(Added).where(func(u *unit) bool { return !isTrue(u.new.Get("allow")) })},
		{ID: "tooling_layer.write.added", What: "adapter, capability or permission that writes added", Class: Major,
			Reason: "new effects", matcher: tools.where(addedOrAllowed)},
		{ID: "tooling_layer.adapter.unused_removed", What: "adapter without permission removed", Class: Minor, Human: true,
			Reason: "nothing was permitted to use it", matcher: on(adapterAt).of(Removed).where(func(u *unit) bool { return len(u.uses(u.base)) == 0 })},
		{ID: "tooling_layer.adapter.removed", What: "adapter removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(adapterAt).of(Removed)},
		{ID: "tooling_layer.capability.removed", What: "capability removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(capabilityAt).of(Removed)},
		{ID: "tooling_layer.approval_mode.lowered", What: "approval_mode of an adapter lowered", Class: Reject, Human: true,
			Reason: "it weakens the control of effects", matcher: mode.where(modeLowered)},
		{ID: "tooling_layer.approval_mode.raised", What: "approval_mode of an adapter raised", Class: Major, Human: true,
			Reason: "the tools are no longer available in weaker safety modes", matcher: mode},
		{ID: "tooling_layer.endpoint_ref", What: "endpoint_ref", Class: Major, Human: true, Beyond: true,
			Reason: "the capabilities belong to another endpoint", matcher: on(adapterAt + "/endpoint_ref")},
		{ID: "tooling_layer.type", What: "adapter type", Class: Major, Human: true, Beyond: true,
			Reason: "another protocol", matcher: on(adapterAt + "/type")},
		{ID: "tooling_layer.capability_risks", What: "capability_risks", Class: Major, Human: true,
			Reason: "the risk of an effect is judged again", matcher: on(adapterAt + "/capability_risks/*")},
	}
}

func permissionRows() []*Row {
	gate := on(permissionAt + "/requires_approval_gate")
	bounds := on(permissionAt + "/arg_constraints/*")
	return []*Row{
		{ID: "tooling_layer.permission.renamed", What: "permission renamed", Class: Minor, Human: true,
			Reason: "audit trails name another permission", matcher: on(permissionAt, permissionAt+"/permission_id").where(identityMoved("permission_id"))},
		{ID: "tooling_layer.permission.retargeted", What: "adapter_id or capability of a permission changed", Class: Major,
			Reason: "another capability is permitted, and the old one is not", matcher: on(permissionAt+"/adapter_id", permissionAt+"/capability")},
		{ID: "tooling_layer.permission.removed", What: "permission removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(permissionAt).of(Removed)},
		{ID: "tooling_layer.permission.forbidden", What: "allow of a permission from true to false", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(permissionAt + "/allow").where(flagMoved(false))},
		{ID: "tooling_layer.arg_constraints.tightened", What: "argument bounds of a permission tightened", Class: Minor,
			Reason: "constrains", Proved: true, matcher: bounds.where(tightened)},
		{ID: "tooling_layer.arg_constraints.loosened", What: "argument bounds of a permission loosened or not comparable", Class: Major,
			Reason: "what is permitted may grow", Proved: true, matcher: bounds},
		{ID: "tooling_layer.permission_gate.added", What: "gate of a permission added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: gate.of(Added)},
		{ID: "tooling_layer.permission_gate.destructive_removed", What: "gate of a destructive permission removed", Class: Reject,
			Reason: "a destructive capability without a gate", matcher: gate.where(destructiveGateLost)},
		{ID: "tooling_layer.permission_gate.removed", What: "gate of a permission changed or removed", Class: Major,
			Reason: "the old gate no longer guards", Proved: true, matcher: gate},
	}
}

func decisionRows() []*Row {
	evidence := on(specAt + "/required_evidence/*")
	mode := on(specAt + "/approval_mode")
	eligibility := on(specAt + "/eligibility_rules")
	version := on(specAt + "/version")
	specs := on(specAt)
	outcomes := on(specAt + "/allowed_outcomes/*")
	return []*Row{
		{ID: "decision_layer.allowed_outcomes.added", What: "allowed outcome added", Class: Major,
			Reason: "changed outcome set", matcher: outcomes.of(Added)},
		{ID: "decision_layer.allowed_outcomes", What: "allowed outcome removed", Class: Major,
			Reason: "changed outcome set", matcher: outcomes},
		{ID: "decision_layer.required_evidence.added", What: "required_evidence added", Class: Major, Human: true,
			Reason: "changed required evidence, though it is stricter", matcher: evidence.of(Added)},
		{ID: "decision_layer.required_evidence.removed", What: "required_evidence removed", Class: Major,
			Reason: "changed required evidence", matcher: evidence.of(Removed)},
		{ID: "decision_layer.approval_mode.below_effect", What: "approval_mode of a decision lowered below an effect", Class: Reject,
			Reason: "the decision has effects that it may not authorise", matcher: mode.where(belowEffect)},
		{ID: "decision_layer.approval_mode.lowered", What: "approval_mode of a decision lowered", Class: Major,
			Reason: "some effects are no longer authorised", matcher: mode.where(modeLowered)},
		{ID: "decision_layer.approval_mode.raised", What: "approval_mode of a decision raised", Class: Minor, Human: true,
			Reason: "the decision is handled as more dangerous", matcher: mode},
		{ID: "decision_layer.decision_right.further", What: "decision_right goes further: from propose over recommend to execute, or unknown", Class: Major, Human: true,
			Reason: "agents may go further in the decision", matcher: on(specAt + "/decision_right").where(rightGoesFurther)},
		{ID: "decision_layer.decision_right", What: "decision_right", Class: Major, Human: true,
			Reason: "changed contract of the decision", matcher: on(specAt + "/decision_right")},
		{ID: "decision_layer.schema_ref", What: "inputs_schema_ref or outputs_schema_ref", Class: Major, Human: true, Beyond: true,
			Reason: "changed contract of the decision", matcher: on(specAt+"/inputs_schema_ref", specAt+"/outputs_schema_ref")},
		{ID: "decision_layer.eligibility_rules.added", What: "eligibility_rules added", Class: Minor, Human: true,
			Reason: "stricter", matcher: eligibility.of(Added)},
		{ID: "decision_layer.eligibility_rules.rewritten", What: "eligibility_rules rewritten, with the same requests eligible", Class: Patch,
			Reason: "proved: the same requests are eligible", matcher: eligibility.where(eligibilityIs(proof.Equal))},
		{ID: "decision_layer.eligibility_rules.stricter", What: "eligibility_rules stricter", Class: Minor, Human: true,
			Reason: "proved: no more requests are eligible", matcher: eligibility.where(eligibilityIs(proof.Shrank))},
		{ID: "decision_layer.eligibility_rules", What: "eligibility_rules removed, or not proved to be stricter", Class: Major, Human: true,
			Reason: "more requests may be eligible", matcher: eligibility},
		{ID: "decision_layer.owner_role", What: "owner_role", Class: Patch, Human: true,
			Reason: "documents the owner, although it is a field of the contract", matcher: on(specAt + "/owner_role")},
		{ID: "decision_layer.version.patch", What: "version of a spec: patch or less changed", Class: Patch, Human: true,
			Reason: "the spec's own step", matcher: version.where(stepIs(None, Patch))},
		{ID: "decision_layer.version.minor", What: "version of a spec: minor changed", Class: Minor, Human: true,
			Reason: "the spec's own step", matcher: version.where(stepIs(Minor))},
		{ID: "decision_layer.version.major", What: "version of a spec: major changed, or no version", Class: Major, Human: true,
			Reason: "the spec's own step", matcher: version},
		{ID: "decision_layer.spec.added_without_effect", What: "new spec that is read_only, or proposes or recommends", Class: Minor, Human: true,
			Reason: "no effect of its own", matcher: specs.of(Added).where(withoutEffect)},
		{ID: "decision_layer.spec.added", What: "new spec otherwise", Class: Major, Human: true,
			Reason: "new effects", matcher: specs.of(Added)},
		{ID: "decision_layer.spec.bound_removed", What: "spec removed that a rule still binds", Class: Reject,
			Reason: "it is not stated what the rule decides", matcher: specs.of(Removed).where(stillBound)},
		{ID: "decision_layer.spec.removed", What: "spec removed", Class: Major,
			Reason: "a decision is lost", matcher: specs.of(Removed)},
	}
}

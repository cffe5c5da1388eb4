package diffing

// Where policies stand, in keyed paths.
const (
	bundleAt = "/policy_layer/policy_bundles/*"
	ruleAt   = bundleAt + "/rules/*"
	thenAt   = ruleAt + "/then"
	elseAt   = ruleAt + "/else"
	gateAt   = "/policy_layer/approval_gates/*"
)

func policyRows() []*Row {
	const layer = "policy_layer"
	elses := on(elseAt)
	return []*Row{
		{ID: "policy_layer.language", Layer: layer, What: "policy_dsl.language changed, or a new bundle in another language", Class: Reject,
			Reason: "an unsupported language fails closed", matcher: on(bundleAt+"/language", bundleAt).where(otherLanguage)},
		{ID: "policy_layer.rationale", Layer: layer, What: "rationale", Class: Patch, Human: true,
			Reason: "documentation, though it may be compiled", matcher: on(ruleAt + "/rationale")},
		{ID: "policy_layer.decision_binding.missing", Layer: layer, What: "decision_binding to a missing decision spec", Class: Reject,
			Reason: "nothing says what the rule decides", matcher: on(ruleAt+"/decision_binding", ruleAt, bundleAt).of(Added, Changed).where(bindsNothing)},
		{ID: "policy_layer.bundle.renamed", Layer: layer, What: "bundle renamed", Class: Minor, Human: true,
			Reason: "audit trails name another bundle", matcher: on(bundleAt, bundleAt+"/bundle_id").where(identityMoved("bundle_id"))},
		{ID: "policy_layer.rule.renamed", Layer: layer, What: "rule renamed", Class: Minor, Human: true,
			Reason: "audit trails name another rule", matcher: on(ruleAt, ruleAt+"/rule_id").where(identityMoved("rule_id"))},
		{ID: "policy_layer.rule.constrains", Layer: layer, What: "new rule that allows nothing: it denies, or asks for evidence, gates or bounds", Class: Minor,
			Reason: "stricter", Proved: true, matcher: on(ruleAt, bundleAt).of(Added).where(constrains)},
		{ID: "policy_layer.rule.added", Layer: layer, What: "new rule otherwise", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt, bundleAt).of(Added)},
		{ID: "policy_layer.rule.removed", Layer: layer, What: "rule removed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt, bundleAt).of(Removed)},
		{ID: "policy_layer.condition", Layer: layer, What: "if changed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt + "/if")},
		{ID: "policy_layer.else.denies", Layer: layer, What: "else added that does not allow", Class: Minor,
			Reason: "a new deny", Proved: true, matcher: elses.of(Added).where(elseTakesAway)},
		{ID: "policy_layer.else.allows", Layer: layer, What: "else added that allows, or states a mode without denying", Class: Major,
			Reason: notProved, Proved: true, matcher: elses.of(Added)},
		{ID: "policy_layer.else.removed", Layer: layer, What: "else removed", Class: Major,
			Reason: "a deny may be lost", Proved: true, matcher: elses.of(Removed)},
		{ID: "policy_layer.priority", Layer: layer, What: "bundle priority", Class: Major, Human: true,
			Reason: "changed behaviour", Proved: true, matcher: on(bundleAt + "/priority")},
		{ID: "policy_layer.intent", Layer: layer, What: "rule intent", Class: Major, Human: true,
			Reason: "the rule is about other requests", Proved: true, matcher: on(ruleAt + "/applies_to/intent")},
		{ID: "policy_layer.decision_binding", Layer: layer, What: "decision_binding to another existing decision spec, or none", Class: Major, Human: true,
			Reason: "the rule decides something else", Proved: true, matcher: on(ruleAt + "/decision_binding")},
		{ID: "policy_layer.non_enforcing.critical", Layer: layer, What: "critical rule marked non_enforcing", Class: Reject,
			Reason: "a delegated or destructive decision no longer fails closed", matcher: on(ruleAt + "/non_enforcing").where(criticalReleased)},
		{ID: "policy_layer.non_enforcing", Layer: layer, What: "rule marked non_enforcing", Class: Major, Human: true,
			Reason: "it no longer fails closed", Proved: true, matcher: on(ruleAt + "/non_enforcing").where(released)},
		{ID: "policy_layer.non_enforcing.cleared", Layer: layer, What: "rule no longer marked non_enforcing", Class: Major,
			Reason: notProved, Proved: true, matcher: on(ruleAt + "/non_enforcing")},
	}
}

func outcomeRows() []*Row {
	const layer = "policy_layer"
	both := func(member string) matcher { return on(thenAt+member, elseAt+member) }
	return []*Row{
		{ID: "policy_layer.allow.narrowed", Layer: layer, What: "outcome denies, or no longer allows", Class: Minor,
			Reason: "stricter", Proved: true, matcher: both("/allow").where(allowNarrowed)},
		{ID: "policy_layer.allow.widened", Layer: layer, What: "outcome allows, or no longer denies", Class: Major,
			Reason: "what is permitted grows", Proved: true, matcher: both("/allow")},
		{ID: "policy_layer.requires.added", Layer: layer, What: "evidence required by an outcome added", Class: Minor,
			Reason: "stricter", matcher: both("/requires/*").of(Added)},
		{ID: "policy_layer.requires.removed", Layer: layer, What: "evidence required by an outcome removed", Class: Major,
			Reason: "looser", matcher: both("/requires/*").of(Removed)},
		{ID: "policy_layer.approval_mode.lowered", Layer: layer, What: "approval_mode of an outcome lowered", Class: Minor, Human: true,
			Reason: "constrains the effect, and changes which tools appear", Proved: true, matcher: both("/approval_mode").where(modeLowered)},
		{ID: "policy_layer.approval_mode.raised", Layer: layer, What: "approval_mode of an outcome raised", Class: Major,
			Reason: "stronger effects", Proved: true, matcher: both("/approval_mode")},
		{ID: "policy_layer.outcome_gate.added", Layer: layer, What: "gate required by an outcome added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/requires_approval_gate").of(Added)},
		{ID: "policy_layer.outcome_gate.removed", Layer: layer, What: "gate required by an outcome changed or removed", Class: Major,
			Reason: "the old gate no longer guards", Proved: true, matcher: both("/requires_approval_gate")},
		{ID: "policy_layer.arg_constraints.tightened", Layer: layer, What: "argument bounds of an outcome tightened", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/arg_constraints/*").where(tightened)},
		{ID: "policy_layer.arg_constraints.loosened", Layer: layer, What: "argument bounds of an outcome loosened or not comparable", Class: Major,
			Reason: "what is permitted may grow", Proved: true, matcher: both("/arg_constraints/*")},
		{ID: "policy_layer.prohibits.added", Layer: layer, What: "prohibited capability added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: both("/prohibits/*").of(Added)},
		{ID: "policy_layer.prohibits.removed", Layer: layer, What: "prohibited capability removed", Class: Major,
			Reason: "what is permitted grows", Proved: true, matcher: both("/prohibits/*").of(Removed)},
		{ID: "policy_layer.reason", Layer: layer, What: "reason of an outcome", Class: Patch,
			Reason: "documentation", matcher: both("/reason")},
	}
}

func guardRows() []*Row {
	const layer = "policy_layer"
	guardrails := on("/policy_layer/guardrails/must_refuse/*", "/policy_layer/guardrails/must_escalate/*",
		"/policy_layer/guardrails/redaction_rules/*")
	gates := on(gateAt)
	ttl := on(gateAt + "/ttl_seconds")
	return []*Row{
		{ID: "policy_layer.guardrail.added", Layer: layer, What: "redaction, must_refuse or must_escalate added", Class: Minor,
			Reason: "constrains", matcher: guardrails.of(Added)},
		{ID: "policy_layer.guardrail.last_removed", Layer: layer, What: "last guard of a write path removed: no guardrail is left, and no gate before a permitted write", Class: Reject,
			Reason: "a write path without any guard", matcher: guardrails.of(Removed).where(lastGuard)},
		{ID: "policy_layer.guardrail.removed", Layer: layer, What: "redaction, must_refuse or must_escalate removed", Class: Major, Human: true,
			Reason: "weaker", matcher: guardrails.of(Removed)},
		{ID: "policy_layer.gate.added", Layer: layer, What: "gate added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: gates.of(Added)},
		{ID: "policy_layer.gate.relied_on_removed", Layer: layer, What: "gate removed that a destructive capability relied on, and nothing guards it now", Class: Reject,
			Reason: "a destructive capability without a gate", matcher: gates.of(Removed).where(gateReliedOn)},
		{ID: "policy_layer.gate.removed", Layer: layer, What: "gate removed", Class: Major,
			Reason: "an approval is lost", Proved: true, matcher: gates.of(Removed)},
		{ID: "policy_layer.gate.when", Layer: layer, What: "when of a gate changed", Class: Major,
			Reason: notProved, Proved: true, matcher: on(gateAt + "/when")},
		{ID: "policy_layer.gate.required_approver_role", Layer: layer, What: "required_approver_role", Class: Major, Human: true,
			Reason: "authority moves", matcher: on(gateAt + "/required_approver_role")},
		{ID: "policy_layer.gate.ttl_seconds.shorter", Layer: layer, What: "ttl_seconds of a gate shorter", Class: Minor,
			Reason: "approvals are valid for less time", matcher: ttl.where(numberLowered)},
		{ID: "policy_layer.gate.ttl_seconds.longer", Layer: layer, What: "ttl_seconds of a gate longer, added or removed", Class: Major, Human: true,
			Reason: "approvals are valid for longer", matcher: ttl},
	}
}

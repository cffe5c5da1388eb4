package diffing

import "github.com/contextosai/packgate/proof"

// Where tools and decisions stand, in keyed paths.
const (
	adapterAt    = "/tooling_layer/adapter_registry/*"
	capabilityAt = adapterAt + "/capabilities/*"
	permissionAt = "/tooling_layer/permissions/*"
	specAt       = "/decision_layer/decision_specs/*"
)

func toolingRows() []*Row {
	const layer = "tooling_layer"
	mode := on(adapterAt + "/approval_mode")
	tools := on(adapterAt, capabilityAt, permissionAt, permissionAt+"/allow")
	named := on(adapterAt, capabilityAt, permissionAt, permissionAt+"/adapter_id", permissionAt+"/capability")
	return []*Row{
		{ID: "tooling_layer.unresolved_permission", Layer: layer, What: "permission without adapter or capability", Class: Reject,
			Reason: "it permits what is not there", matcher: named.where(unresolved)},
		{ID: "tooling_layer.destructive_without_gate", Layer: layer, What: "destructive capability added or permitted without a gate", Class: Reject,
			Reason: "nobody approves an effect that cannot be undone", matcher: on(append(named.at, permissionAt+"/allow")...).where(addedUnguarded)},
		{ID: "tooling_layer.idempotency_key.dropped", Layer: layer, What: "required idempotency_key dropped on a write", Class: Reject,
			Reason: "a write that is repeated happens twice", matcher: on(permissionAt, permissionAt+"/arg_constraints/*").where(idempotencyDropped)},
		{ID: rowReading, Layer: layer, What: "read_only adapter, capability or permission added", Class: Minor,
			Reason: "an additional read-only source of evidence", matcher: tools.where(addedReadOnly)},
		{ID: "tooling_layer.permission.forbids", Layer: layer, What: "permission with allow false added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: on(permissionAt).of(Added).where(forbids)},
		{ID: "tooling_layer.write.added", Layer: layer, What: "adapter, capability or permission that writes added", Class: Major,
			Reason: "new effects", matcher: tools.where(addedOrAllowed)},
		{ID: "tooling_layer.adapter.unused_removed", Layer: layer, What: "adapter without permission removed", Class: Minor, Human: true,
			Reason: "nothing was permitted to use it", matcher: on(adapterAt).of(Removed).where(unused)},
		{ID: "tooling_layer.adapter.removed", Layer: layer, What: "adapter removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(adapterAt).of(Removed)},
		{ID: "tooling_layer.capability.removed", Layer: layer, What: "capability removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(capabilityAt).of(Removed)},
		{ID: "tooling_layer.approval_mode.lowered", Layer: layer, What: "approval_mode of an adapter lowered", Class: Reject, Human: true,
			Reason: "it weakens the control of effects", matcher: mode.where(modeLowered)},
		{ID: "tooling_layer.approval_mode.raised", Layer: layer, What: "approval_mode of an adapter raised", Class: Major, Human: true,
			Reason: "the tools vanish from weaker safety modes", matcher: mode},
		{ID: "tooling_layer.endpoint_ref", Layer: layer, What: "endpoint_ref", Class: Minor, Human: true,
			Reason: "a place that overlays may set", matcher: on(adapterAt + "/endpoint_ref")},
		{ID: "tooling_layer.type", Layer: layer, What: "adapter type", Class: Major, Human: true,
			Reason: "another protocol", matcher: on(adapterAt + "/type")},
		{ID: "tooling_layer.capability_risks", Layer: layer, What: "capability_risks", Class: Major, Human: true,
			Reason: "the risk of an effect is judged anew", matcher: on(adapterAt + "/capability_risks/*")},
	}
}

func permissionRows() []*Row {
	const layer = "tooling_layer"
	gate := on(permissionAt + "/requires_approval_gate")
	bounds := on(permissionAt + "/arg_constraints/*")
	return []*Row{
		{ID: "tooling_layer.permission.renamed", Layer: layer, What: "permission renamed", Class: Minor, Human: true,
			Reason: "audit trails name another permission", matcher: on(permissionAt, permissionAt+"/permission_id").where(identityMoved("permission_id"))},
		{ID: "tooling_layer.permission.retargeted", Layer: layer, What: "adapter_id or capability of a permission changed", Class: Major,
			Reason: "another capability is permitted, and the old one is not", matcher: on(permissionAt+"/adapter_id", permissionAt+"/capability")},
		{ID: "tooling_layer.permission.removed", Layer: layer, What: "permission removed", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(permissionAt).of(Removed)},
		{ID: "tooling_layer.permission.forbidden", Layer: layer, What: "allow of a permission from true to false", Class: Major, Human: true,
			Reason: "a removed capability breaks invocations, though it constrains", matcher: on(permissionAt + "/allow").where(forbidden)},
		{ID: "tooling_layer.arg_constraints.tightened", Layer: layer, What: "argument bounds of a permission tightened", Class: Minor,
			Reason: "constrains", Proved: true, matcher: bounds.where(tightened)},
		{ID: "tooling_layer.arg_constraints.loosened", Layer: layer, What: "argument bounds of a permission loosened or not comparable", Class: Major,
			Reason: "what is permitted may grow", Proved: true, matcher: bounds},
		{ID: "tooling_layer.permission_gate.added", Layer: layer, What: "gate of a permission added", Class: Minor,
			Reason: "constrains", Proved: true, matcher: gate.of(Added)},
		{ID: "tooling_layer.permission_gate.destructive_removed", Layer: layer, What: "gate of a destructive permission removed", Class: Reject,
			Reason: "a destructive capability without a gate", matcher: gate.where(destructiveGateLost)},
		{ID: "tooling_layer.permission_gate.removed", Layer: layer, What: "gate of a permission changed or removed", Class: Major,
			Reason: "the old gate no longer guards", Proved: true, matcher: gate},
	}
}

func decisionRows() []*Row {
	const layer = "decision_layer"
	evidence := on(specAt + "/required_evidence/*")
	mode := on(specAt + "/approval_mode")
	eligibility := on(specAt + "/eligibility_rules")
	version := on(specAt + "/version")
	specs := on(specAt)
	return []*Row{
		{ID: "decision_layer.allowed_outcomes", Layer: layer, What: "allowed_outcomes added or removed", Class: Major,
			Reason: "changed outcome set", matcher: on(specAt + "/allowed_outcomes/*")},
		{ID: "decision_layer.required_evidence.added", Layer: layer, What: "required_evidence added", Class: Major, Human: true,
			Reason: "changed required evidence, though it is stricter", matcher: evidence.of(Added)},
		{ID: "decision_layer.required_evidence.removed", Layer: layer, What: "required_evidence removed", Class: Major,
			Reason: "changed required evidence", matcher: evidence.of(Removed)},
		{ID: "decision_layer.approval_mode.below_effect", Layer: layer, What: "approval_mode of a decision lowered below an effect", Class: Reject,
			Reason: "the decision has effects that it may not authorise", matcher: mode.where(belowEffect)},
		{ID: "decision_layer.approval_mode.lowered", Layer: layer, What: "approval_mode of a decision lowered", Class: Major,
			Reason: "effects that were authorised are no longer", matcher: mode.where(modeLowered)},
		{ID: "decision_layer.approval_mode.raised", Layer: layer, What: "approval_mode of a decision raised", Class: Minor, Human: true,
			Reason: "the decision is handled as more dangerous", matcher: mode},
		{ID: "decision_layer.decision_right", Layer: layer, What: "decision_right", Class: Major, Human: true,
			Reason: "changed contract of the decision", matcher: on(specAt + "/decision_right")},
		{ID: "decision_layer.schema_ref", Layer: layer, What: "inputs_schema_ref or outputs_schema_ref", Class: Major, Human: true,
			Reason: "changed contract of the decision", matcher: on(specAt+"/inputs_schema_ref", specAt+"/outputs_schema_ref")},
		{ID: "decision_layer.eligibility_rules.added", Layer: layer, What: "eligibility_rules added", Class: Minor, Human: true,
			Reason: "stricter", matcher: eligibility.of(Added)},
		{ID: "decision_layer.eligibility_rules.rewritten", Layer: layer, What: "eligibility_rules written otherwise, with the same requests eligible", Class: Patch,
			Reason: "proved: the same requests are eligible", matcher: eligibility.where(eligibilityIs(proof.Equal))},
		{ID: "decision_layer.eligibility_rules.stricter", Layer: layer, What: "eligibility_rules stricter", Class: Minor, Human: true,
			Reason: "proved: no more requests are eligible", matcher: eligibility.where(eligibilityIs(proof.Shrank))},
		{ID: "decision_layer.eligibility_rules", Layer: layer, What: "eligibility_rules removed, or not proved to be stricter", Class: Major, Human: true,
			Reason: "more requests may be eligible", matcher: eligibility},
		{ID: "decision_layer.owner_role", Layer: layer, What: "owner_role", Class: Patch, Human: true,
			Reason: "a note on the owner, though a field of the contract", matcher: on(specAt + "/owner_role")},
		{ID: "decision_layer.version.patch", Layer: layer, What: "version of a spec: patch or less moved", Class: Patch, Human: true,
			Reason: "the spec's own step", matcher: version.where(stepIs(None, Patch))},
		{ID: "decision_layer.version.minor", Layer: layer, What: "version of a spec: minor moved", Class: Minor, Human: true,
			Reason: "the spec's own step", matcher: version.where(stepIs(Minor))},
		{ID: "decision_layer.version.major", Layer: layer, What: "version of a spec: major moved, or no version", Class: Major, Human: true,
			Reason: "the spec's own step", matcher: version},
		{ID: "decision_layer.spec.added_without_effect", Layer: layer, What: "new spec that is read_only, or proposes or recommends", Class: Minor, Human: true,
			Reason: "no effect of its own", matcher: specs.of(Added).where(withoutEffect)},
		{ID: "decision_layer.spec.added", Layer: layer, What: "new spec otherwise", Class: Major, Human: true,
			Reason: "new effects", matcher: specs.of(Added)},
		{ID: "decision_layer.spec.bound_removed", Layer: layer, What: "spec removed that a rule still binds", Class: Reject,
			Reason: "nothing says what the rule decides", matcher: specs.of(Removed).where(stillBound)},
		{ID: "decision_layer.spec.removed", Layer: layer, What: "spec removed", Class: Major,
			Reason: "a decision is lost", matcher: specs.of(Removed)},
	}
}

package diffing

import "slices"

// The rows that the comparison itself names.
const (
	rowSameVersion = "any.same_version"
	rowGoesBack    = "any.goes_back"
	rowDefault     = "any.default"
	rowUnknown     = "any.unknown_member"
	rowOther       = "any.other"
	rowReading     = "tooling_layer.read_only.added"
)

// notProved is the reason of every row about a condition: the text of an
// expression does not show what it permits.
const notProved = "not proved: what is permitted may have grown"

// table makes the class table.
func table() []*Row {
	return slices.Concat(
		anyRows(), contractRows(), packRows(), intelligenceRows(), businessRows(),
		policyRows(), outcomeRows(), guardRows(), toolingRows(), permissionRows(),
		decisionRows(), memoryRows(), evaluationRows(), toneRows(), lastRows(),
	)
}

// on returns a matcher for changes of any kind at places.
func on(patterns ...string) matcher { return matcher{at: patterns} }

// of narrows a matcher to kinds of changes.
func (m matcher) of(kinds ...Kind) matcher {
	m.kinds = kinds
	return m
}

// where narrows a matcher to changes for which the condition holds.
func (m matcher) where(holds func(*unit) bool) matcher {
	m.when = holds
	return m
}

func anyRows() []*Row {
	return []*Row{
		{ID: "any.formatting", Layer: "any", What: "formatting or the order of members only", Class: None,
			Reason: "the canonical forms (RFC 8785) are equal"},
		{ID: rowSameVersion, Layer: "any", What: "the same pack_version with another canonical form", Class: Reject,
			Reason: "an id with a version never changes its content"},
		{ID: rowGoesBack, Layer: "any", What: "a pack_version that is not greater", Class: Reject,
			Reason: "to go back is to pin an earlier version, not to issue it again"},
		{ID: rowDefault, Layer: "any", What: "an empty list or object, or a mark or bound that bounds nothing, written out or left out", Class: Patch,
			Reason:  "it says what holds without it",
			matcher: on(ruleAt+"/non_enforcing", permissionAt+"/arg_constraints/*", thenAt+"/arg_constraints/*", elseAt+"/arg_constraints/*").where(saysNothing)},
		{ID: rowUnknown, Layer: "any", What: "a member that the contract does not know", Class: Minor, Human: true,
			Reason: "nothing that is known reads it"},
	}
}

func lastRows() []*Row {
	return []*Row{{ID: rowOther, Layer: "any", What: "anything else", Class: Major,
		Reason: "the table does not mention it, so it may change behaviour"}}
}

func contractRows() []*Row {
	const layer = "contract_meta"
	requires := on("/contract_meta/compatibility/requires/*")
	version := on("/contract_meta/contract_version")
	return []*Row{
		{ID: "contract_meta.created_at", Layer: layer, What: "created_at", Class: Patch,
			Reason: "metadata", matcher: on("/contract_meta/created_at")},
		{ID: "contract_meta.contract_name", Layer: layer, What: "contract_name", Class: Reject,
			Reason: "it must be stable", matcher: on("/contract_meta/contract_name")},
		{ID: "contract_meta.issuer", Layer: layer, What: "issuer", Class: Major, Human: true,
			Reason: "someone else answers for the pack", matcher: on("/contract_meta/issuer")},
		{ID: "contract_meta.contract_version.patch", Layer: layer, What: "contract_version: patch or less moved", Class: Patch, Human: true,
			Reason: "compatible schema", matcher: version.where(stepIs(None, Patch))},
		{ID: "contract_meta.contract_version.minor", Layer: layer, What: "contract_version: minor moved", Class: Minor, Human: true,
			Reason: "compatible schema with additions", matcher: version.where(stepIs(Minor))},
		{ID: "contract_meta.contract_version.major", Layer: layer, What: "contract_version: major moved, or no version", Class: Major, Human: true,
			Reason: "a breaking schema is a new major contract", matcher: version},
		{ID: "contract_meta.requires.runtime_removed", Layer: layer, What: "requires: runtime removed", Class: Reject,
			Reason: "what runtime a pack needs must be explicit", matcher: requires.of(Removed).where(named("runtime"))},
		{ID: "contract_meta.requires.removed", Layer: layer, What: "requires: another key removed", Class: Major, Human: true,
			Reason: "it runs where it was refused", matcher: requires.of(Removed)},
		{ID: "contract_meta.requires.raised", Layer: layer, What: "requires: bound raised or key added", Class: Major, Human: true,
			Reason: "old runtimes now refuse it, so existing invocations break", matcher: requires.where(boundRaised)},
		{ID: "contract_meta.requires.lowered", Layer: layer, What: "requires: bound lowered or written otherwise", Class: Major, Human: true,
			Reason: "it may run where it was refused", matcher: requires},
	}
}

func packRows() []*Row {
	const layer = "pack_meta"
	classification := on("/pack_meta/data_classification")
	defaults := func(name string) matcher { return on("/pack_meta/environment_defaults/" + name) }
	return []*Row{
		{ID: "pack_meta.pack_id", Layer: layer, What: "pack_id", Class: Reject,
			Reason: "it is another pack", matcher: on("/pack_meta/pack_id")},
		{ID: "pack_meta.tenant.name", Layer: layer, What: "tenant.name", Class: Patch,
			Reason: "a label", matcher: on("/pack_meta/tenant/name")},
		{ID: "pack_meta.tenant.tenant_id", Layer: layer, What: "tenant.tenant_id", Class: Reject,
			Reason: "the boundary of the tenant", matcher: on("/pack_meta/tenant/tenant_id")},
		{ID: "pack_meta.language", Layer: layer, What: "language", Class: Minor, Human: true,
			Reason: "a default that overlays may set", matcher: defaults("language")},
		{ID: "pack_meta.timezone", Layer: layer, What: "timezone", Class: Minor, Human: true,
			Reason: "a default that overlays may set", matcher: defaults("timezone")},
		{ID: "pack_meta.currency", Layer: layer, What: "currency", Class: Major, Human: true,
			Reason: "it alters what thresholds mean", matcher: defaults("currency")},
		{ID: "pack_meta.region", Layer: layer, What: "region", Class: Major, Human: true,
			Reason: "it alters where data resides", matcher: defaults("region")},
		{ID: "pack_meta.ttl_seconds", Layer: layer, What: "ttl_seconds", Class: Minor, Human: true,
			Reason: "freshness only", matcher: on("/pack_meta/ttl_seconds")},
		{ID: "pack_meta.data_classification.raised", Layer: layer, What: "data_classification raised", Class: Minor,
			Reason: "constrains", matcher: classification.where(classificationRaised)},
		{ID: "pack_meta.data_classification.lowered", Layer: layer, What: "data_classification lowered, or unknown", Class: Major, Human: true,
			Reason: "it weakens the control of exports and traces; ask for a security review", matcher: classification},
	}
}

func intelligenceRows() []*Row {
	const layer = "intelligence_refs"
	namespace := on("/intelligence_refs/ontology/namespace")
	types := on("/intelligence_refs/ontology/entity_types/*", "/intelligence_refs/ontology/relationship_types/*")
	pin := on("/intelligence_refs/knowledge_graph/snapshot_pin_rule")
	subjects := on("/intelligence_refs/identity_layer/ceid_namespaces/*")
	keys := on("/intelligence_refs/embedding_keys/*")
	return []*Row{
		{ID: "intelligence_refs.ontology.version", Layer: layer, What: "ontology.version", Class: Major,
			Reason: "changed ontology semantics", matcher: on("/intelligence_refs/ontology/version")},
		{ID: "intelligence_refs.ontology.namespace.raised", Layer: layer, What: "ontology.namespace, with ontology.version and the pack's major raised", Class: Major,
			Reason: "it changes what every type means", matcher: namespace.where(ontologyReissued)},
		{ID: "intelligence_refs.ontology.namespace", Layer: layer, What: "ontology.namespace otherwise", Class: Reject,
			Reason: "it changes what every type means, and the versions do not say so", matcher: namespace},
		{ID: "intelligence_refs.types.added", Layer: layer, What: "entity or relationship type added", Class: Minor,
			Reason: "more to read", matcher: types.of(Added)},
		{ID: "intelligence_refs.types.removed", Layer: layer, What: "entity or relationship type removed", Class: Major,
			Reason: "meaning is removed", matcher: types.of(Removed)},
		{ID: "intelligence_refs.snapshot_pin_rule.alias", Layer: layer, What: "snapshot_pin_rule: alias to another alias", Class: Major, Human: true,
			Reason: "the source of evidence changes", matcher: pin.where(pinMoves(true, true))},
		{ID: "intelligence_refs.snapshot_pin_rule.fixed", Layer: layer, What: "snapshot_pin_rule: alias to a fixed snapshot", Class: Minor, Human: true,
			Reason: "constrains", matcher: pin.where(pinMoves(true, false))},
		{ID: "intelligence_refs.snapshot_pin_rule.moved", Layer: layer, What: "snapshot_pin_rule: fixed to an alias or to another snapshot", Class: Major,
			Reason: "the source of evidence changes", matcher: pin},
		{ID: "intelligence_refs.ceid_namespaces.added", Layer: layer, What: "ceid namespace added", Class: Minor,
			Reason: "more subjects are covered", matcher: subjects.of(Added)},
		{ID: "intelligence_refs.ceid_namespaces.removed", Layer: layer, What: "ceid namespace removed", Class: Major,
			Reason: "subjects are no longer covered", matcher: subjects.of(Removed)},
		{ID: "intelligence_refs.examples", Layer: layer, What: "identity examples", Class: Patch,
			Reason: "documentation", matcher: on("/intelligence_refs/identity_layer/examples/*")},
		{ID: "intelligence_refs.embedding_keys.added", Layer: layer, What: "embedding key added", Class: Minor, Human: true,
			Reason: "another source to retrieve from", matcher: keys.of(Added)},
		{ID: "intelligence_refs.embedding_keys.removed", Layer: layer, What: "embedding key changed or removed", Class: Major, Human: true,
			Reason: "retrieval changes can alter decisions", matcher: keys.of(Removed)},
	}
}

func businessRows() []*Row {
	const layer = "business_context"
	rules := on("/business_context/non_negotiables/*")
	return []*Row{
		{ID: "business_context.summary", Layer: layer, What: "summary wording", Class: Minor, Human: true,
			Reason: "the compiled summary moves, even where it is a typo", matcher: on("/business_context/summary/what_we_do",
				"/business_context/summary/who_we_serve/*", "/business_context/summary/differentiators/*")},
		{ID: "business_context.non_negotiables.added", Layer: layer, What: "non-negotiable added", Class: Minor,
			Reason: "a constraint more", matcher: rules.of(Added)},
		{ID: "business_context.non_negotiables.removed", Layer: layer, What: "non-negotiable removed", Class: Major,
			Reason: "a constraint is lost", matcher: rules.of(Removed)},
	}
}

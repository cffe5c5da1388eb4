package diffing

import (
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Row is one row of the class table: a kind of change, the class it has, and
// why. The table is data, so that it can be read aloud, written into the docs
// and named in the config.
type Row struct {
	ID    string // stable, such as tooling_layer.approval_mode.lowered
	Layer string // the layer of the contract, with which ID begins; "any" for rows about all of them
	What  string // the change in words
	Class Class
	// Human marks rows on which the public text is silent or ambiguous: the
	// stricter class is taken, the report asks for a person's, and the config
	// may give another one.
	Human  bool
	Reason string
	// Proved marks rows about what is permitted: a proof goes before the class
	// (the same: patch, less: minor, more: major), which is for what cannot be
	// proved.
	Proved bool
	// Beyond marks rows that may change what agents can do in a way that no proof about requests
	// sees: what is proved to be permitted the same may mean something else.
	Beyond bool

	matcher
}

// matcher says which changes a row is about. Rows are asked in the order of the
// table; the first that matches decides.
type matcher struct {
	at    []string         // patterns of keyed paths; * stands for one segment
	kinds []Kind           // empty for every kind
	when  func(*unit) bool // nil for every change at such a place
}

// unit is one change before it has a class, with all that a row may look at.
type unit struct {
	kind       Kind
	rows       []*Row // those that speak of the place
	row        *Row   // the one that matches
	path       string
	old, new   *pack.Node
	base, head *side
	proof      *Proof // of a condition that has nothing to do with what is permitted, as far as asked
}

func (r *Row) matches(u *unit) bool {
	return (len(r.kinds) == 0 || slices.Contains(r.kinds, u.kind)) && (r.when == nil || r.when(u))
}

// place is a node of the tree that the patterns of all rows make: the places of
// the contract at which changes are told apart. A place without further ones
// below is compared as a whole.
type place struct {
	below map[string]*place // by segment, * for every other one
	rows  []*Row            // those that speak of this place, in the table's order
}

func (p *place) child(segment string) *place {
	if c := p.below[segment]; c != nil {
		return c
	}
	return p.below["*"]
}

func (p *place) grow(segment string) *place {
	if p.below == nil {
		p.below = map[string]*place{}
	}
	if p.below[segment] == nil {
		p.below[segment] = &place{}
	}
	return p.below[segment]
}

// classes is the table with the ways into it.
type classes struct {
	rows []*Row
	byID map[string]*Row
	root *place
}

// shared returns the table. It is made once and never changed.
var shared = sync.OnceValue(func() *classes {
	t := &classes{rows: table(), byID: map[string]*Row{}, root: &place{}}
	for _, r := range t.rows {
		r.Layer, _, _ = strings.Cut(r.ID, ".")
		t.byID[r.ID] = r
		for _, pattern := range r.at {
			p := t.root
			for _, segment := range strings.Split(pattern, "/")[1:] {
				p = p.grow(segment)
			}
			p.rows = append(p.rows, r)
		}
	}
	return t
})

// Table returns the class table in the order in which it is documented. Within
// a layer, a row that speaks of a special case is before the general one.
func Table() []Row {
	list := make([]Row, len(shared().rows))
	for i, r := range shared().rows {
		list[i] = *r
	}
	return list
}

// The rows that the comparison itself names.
const (
	rowOrder      = "any.order"
	rowGoesBack   = "any.goes_back"
	rowDefault    = "any.default"
	rowUnknown    = "any.unknown_member"
	rowOther      = "any.other"
	rowUnapproved = "any.unapproved"
	rowTarget     = "evaluation_layer.eval_targets.added"
	rowReading    = "tooling_layer.read_only.added"
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
		{ID: "any.formatting", What: "formatting or the order of members only", Class: None,
			Reason: "the canonical forms (RFC 8785) are equal"},
		{ID: rowOrder, What: "the order of the items of a list, where nothing else differs", Class: None,
			Reason: "nothing is added, removed or changed; the order of the compiled prompt may differ"},
		{ID: rowGoesBack, What: "a pack_version that is not greater", Class: Reject,
			Reason: "to go back, pin an earlier version; do not issue it again"},
		{ID: rowUnapproved, What: "a destructive capability newly runs with no approval gate named for it (RSK002)", Class: Reject,
			Reason: "an action that cannot be undone now runs without an approval"},
		{ID: rowDefault, What: "an empty list or object, or a mark or bound that has no effect, added or removed", Class: Patch,
			Reason:  "it states what already applies",
			matcher: on(ruleAt+"/non_enforcing", permissionAt+"/arg_constraints/*", thenAt+"/arg_constraints/*", elseAt+"/arg_constraints/*").where(saysNothing)},
		{ID: rowUnknown, What: "a member that the contract does not know", Class: Minor, Human: true,
			Reason: "no known reader uses it"},
	}
}

func lastRows() []*Row {
	return []*Row{{ID: rowOther, What: "anything else", Class: Major, Beyond: true,
		Reason: "the table does not mention it, so it may change behaviour"}}
}

func contractRows() []*Row {
	requires := on("/contract_meta/compatibility/requires/*")
	version := on("/contract_meta/contract_version")
	return []*Row{
		{ID: "contract_meta.created_at", What: "created_at", Class: Patch,
			Reason: "metadata", matcher: on("/contract_meta/created_at")},
		{ID: "contract_meta.contract_name", What: "contract_name", Class: Reject,
			Reason: "it must be stable", matcher: on("/contract_meta/contract_name")},
		{ID: "contract_meta.issuer", What: "issuer", Class: Major, Human: true,
			Reason: "someone else is responsible for the pack", matcher: on("/contract_meta/issuer")},
		{ID: "contract_meta.contract_version.patch", What: "contract_version: patch or less changed", Class: Patch, Human: true,
			Reason: "compatible schema", matcher: version.where(stepIs(None, Patch))},
		{ID: "contract_meta.contract_version.minor", What: "contract_version: minor changed", Class: Minor, Human: true,
			Reason: "compatible schema with additions", matcher: version.where(stepIs(Minor))},
		{ID: "contract_meta.contract_version.major", What: "contract_version: major changed, or no version", Class: Major, Human: true,
			Reason: "a breaking schema is a new major contract", matcher: version},
		{ID: "contract_meta.requires.runtime_removed", What: "requires: runtime removed", Class: Reject,
			Reason: "the runtime that a pack needs must be explicit", matcher: requires.of(Removed).where(named("runtime"))},
		{ID: "contract_meta.requires.removed", What: "requires: another key removed", Class: Major, Human: true,
			Reason: "runtimes that refused it now run it", matcher: requires.of(Removed)},
		{ID: "contract_meta.requires.raised", What: "requires: bound raised or key added", Class: Major, Human: true,
			Reason: "old runtimes now refuse it, so existing invocations break", matcher: requires.where(boundRaised)},
		{ID: "contract_meta.requires.lowered", What: "requires: bound lowered or rewritten", Class: Major, Human: true,
			Reason: "runtimes that refused it may now run it", matcher: requires},
	}
}

func packRows() []*Row {
	classification := on("/pack_meta/data_classification")
	defaults := func(name string) matcher { return on("/pack_meta/environment_defaults/" + name) }
	return []*Row{
		{ID: "pack_meta.pack_id", What: "pack_id", Class: Reject,
			Reason: "it is another pack", matcher: on("/pack_meta/pack_id")},
		{ID: "pack_meta.tenant.name", What: "tenant.name", Class: Patch,
			Reason: "a label", matcher: on("/pack_meta/tenant/name")},
		{ID: "pack_meta.tenant.tenant_id", What: "tenant.tenant_id", Class: Reject, Beyond: true,
			Reason: "the boundary of the tenant", matcher: on("/pack_meta/tenant/tenant_id")},
		{ID: "pack_meta.language", What: "language", Class: Minor, Human: true,
			Reason: "a default that overlays may set", matcher: defaults("language")},
		{ID: "pack_meta.timezone", What: "timezone", Class: Minor, Human: true,
			Reason: "a default that overlays may set", matcher: defaults("timezone")},
		{ID: "pack_meta.currency", What: "currency", Class: Major, Human: true, Beyond: true,
			Reason: "it changes what thresholds mean", matcher: defaults("currency")},
		{ID: "pack_meta.region", What: "region", Class: Major, Human: true,
			Reason: "it changes where data resides", matcher: defaults("region")},
		{ID: "pack_meta.ttl_seconds", What: "ttl_seconds", Class: Minor, Human: true,
			Reason: "freshness only", matcher: on("/pack_meta/ttl_seconds")},
		{ID: "pack_meta.data_classification.raised", What: "data_classification raised", Class: Minor,
			Reason: "constrains", matcher: classification.where(classificationRaised)},
		{ID: "pack_meta.data_classification.lowered", What: "data_classification lowered, or unknown", Class: Major, Human: true,
			Reason: "it weakens the control of exports and traces; ask for a security review", matcher: classification},
	}
}

func intelligenceRows() []*Row {
	namespace := on("/intelligence_refs/ontology/namespace")
	types := on("/intelligence_refs/ontology/entity_types/*", "/intelligence_refs/ontology/relationship_types/*")
	pin := on("/intelligence_refs/knowledge_graph/snapshot_pin_rule")
	subjects := on("/intelligence_refs/identity_layer/ceid_namespaces/*")
	keys := on("/intelligence_refs/embedding_keys/*")
	return []*Row{
		{ID: "intelligence_refs.ontology.version", What: "ontology.version", Class: Major, Beyond: true,
			Reason: "changed ontology semantics", matcher: on("/intelligence_refs/ontology/version")},
		{ID: "intelligence_refs.ontology.namespace.raised", What: "ontology.namespace, with ontology.version and the pack's major raised", Class: Major, Beyond: true,
			Reason: "it changes what every type means", matcher: namespace.where(ontologyReissued)},
		{ID: "intelligence_refs.ontology.namespace", What: "ontology.namespace otherwise", Class: Reject, Beyond: true,
			Reason: "it changes what every type means, and the versions do not say so", matcher: namespace},
		{ID: "intelligence_refs.types.added", What: "entity or relationship type added", Class: Minor,
			Reason: "more types can be read", matcher: types.of(Added)},
		{ID: "intelligence_refs.types.removed", What: "entity or relationship type removed", Class: Major,
			Reason: "meaning is removed", matcher: types.of(Removed)},
		{ID: "intelligence_refs.snapshot_pin_rule.alias", What: "snapshot_pin_rule: alias to another alias", Class: Major, Human: true,
			Reason: "the source of evidence changes", matcher: pin.where(pinMoves(true, true))},
		{ID: "intelligence_refs.snapshot_pin_rule.fixed", What: "snapshot_pin_rule: alias to a fixed snapshot", Class: Minor, Human: true,
			Reason: "constrains", matcher: pin.where(pinMoves(true, false))},
		{ID: "intelligence_refs.snapshot_pin_rule.moved", What: "snapshot_pin_rule: fixed to an alias or to another snapshot", Class: Major,
			Reason: "the source of evidence changes", matcher: pin},
		{ID: "intelligence_refs.ceid_namespaces.added", What: "ceid namespace added", Class: Minor,
			Reason: "more subjects are covered", matcher: subjects.of(Added)},
		{ID: "intelligence_refs.ceid_namespaces.removed", What: "ceid namespace removed", Class: Major,
			Reason: "subjects are no longer covered", matcher: subjects.of(Removed)},
		{ID: "intelligence_refs.examples", What: "identity examples", Class: Patch,
			Reason: "documentation", matcher: on("/intelligence_refs/identity_layer/examples/*")},
		{ID: "intelligence_refs.embedding_keys.added", What: "embedding key added", Class: Minor, Human: true,
			Reason: "another source to retrieve from", matcher: keys.of(Added)},
		{ID: "intelligence_refs.embedding_keys.removed", What: "embedding key changed or removed", Class: Major, Human: true,
			Reason: "retrieval changes can alter decisions", matcher: keys.of(Removed)},
	}
}

func businessRows() []*Row {
	rules := on("/business_context/non_negotiables/*")
	return []*Row{
		{ID: "business_context.summary", What: "summary wording", Class: Minor, Human: true,
			Reason: "this text is part of the prompt", matcher: on("/business_context/summary/what_we_do",
				"/business_context/summary/who_we_serve/*", "/business_context/summary/differentiators/*")},
		{ID: "business_context.non_negotiables.added", What: "non-negotiable added", Class: Minor,
			Reason: "an additional constraint", matcher: rules.of(Added)},
		{ID: "business_context.non_negotiables.removed", What: "non-negotiable removed", Class: Major,
			Reason: "a constraint is lost", matcher: rules.of(Removed)},
	}
}

func memoryRows() []*Row {
	tier := on("/memory_layer/memory_policy/tier_ttls/*")
	writes := on("/memory_layer/memory_policy/write_classes_allowed/*")
	personal := on("/memory_layer/memory_policy/consent_gating/pii_write_back_allowed")
	confidence := on("/memory_layer/promotion_thresholds/auto_promote_confidence")
	return []*Row{
		{ID: "memory_layer.tier_ttls.added", What: "memory tier added", Class: Minor,
			Reason: "an additional limit", matcher: tier.of(Added)},
		{ID: "memory_layer.tier_ttls.rewritten", What: "tier TTL rewritten with the same length", Class: Patch,
			Reason: "durations compare by length", matcher: tier.where(lengthIs(0))},
		{ID: "memory_layer.tier_ttls.shorter", What: "tier TTL shorter", Class: Minor,
			Reason: "remembered for less time", matcher: tier.where(lengthIs(-1))},
		{ID: "memory_layer.tier_ttls.longer", What: "tier TTL longer, or no length", Class: Major, Human: true,
			Reason: "remembered for longer", matcher: tier.of(Changed)},
		{ID: "memory_layer.tier_ttls.removed", What: "tier TTL removed", Class: Major, Human: true,
			Reason: "nothing limits how long the tier remembers", matcher: tier.of(Removed)},
		{ID: "memory_layer.write_classes.added", What: "write class added", Class: Major,
			Reason: "expands what is remembered", matcher: writes.of(Added)},
		{ID: "memory_layer.write_classes.removed", What: "write class removed", Class: Minor, Human: true,
			Reason: "constrains", matcher: writes.of(Removed)},
		{ID: "memory_layer.pii_write_back.allowed", What: "pii_write_back_allowed from false to true", Class: Major,
			Reason: "personal data is written back; ask for a review", matcher: personal.where(flagIs(true))},
		{ID: "memory_layer.pii_write_back.forbidden", What: "pii_write_back_allowed from true to false", Class: Minor,
			Reason: "back to the default", matcher: personal.where(flagIs(false))},
		{ID: "memory_layer.auto_promote_confidence.raised", What: "auto_promote_confidence raised", Class: Minor,
			Reason: "less is promoted without a person", matcher: confidence.where(numberMoved(1))},
		{ID: "memory_layer.auto_promote_confidence.lowered", What: "auto_promote_confidence lowered", Class: Major,
			Reason: "more is promoted without a person", matcher: confidence.where(numberMoved(-1))},
	}
}

func evaluationRows() []*Row {
	const (
		targetAt = "/evaluation_layer/eval_targets/*"
		gateAt   = "/evaluation_layer/release_gates/*"
	)
	targets := on(targetAt)
	scores := on(targetAt+"/policy", targetAt+"/utility", targetAt+"/safety")
	costs := on(targetAt+"/latency_p99_ms", targetAt+"/economics_cents_per_decision")
	bars := on(append(scores.at, costs.at...)...)
	gates := on(gateAt)
	delta := on(gateAt + "/max_delta")
	return []*Row{
		{ID: rowTarget, What: "new target", Class: Minor,
			Reason: "a new evaluator target", matcher: targets.of(Added)},
		{ID: "evaluation_layer.eval_targets.removed", What: "target removed", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: targets.of(Removed)},
		{ID: "evaluation_layer.eval_targets.stricter", What: "target stricter", Class: Minor,
			Reason: "the bar is raised", matcher: bars.where(barRaised)},
		{ID: "evaluation_layer.eval_targets.looser", What: "target looser", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: bars},
		{ID: "evaluation_layer.release_gates.added", What: "new release gate", Class: Minor,
			Reason: "the bar is raised", matcher: gates.of(Added)},
		{ID: "evaluation_layer.release_gates.required_removed", What: "policy or safety gate removed", Class: Reject,
			Reason: "release gates must include policy and safety", matcher: gates.of(Removed).where(requiredGateLost)},
		{ID: "evaluation_layer.release_gates.removed", What: "another release gate removed", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: gates.of(Removed)},
		{ID: "evaluation_layer.release_gates.stricter", What: "smaller max_delta", Class: Minor,
			Reason: "the bar is raised", matcher: delta.where(func(u *unit) bool { return u.kind == Added || numberMoved(-1)(u) })},
		{ID: "evaluation_layer.release_gates.looser", What: "larger or no max_delta", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: delta},
	}
}

func toneRows() []*Row {
	return []*Row{
		{ID: "tone_and_comms.wording", What: "voice_attributes or do", Class: Minor, Human: true,
			Reason: "shapes the final text", matcher: on("/tone_and_comms/voice_attributes/*", "/tone_and_comms/do/*")},
		{ID: "tone_and_comms.dont.added", What: "dont added", Class: Minor, Human: true,
			Reason: "shapes the final text", matcher: on("/tone_and_comms/dont/*").of(Added)},
		{ID: "tone_and_comms.dont.removed", What: "dont removed", Class: Major, Human: true,
			Reason: "a constraint is lost", matcher: on("/tone_and_comms/dont/*").of(Removed)},
	}
}

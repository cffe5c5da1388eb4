package schemas

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/pack"
)

func TestKnownMembers(t *testing.T) {
	tests := []struct {
		name, pointer string
		want          []string
		open          bool
	}{
		{"context-pack", "", []string{
			"business_context", "contract_meta", "decision_layer", "evaluation_layer", "intelligence_refs",
			"memory_layer", "pack_meta", "policy_layer", "tone_and_comms", "tooling_layer"}, false},
		{"context-pack", "/pack_meta/tenant", []string{"name", "tenant_id"}, false},
		// Through items and references.
		{"context-pack", "/policy_layer/approval_gates/0", []string{"gate_id", "required_approver_role", "ttl_seconds", "when"}, false},
		{"context-pack", "/policy_layer/policy_bundles/3/policy_dsl/rules/12/then", []string{
			"allow", "approval_mode", "arg_constraints", "prohibits", "reason", "requires", "requires_approval_gate"}, false},
		// A map with free keys is open, and what is under a key is known.
		{"context-pack", "/tooling_layer/permissions/0/arg_constraints", nil, true},
		{"context-pack", "/tooling_layer/permissions/0/arg_constraints/a~1b", []string{"enum", "max", "min", "pattern", "required", "unless_approved"}, false},
		{"context-pack", "/tooling_layer/adapter_registry/0/capability_risks/pay", []string{
			"authority", "data_scope", "effect", "interaction", "reversibility"}, false},
		// An open map with declared names.
		{"context-pack", "/contract_meta/compatibility/requires", []string{"ontology", "runtime"}, true},
		// Values that are their author's.
		{"context-pack", "/policy_layer/policy_bundles/0/policy_dsl/rules/0/if", nil, true},
		{"context-pack", "/policy_layer/policy_bundles/0/policy_dsl/rules/0/if/and/0/==", nil, true},
		{"context-pack", "/intelligence_refs/identity_layer/examples", nil, true},
		// Nothing is said: a scalar, a list, an unknown member, an index that is none, no pointer, no schema.
		{"context-pack", "/pack_meta/pack_id", nil, true},
		{"context-pack", "/policy_layer/approval_gates", nil, true},
		{"context-pack", "/policy_layer/unknown/0", nil, true},
		{"context-pack", "/policy_layer/approval_gates/01", nil, true},
		{"context-pack", "/policy_layer/approval_gates/-", nil, true},
		{"context-pack", "pack_meta", nil, true},
		{"no-such-schema", "", nil, true},
		// Into another schema.
		{"case", "/invoke/trace", []string{"baggage", "span_id", "trace_flags", "trace_id", "tracestate"}, false},
		{"case", "/invoke/user/delegation", []string{"auth_type", "scopes", "subject", "token_ref"}, false},
		{"case", "/run_context/user", []string{"delegation", "role", "tenure_days", "user_id"}, true},
		{"case", "/expect", []string{"assertions", "denied", "gates", "outcome", "rules", "tools"}, false},
		{"config", "/limits", []string{"max_approval_mode", "max_bytes", "max_depth", "max_values", "max_waiver_days"}, false},
		{"config", "/limits/max_bytes", nil, true},
		{"config", "/reviews/roles", nil, true},
		{"environment", "/ontologies/ont.support/1.0.0", []string{"entity_types", "relationship_types"}, false},
	}
	for _, test := range tests {
		names, open := KnownMembers(test.name, test.pointer)
		if !slices.Equal(names, test.want) || open != test.open {
			t.Errorf("KnownMembers(%q, %q) = %q, %v; want %q, %v", test.name, test.pointer, names, open, test.want, test.open)
		}
	}
}

// TestKnownMembersFollowsEverySchemaThatApplies uses schemas of the test: ours
// hold neither allOf nor a reference to themselves, and must be free to.
func TestKnownMembersFollowsEverySchemaThatApplies(t *testing.T) {
	root := decode(t, `{
		"$ref": "#", "properties": {"a": {}},
		"allOf": [{"properties": {"b": {}}}, true],
		"then": {"properties": {"c": {}}}, "else": {"$ref": "#/$defs/none"},
		"$defs": {"d": {"$ref": "https://example.com/elsewhere"}}
	}`).(map[string]any)
	names, open := declared(shared().expand(place{root: root, schema: root}))
	if !slices.Equal(names, []string{"a", "b", "c"}) || open {
		t.Errorf("got %q, %v", names, open)
	}
	elsewhere := valueAt(root, []string{"$defs", "d"}).(map[string]any)
	if names, open = declared(shared().expand(place{root: root, schema: elsewhere})); names != nil || !open {
		t.Errorf("got %q, %v", names, open)
	}
}

// TestExamplesHoldOnlyKnownMembers walks the support pack: every member of the
// published example is one that the schema declares.
func TestExamplesHoldOnlyKnownMembers(t *testing.T) {
	seen := 0
	var walk func(value any, segments []string)
	walk = func(value any, segments []string) {
		object, ok := value.(map[string]any)
		if list, isList := value.([]any); isList {
			for i, item := range list {
				walk(item, append(slices.Clone(segments), string(rune('0'+i))))
			}
		}
		if !ok {
			return
		}
		names, open := KnownMembers("context-pack", pack.JoinPointer(segments))
		for member, below := range object {
			seen++
			if !open && !slices.Contains(names, member) {
				t.Errorf("%q at %q is not declared", member, pack.JoinPointer(segments))
			}
			walk(below, append(slices.Clone(segments), member))
		}
	}
	walk(readJSON(t, "testdata/contract/"+supportPack), nil)
	if seen < 100 {
		t.Errorf("only %d members seen", seen)
	}
}

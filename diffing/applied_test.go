package diffing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/wI2L/jsondiff"
)

// lawApplied: what is reported turns the base into the head.
func lawApplied(t *testing.T, d *Diff) {
	base, head := newSide(d.base), newSide(d.head)
	alignSpecs(base, head)
	for _, c := range d.Changes() {
		if c.Kind != Added {
			at := c.Path
			if c.Kind == Renamed {
				at = c.Old.KeyedPath()
			}
			base.form = without(base.form, segmentsOf(at)).(map[string]any)
		}
	}
	for _, c := range d.Changes() {
		if c.Kind != Removed {
			value, ok := valueAt(head.form, segmentsOf(c.Path))
			if !ok {
				t.Fatalf("%s is not in the head", c.Path)
			}
			base.form = with(base.form, segmentsOf(c.Path), value).(map[string]any)
		}
	}
	path := segmentsOf(versionPath)
	patch, err := jsondiff.Compare(content(without(base.form, path), ""), content(without(head.form, path), ""))
	if err != nil || len(patch) > 0 {
		t.Errorf("the changes do not make the head of the base: %v %s\n%s", err, patch, renderClasses(d))
	}
}

func segmentsOf(path string) []string {
	segments, _ := pack.SplitPointer(path)
	return segments
}

// without returns a value without what is at a path, and objects on the way
// that are empty for it.
func without(value any, path []string) any {
	members, ok := value.(map[string]any)
	if !ok || len(path) == 0 {
		return value
	}
	members = maps.Clone(members)
	if len(path) == 1 {
		delete(members, path[0])
	} else if inner, ok := members[path[0]]; ok {
		members[path[0]] = without(inner, path[1:])
	}
	return members
}

// with returns a value with another one put at a path.
func with(value any, path []string, put any) any {
	if len(path) == 0 {
		return put
	}
	members, _ := value.(map[string]any)
	if members = maps.Clone(members); members == nil {
		members = map[string]any{}
	}
	members[path[0]] = with(members[path[0]], path[1:], put)
	return members
}

// content returns a keyed form without what says nothing: empty lists and
// objects, a text that is twice in a set, the order of the allowed values.
func content(value any, name string) any {
	switch value := value.(type) {
	case map[string]any:
		texts := map[string]bool{}
		kept := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, isText := value[key].(string)
			if isText && (strings.HasPrefix(key, "[") || key == text) {
				if texts[text] {
					continue
				}
				texts[text], key = true, text
			}
			if inner := content(value[key], key); inner != nil {
				kept[key] = inner
			} else if isText {
				kept[key] = text
			}
		}
		if len(kept) > 0 {
			return kept
		}
		return nil
	case []any:
		if len(value) == 0 {
			return nil
		}
		if name == "enum" {
			value = slices.Clone(value)
			slices.SortFunc(value, func(a, b any) int { return strings.Compare(pack.CompactJSON(a), pack.CompactJSON(b)) })
		}
		return value
	}
	return value
}

// TestStepsAreNoWeaker says that one step has no higher class than the highest of
// the steps that come to the same, for rows that compare values alone.
func TestStepsAreNoWeaker(t *testing.T) {
	knobs := map[string][]string{
		"/pack_meta/ttl_seconds":                                                               {"1", "60", "3600"},
		"/pack_meta/data_classification":                                                       {`"PUBLIC"`, `"CONFIDENTIAL"`, `"RESTRICTED"`},
		"/pack_meta/environment_defaults/currency":                                             {`"INR"`, `"EUR"`},
		"/contract_meta/contract_version":                                                      {`"1.0.0"`, `"1.0.1"`, `"1.2.0"`, `"2.0.0"`},
		"/contract_meta/compatibility/requires/runtime":                                        {`">=1.0.0"`, `">=1.2.0"`, `"^1.0.0"`},
		"/intelligence_refs/knowledge_graph/snapshot_pin_rule":                                 {`"alias:prod"`, `"alias:next"`, `"snapshot_1"`, `"snapshot_2"`},
		"/business_context/non_negotiables":                                                    {`[]`, `["a"]`, `["b"]`, `["a", "b"]`},
		"/policy_layer/guardrails/must_refuse":                                                 {`[]`, `["a"]`, `["a", "b"]`},
		"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/ttl_seconds":                       {"60", "7200", "9000"},
		"/tooling_layer/adapter_registry/adp_payments/approval_mode":                           {`"network"`, `"delegated"`, `"destructive"`},
		"/tooling_layer/adapter_registry/adp_orders/endpoint_ref":                              {`"internal://a"`, `"internal://b"`},
		"/decision_layer/decision_specs/support.refund.execute/allowed_outcomes":               {`["a"]`, `["a", "b"]`},
		"/decision_layer/decision_specs/support.refund.execute/required_evidence":              {`["a"]`, `["a", "b"]`, `["b"]`},
		"/memory_layer/memory_policy/tier_ttls/working":                                        {`"1h"`, `"2h"`, `"60m"`, `"soon"`},
		"/memory_layer/memory_policy/write_classes_allowed":                                    {`["a"]`, `["a", "b"]`},
		"/memory_layer/memory_policy/consent_gating/pii_write_back_allowed":                    {"true", "false"},
		"/memory_layer/promotion_thresholds/auto_promote_confidence":                           {"0.1", "0.5", "0.9"},
		"/evaluation_layer/eval_targets/support.refund/policy":                                 {"0.5", "0.9", "1"},
		"/evaluation_layer/eval_targets/support.refund/latency_p99_ms":                         {"100", "200", "300"},
		"/evaluation_layer/release_gates/safety/max_delta":                                     {"0", "0.1", "0.2"},
		"/tone_and_comms/dont":                                                                 {`[]`, `["a"]`, `["a", "b"]`},
		"/tooling_layer/permissions/p_issue_refund/arg_constraints/reason":                     {`{}`, `{"enum": ["a"]}`, `{"enum": ["a", "b"]}`, `{"required": true}`},
		"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/rationale": {`"a"`, `"b"`},
	}
	paths := slices.Sorted(maps.Keys(knobs))
	r := rand.New(rand.NewPCG(5, 3))
	steps := map[Class]int{}
	for range 250 {
		var sources [3][]byte
		var scripts [3]string
		for range 1 + r.IntN(3) {
			path := paths[r.IntN(len(paths))]
			for i := range scripts {
				scripts[i] += fmt.Sprintf("add %s %s\n", path, knobs[path][r.IntN(len(knobs[path]))])
			}
		}
		for i, script := range scripts {
			sources[i] = withVersion(t, edit(t, gatetest.Support(), script), fmt.Sprintf("%d.0.0", i+1))
		}
		ab, bc, ac := diff(t, sources[0], sources[1]), diff(t, sources[1], sources[2]), diff(t, sources[0], sources[2])
		if ac.Class > max(ab.Class, bc.Class) {
			t.Errorf("%s and %s, and in one step %s\n%s\n%s", ab.Class, bc.Class, ac.Class, strings.Join(scripts[:], "\n"), renderChanges(ac))
		}
		steps[ac.Class]++
	}
	for c := None; c <= Reject; c++ {
		if steps[c] == 0 {
			t.Errorf("no pair is %s", c)
		}
	}
}

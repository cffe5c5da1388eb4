package generate

import (
	"crypto/sha256"
	"fmt"
)

// surface lists the tools that requests of each intent can get: what any decision
// reads with, and what its own decisions write with.
func (s *shape) surface() object {
	var rows list
	for i := range s.intents {
		for _, d := range s.decisions {
			for _, source := range d.sources {
				rows = append(rows, object{{"intent", s.intent(i)}, {"capability", d.records() + "." + source}, {"approval_mode", "read_only"}})
			}
			if d.intent == s.intent(i) {
				rows = append(rows, object{
					{"intent", d.intent}, {"capability", d.actions() + "." + d.action.tool}, {"approval_mode", d.mode},
					{"gates", list{d.gate()}}, {"arg_constraints", d.bounds()},
				})
			}
		}
	}
	return object{{"$schema", "https://contextosai.com/schemas/packgate/tool-surface.v1.schema.json"}, {"surface", rows}}
}

// scorecard measures the bytes of the pack.
func (s *shape) scorecard(pack []byte) object {
	scores := func(utility float64, latency int) object {
		return object{{"policy", 1.0}, {"utility", utility}, {"latency_p99_ms", latency}, {"safety", 1.0}, {"economics_cents_per_decision", 1.4}}
	}
	var intents list
	for i := range s.intents {
		intents = append(intents, object{
			{"intent", s.intent(i)}, {"samples", 200}, {"candidate", scores(0.93, 2900)}, {"baseline", scores(0.93, 2900)},
		})
	}
	return object{
		{"$schema", "https://contextosai.com/schemas/packgate/scorecard.v1.schema.json"},
		{"pack", s.id() + "@" + s.version()},
		{"digest", fmt.Sprintf("sha256:%x", sha256.Sum256(pack))},
		{"baseline", s.id() + "@0.9.0"},
		{"evaluator_set", "meridian-evals@3"},
		{"intents", intents},
	}
}

// overlay calls the sandbox of the first decision, and needs an approval from a lower amount on.
func (s *shape) overlay() object {
	d := s.decisions[0]
	limit := d.limit - 200
	rule := "/policy_layer/policy_bundles/" + s.bundle(0) + "/rules/" + d.ruleID("LIMIT")
	set := func(path string, value any) object { return object{{"path", path}, {"value", value}} }
	return object{
		{"$schema", "https://contextosai.com/schemas/packgate/overlay.v1.schema.json"},
		{"overlay_id", staging}, {"environment", staging}, {"base", s.id() + "@" + s.version()}, {"order", 1},
		{"set", list{
			set("/tooling_layer/adapter_registry/"+d.actions()+"/endpoint_ref", endpoint(s.domain, d.action, "actions")+sandbox),
			set(rule+"/else/arg_constraints/amount/max", limit),
			set("/policy_layer/approval_gates/"+d.gate()+"/when/>/1", limit),
			set("/tooling_layer/permissions/p_"+d.name+"/arg_constraints/amount/max", limit),
		}},
	}
}

package generate

import "strings"

// pack draws decisions until the file is as large as it is to be, and returns it.
// A later revision has the decisions of the first, whatever its size.
func (s *shape) pack() ([]byte, error) {
	business, guardrails, tone, memory := s.business(), s.guardrails(), s.tone(), s.memory()
	for {
		s.addDecision()
		if len(s.decisions) < s.intents {
			continue
		}
		src, err := file(object{
			{"contract_meta", s.contract()},
			{"pack_meta", s.meta()},
			{"intelligence_refs", s.intelligence()},
			{"business_context", business},
			{"policy_layer", s.policy(guardrails)},
			{"tooling_layer", s.tooling()},
			{"decision_layer", s.decisionLayer()},
			{"memory_layer", memory},
			{"evaluation_layer", s.evaluation()},
			{"tone_and_comms", tone},
		})
		switch {
		case err != nil:
			return nil, err
		case s.want > 0 && len(s.decisions) < s.want:
		case s.want > 0 || len(src) >= s.size || len(s.decisions) == s.intents*len(kinds):
			return src, nil
		}
	}
}

func (s *shape) contract() object {
	return object{
		{"contract_name", s.id()},
		{"contract_version", s.version()},
		{"issuer", tenant},
		{"created_at", "2026-05-09T00:00:00Z"},
		{"compatibility", object{{"requires", object{{"runtime", ">=1.0.0"}, {"ontology", ">=1.0.0"}}}}},
	}
}

func (s *shape) meta() object {
	return object{
		{"pack_id", s.id()},
		{"pack_version", s.version()},
		{"tenant", object{{"tenant_id", tenant}, {"name", "Meridian"}}},
		{"environment_defaults", object{{"language", "en"}, {"timezone", "Europe/Berlin"}, {"currency", "EUR"}, {"region", region}}},
		{"ttl_seconds", 86400},
		{"data_classification", "CONFIDENTIAL"},
	}
}

func (s *shape) intelligence() object {
	var spaces []string
	for _, e := range s.domain.entities {
		var b strings.Builder
		for i, r := range e {
			if i > 0 && r < 'a' {
				b.WriteByte('_')
			}
			b.WriteString(strings.ToLower(string(r)))
		}
		spaces = append(spaces, b.String())
	}
	return object{
		{"ontology", object{
			{"namespace", "ont." + s.domain.name}, {"version", "1.0.0"},
			{"entity_types", texts(s.domain.entities)}, {"relationship_types", texts(s.domain.relations())},
		}},
		{"knowledge_graph", object{{"snapshot_pin_rule", "alias:prod"}}},
		{"identity_layer", object{{"ceid_namespaces", texts(spaces)}}},
		{"embedding_keys", list{s.domain.name + "_records_v1"}},
	}
}

func (s *shape) business() object {
	return object{
		{"summary", object{
			{"what_we_do", s.domain.work}, {"who_we_serve", list{"customers", "the teams behind them"}},
			{"differentiators", texts(s.some(strengths, 1, 3))},
		}},
		{"non_negotiables", texts(s.some(principles, 2, 5))},
	}
}

func (s *shape) guardrails() object {
	return object{
		{"must_refuse", texts(s.some(refusals, 1, 3))},
		{"must_escalate", texts(s.some(escalations, 1, 3))},
		{"redaction_rules", texts(s.some(redactions, 2, 5))},
	}
}

func (s *shape) tone() object {
	do := texts(s.some(dos, 2, 4))
	if s.revision > 1 {
		do = append(do, "close with a summary")
	}
	return object{{"voice_attributes", texts(s.some(voices, 2, 4))}, {"do", do}, {"dont", texts(s.some(donts, 2, 4))}}
}

func (s *shape) memory() object {
	return object{
		{"memory_policy", object{
			{"tier_ttls", object{{"working", "1h"}, {"episodic", s.one([]string{"24h", "72h"})}, {"semantic", "365d"}, {"durable", "1825d"}}},
			{"write_classes_allowed", list{"evidence_link", "decision_outcome", "correction"}},
			{"consent_gating", object{{"pii_write_back_allowed", false}}},
		}},
		{"promotion_thresholds", object{{"auto_promote_confidence", 0.95}}},
	}
}

// policy has a bundle for each intent and a gate for each decision.
func (s *shape) policy(guardrails object) object {
	var bundles, gates list
	for i := range s.intents {
		var rules list
		for _, d := range s.decisions {
			if d.intent != s.intent(i) {
				continue
			}
			rules = append(rules, s.closing(d)...)
			gates = append(gates, object{
				{"gate_id", d.gate()},
				{"when", operation(">", d.field("amount"), d.limit)},
				{"required_approver_role", approvers[len(gates)%len(approvers)]},
				{"ttl_seconds", 7200},
			})
		}
		bundles = append(bundles, object{
			{"bundle_id", s.bundle(i)},
			{"priority", 10 * (i + 1)},
			{"policy_dsl", object{{"language", "jsonlogic"}, {"rules", rules}}},
		})
	}
	return object{{"policy_bundles", bundles}, {"guardrails", guardrails}, {"approval_gates", gates}}
}

// closing returns the rules of a decision, of which the first one keeps the
// writing tools of other intents away.
func (s *shape) closing(d *decision) list {
	var others []string
	for _, o := range s.decisions {
		if o.intent != d.intent {
			others = append(others, o.actions()+"."+o.action.tool)
		}
	}
	if len(others) == 0 {
		return d.rules
	}
	first := append(object(nil), d.rules[0].(object)...)
	for i, m := range first {
		if m.name == "then" {
			first[i].value = append(append(object(nil), m.value.(object)...), member{"prohibits", texts(others)})
		}
	}
	return append(list{first}, d.rules[1:]...)
}

func (s *shape) bundle(i int) string {
	return "POLICY_" + strings.ToUpper(s.domain.actions[i].name) + "_V1"
}

func (s *shape) intent(i int) string { return s.domain.name + "." + s.domain.actions[i].name }

func (s *shape) tooling() object {
	var adapters, permissions list
	for _, d := range s.decisions {
		adapters = append(adapters,
			object{
				{"adapter_id", d.records()}, {"type", "OPENAPI"}, {"endpoint_ref", endpoint(s.domain, d.action, "records")},
				{"capabilities", texts(d.sources)}, {"approval_mode", "read_only"},
			},
			object{
				{"adapter_id", d.actions()}, {"type", "OPENAPI"}, {"endpoint_ref", endpoint(s.domain, d.action, "actions")},
				{"capabilities", list{d.action.tool}}, {"approval_mode", d.mode},
			})
		for _, source := range d.sources {
			permissions = append(permissions, object{
				{"permission_id", "p_" + d.name + "_" + source}, {"adapter_id", d.records()}, {"capability", source}, {"allow", true},
			})
		}
		permissions = append(permissions, object{
			{"permission_id", "p_" + d.name}, {"adapter_id", d.actions()}, {"capability", d.action.tool}, {"allow", true},
			{"requires_approval_gate", d.gate()},
			{"arg_constraints", d.bounds()},
		})
	}
	return object{{"adapter_registry", adapters}, {"permissions", permissions}}
}

// bounds are those of the writing tool's arguments.
func (d *decision) bounds() object {
	return object{
		{"amount", object{{"min", 1}, {"max", d.limit * 10}}}, {"reference", object{{"required", true}, {"pattern", "^[a-z]{2}_[0-9]{6}$"}}},
		{"idempotency_key", object{{"required", true}}},
	}
}

func (s *shape) decisionLayer() object {
	var specs list
	for _, d := range s.decisions {
		var evidence []string
		for _, source := range d.sources {
			evidence = append(evidence, d.evidence(source))
		}
		specs = append(specs, object{
			{"decision_key", d.key}, {"version", "1.0.0"}, {"owner_role", s.domain.name + "_operations"},
			{"required_evidence", texts(append(evidence, d.name+"_identity_verified", "policy_eval"))},
			{"allowed_outcomes", list{"approved", "denied", "escalated"}},
			{"approval_mode", d.mode}, {"decision_right", "execute"},
			{"inputs_schema_ref", schema(d.key, "inputs")}, {"outputs_schema_ref", schema(d.key, "outputs")},
		})
	}
	return object{{"decision_specs", specs}}
}

func (s *shape) evaluation() object {
	var targets list
	for i := range s.intents {
		targets = append(targets, object{
			{"intent", s.intent(i)}, {"policy", 1.0}, {"utility", 0.9}, {"latency_p99_ms", 4000}, {"safety", 1.0}, {"economics_cents_per_decision", 2.0},
		})
	}
	return object{
		{"eval_targets", targets},
		{"release_gates", list{object{{"metric", "policy"}, {"max_delta", 0}}, object{{"metric", "safety"}, {"max_delta", 0}}}},
	}
}

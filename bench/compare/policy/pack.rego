# Binding and risk rules of Context Packs, for conftest. They find what packgate
# reports as REF001 to REF004 and RSK001 to RSK003.
package main

import rego.v1

rules contains rule if some rule in input.policy_layer.policy_bundles[_].policy_dsl.rules

decisions[spec.decision_key] := spec if some spec in input.decision_layer.decision_specs

gates contains gate.gate_id if some gate in input.policy_layer.approval_gates

adapters[adapter.adapter_id] := adapter if some adapter in input.tooling_layer.adapter_registry

permissions contains permission if some permission in input.tooling_layer.permissions

rank := {"read_only": 1, "local_write": 2, "network": 3, "delegated": 4, "destructive": 5}

deny contains msg if {
	some rule in rules
	key := rule.decision_binding
	not decisions[key]
	msg := sprintf("REF001: rule %q is bound to the decision %q, which does not exist", [rule.rule_id, key])
}

deny contains msg if {
	some rule in rules
	some branch in ["then", "else"]
	gate := rule[branch].requires_approval_gate
	not gate in gates
	msg := sprintf("REF002: %s of rule %q requires the gate %q, which does not exist", [branch, rule.rule_id, gate])
}

deny contains msg if {
	some permission in permissions
	not adapters[permission.adapter_id]
	msg := sprintf("REF003: permission %q names the adapter %q, which does not exist", [permission.permission_id, permission.adapter_id])
}

deny contains msg if {
	some permission in permissions
	adapter := adapters[permission.adapter_id]
	not permission.capability in adapter.capabilities
	msg := sprintf("REF004: permission %q names the capability %q, which its adapter does not have", [permission.permission_id, permission.capability])
}

# open are the allowed permissions that write, with the mode of their adapter.
open contains {"permission": permission, "mode": adapter.approval_mode} if {
	some permission in permissions
	permission.allow == true
	adapter := adapters[permission.adapter_id]
	permission.capability in adapter.capabilities
	rank[adapter.approval_mode] > 1
}

# authority is the highest mode of a decision that a rule can allow.
authority := max(ranks | {1}) if {
	ranks := {rank[decisions[rule.decision_binding].approval_mode] |
		some rule in rules
		some branch in ["then", "else"]
		rule[branch].allow == true
	}
}

deny contains msg if {
	some one in open
	rank[one.mode] > authority
	msg := sprintf("RSK001: permission %q opens a %s tool, and no decision that can be allowed reaches that mode", [one.permission.permission_id, one.mode])
}

# raised are the decisions of which a rule raises an approval gate.
raised contains rule.decision_binding if {
	some rule in rules
	some branch in ["then", "else"]
	rule[branch].requires_approval_gate
}

# guarded is true where a rule of a decision that can be destructive raises a gate.
guarded if {
	some key in raised
	decisions[key].approval_mode == "destructive"
}

deny contains msg if {
	some one in open
	one.mode == "destructive"
	not one.permission.requires_approval_gate
	not guarded
	msg := sprintf("RSK002: permission %q opens a destructive tool without an approval gate", [one.permission.permission_id])
}

writes(one) if one.mode in {"local_write", "delegated", "destructive"}

writes(one) if {
	one.mode == "network"
	not adapters[one.permission.adapter_id].capability_risks[one.permission.capability].effect == "none"
}

keyed(one) if {
	some other in permissions
	other.allow == true
	other.adapter_id == one.permission.adapter_id
	other.capability == one.permission.capability
	other.arg_constraints.idempotency_key.required == true
}

deny contains msg if {
	some one in open
	writes(one)
	not keyed(one)
	msg := sprintf("RSK003: permission %q opens a tool that writes without requiring an idempotency key", [one.permission.permission_id])
}

// Package conditions makes packs and random single edits of their policy, to measure what it
// takes to say for which requests an edit makes a difference.
package conditions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Pack returns a pack of so many rules that are all about one intent: two thirds of them deny
// decisions, over amounts, scores, roles, regions and flags, the others allow.
func Pack(r *rand.Rand, rules int) []byte {
	var list []string
	for i := range rules {
		list = append(list, rule(r, i))
	}
	src := fmt.Sprintf(`{
"pack_meta": {"pack_id": "ctxpack.bench", "pack_version": "1.0.0", "tenant": {"tenant_id": "tenant_a"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [%s]}}],
"approval_gates": [
{"gate_id": "G_FINANCE", "when": {">": [{"var": "request.context.amount"}, %d]}},
{"gate_id": "G_RISK", "when": {"or": [{">=": [{"var": "request.context.score"}, %d]}, {"==": [{"var": "request.context.flagged"}, true]}]}}]},
"tooling_layer": {"adapter_registry": [
{"adapter_id": "adp_read", "capabilities": ["look"], "approval_mode": "read_only"},
{"adapter_id": "adp_mail", "capabilities": ["send"], "approval_mode": "network"},
{"adapter_id": "adp_pay", "capabilities": ["pay", "void"], "approval_mode": "destructive"}], "permissions": [
{"permission_id": "p_look", "adapter_id": "adp_read", "capability": "look", "allow": true},
{"permission_id": "p_send", "adapter_id": "adp_mail", "capability": "send", "allow": true},
{"permission_id": "p_pay", "adapter_id": "adp_pay", "capability": "pay", "allow": true, "requires_approval_gate": "G_FINANCE", "arg_constraints": {"sum": {"min": 1, "max": 5000}}},
{"permission_id": "p_void", "adapter_id": "adp_pay", "capability": "void", "allow": true, "requires_approval_gate": "G_RISK"}]},
"decision_layer": {"decision_specs": [{"decision_key": "pay", "approval_mode": "destructive"}, {"decision_key": "mail", "approval_mode": "network"}]},
"evaluation_layer": {"eval_targets": [{"intent": "pay.out"}]}}`, strings.Join(list, ",\n"), 100*(1+r.IntN(90)), 10*(1+r.IntN(9)))
	return []byte(src)
}

func rule(r *rand.Rand, number int) string {
	members := []string{
		fmt.Sprintf(`"rule_id": "R_%03d"`, number), `"applies_to": {"intent": "pay.out"}`, `"if": ` + condition(r, 1),
		fmt.Sprintf(`"decision_binding": %q`, []string{"pay", "pay", "mail"}[r.IntN(3)]),
	}
	switch {
	case number%3 > 0:
		members = append(members, `"then": {"allow": false}`)
	case r.IntN(3) == 0:
		members = append(members, `"then": {"allow": true, "requires_approval_gate": "G_RISK"}`)
	case r.IntN(3) == 0:
		members = append(members, `"then": {"allow": true}, "else": {"allow": true, "arg_constraints": {"sum": {"max": 1000}}}`)
	default:
		members = append(members, `"then": {"allow": true}`)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

var words = []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot"}

// condition is one comparison, or two or three that are joined.
func condition(r *rand.Rand, depth int) string {
	variable := func(names ...string) string {
		return fmt.Sprintf(`{"var": "request.context.%s"}`, names[r.IntN(len(names))])
	}
	switch r.IntN(8) {
	case 0, 1:
		return fmt.Sprintf(`{%q: [%s, %d]}`, []string{">", ">=", "<", "<="}[r.IntN(4)], variable("amount", "score", "days", "age"), 10*r.IntN(1000))
	case 2, 3:
		return fmt.Sprintf(`{"==": [%s, %t]}`, variable("verified", "flagged", "held"), r.IntN(2) == 0)
	case 4:
		return fmt.Sprintf(`{"in": [%s, [%q, %q]]}`, variable("region", "tier", "state"), words[r.IntN(6)], words[r.IntN(6)])
	case 5:
		return fmt.Sprintf(`{"==": [{"var": "user.role"}, %q]}`, words[r.IntN(6)])
	}
	if depth == 0 {
		return fmt.Sprintf(`{"==": [%s, %q]}`, variable("region", "tier", "channel"), words[r.IntN(6)])
	}
	parts := []string{condition(r, depth-1), condition(r, depth-1)}
	if r.IntN(3) == 0 {
		parts = append(parts, condition(r, depth-1))
	}
	return fmt.Sprintf(`{%q: [%s]}`, []string{"and", "and", "or"}[r.IntN(3)], strings.Join(parts, ", "))
}

// Edit returns a pack with one thing changed in its rules, gates or permissions: a number, a
// text, a flag or an operator is another one, or a member or an item is gone.
func Edit(r *rand.Rand, src []byte) ([]byte, error) {
	var pack map[string]any
	if err := json.Unmarshal(src, &pack); err != nil {
		return nil, err
	}
	var sites []func()
	for _, layer := range []string{"policy_layer", "tooling_layer"} {
		object, _ := pack[layer].(map[string]any)
		for _, member := range []string{"policy_bundles", "approval_gates", "permissions"} {
			collect(r, object, member, &sites)
		}
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("nothing of the pack can be edited")
	}
	sites[r.IntN(len(sites))]()
	return json.Marshal(pack)
}

// kept are members whose values name something, and are not policy.
var kept = []string{"var", "rule_id", "gate_id", "permission_id", "adapter_id", "capability", "bundle_id", "applies_to", "decision_binding", "rationale", "language", "requires", "reason", "required_approver_role"}

// collect notes what can be edited in a member.
func collect(r *rand.Rand, object map[string]any, member string, sites *[]func()) {
	if slices.Contains(kept, member) {
		return
	}
	set := func(v any) { *sites = append(*sites, func() { object[member] = v }) }
	switch v := object[member].(type) {
	case float64:
		set(other(r, v))
	case bool:
		set(!v)
	case map[string]any:
		inside(r, v, sites)
	case []any:
		items(r, v, sites)
		if operators := []string{">", ">=", "<", "<=", "==", "!=", "and", "or"}; slices.Contains(operators, member) {
			*sites = append(*sites, func() {
				delete(object, member)
				object[operators[slices.Index(operators, member)^1]] = v
			})
		}
	}
	if member == "else" || member == "requires_approval_gate" || member == "arg_constraints" {
		*sites = append(*sites, func() { delete(object, member) })
	}
}

func inside(r *rand.Rand, object map[string]any, sites *[]func()) {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		collect(r, object, name, sites)
	}
}

func items(r *rand.Rand, list []any, sites *[]func()) {
	for i := range list {
		switch v := list[i].(type) {
		case float64:
			*sites = append(*sites, func() { list[i] = other(r, v) })
		case bool:
			*sites = append(*sites, func() { list[i] = !v })
		case string:
			*sites = append(*sites, func() { list[i] = words[r.IntN(len(words))] })
		case map[string]any:
			inside(r, v, sites)
		case []any:
			items(r, v, sites)
		}
	}
}

// other returns a number that a limit may be changed to.
func other(r *rand.Rand, f float64) float64 {
	return float64(int(f*(0.5+r.Float64()))) + float64(r.IntN(2))
}

// Package randompack makes, for tests, random packs of a few decisions, tools and
// gates, versions of them that are changed, and requests that tell them apart.
package randompack

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// Random packs are made of few pieces, whose constants are what the Grid of
// requests below has a value on either side of.
var (
	conditions = []string{
		`true`, `false`, `{"==": [{"var": "request.context.verified"}, true]}`, `{"!": {"var": "request.context.verified"}}`,
		`{">": [{"var": "request.context.amount"}, 10]}`, `{">": [{"var": "request.context.amount"}, 20]}`,
		`{"<=": [{"var": "request.context.amount"}, 10]}`, `{"<": [10, {"var": "request.context.amount"}, 20]}`,
		`{"and": [{"==": [{"var": "user.tier"}, "agent"]}, {">": [{"var": "request.context.amount"}, 10]}]}`,
		`{"or": [{"!=": [{"var": "user.tier"}, "agent"]}, {"!": [{">": [{"var": "request.context.amount"}, 10]}]}]}`,
		`{"in": [{"var": "user.tier"}, ["agent", "lead"]]}`, `{"==": [{"var": "request.context.amount"}, null]}`,
		`{"missing": ["request.context.amount"]}`, `{"===": [{"var": "user.tier"}, "lead"]}`,
		`{"and": [{"!=": [{"var": "request.context.amount"}, null]}, {">": [{"var": "request.context.amount"}, 10]}]}`,
		`{">": [{"+": [{"var": "request.context.amount"}, 1]}, 10]}`,
		`{"==": [{"var": "safety_mode"}, "network"]}`,
	}
	DecisionKeys = []string{"d.read", "d.write", "d.pay"}
	ToolIDs      = []string{"adp_r.look", "adp_w.note", "adp_p.pay", "adp_p.void"}
	GateIDs      = []string{"G_A", "G_B"}
	ArgNames     = []string{"amount", "kind"}
	bounds       = []string{
		`{"max": 10}`, `{"max": 20}`, `{"min": 1, "max": 20}`, `{"min": 15}`, `{"required": true}`, `{"enum": ["a", "b"]}`,
		`{"enum": ["b", "c"]}`, `{"enum": ["d"], "required": true}`, `{"pattern": "^a"}`, `{"pattern": "^b"}`,
		`{"max": 10, "unless_approved": true}`, `{"max": 5, "unit": "INR"}`,
	}
)

func one[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func chance(r *rand.Rand, in int) bool { return r.IntN(in) == 0 }

// Parts are what a random pack is made of; Change turns them into those of a
// version to compare with.
type Parts struct {
	Rules, Gates, Permissions []string
	Modes                     map[string]string
	// Eligible has the eligibility_rules of decisions, where there are any; see Restrict.
	Eligible map[string]string
}

// Restrict gives each decision eligibility_rules, or takes them away, by chance.
func (p *Parts) Restrict(r *rand.Rand) {
	p.Eligible = map[string]string{}
	for _, key := range DecisionKeys {
		if chance(r, 2) {
			p.Eligible[key] = one(r, conditions)
		}
	}
}

func randomBounds(r *rand.Rand) string {
	var all []string
	for _, arg := range ArgNames {
		if chance(r, 2) {
			all = append(all, fmt.Sprintf("%q: %s", arg, one(r, bounds)))
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func randomOutcome(r *rand.Rand) string {
	var members []string
	switch r.IntN(5) {
	case 0, 1, 2:
		members = append(members, `"allow": true`)
	case 3:
		members = append(members, `"allow": false`)
	}
	if chance(r, 4) {
		members = append(members, fmt.Sprintf(`"requires_approval_gate": %q`, one(r, GateIDs)))
	}
	if chance(r, 6) {
		members = append(members, fmt.Sprintf(`"prohibits": [%q]`, one(r, []string{"pay", "adp_w.note", "look", "adp_p.void"})))
	}
	if chance(r, 4) {
		members = append(members, fmt.Sprintf(`"approval_mode": %q`, one(r, []string{"network", "destructive", "local_write", "read_only"})))
	}
	if chance(r, 4) {
		members = append(members, `"arg_constraints": `+randomBounds(r))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func randomRule(r *rand.Rand, id string) string {
	members := []string{fmt.Sprintf(`"rule_id": %q`, id), `"if": ` + one(r, conditions), `"then": ` + randomOutcome(r)}
	if chance(r, 3) {
		members = append(members, `"else": `+randomOutcome(r))
	}
	if !chance(r, 6) {
		members = append(members, `"applies_to": {"intent": "`+one(r, []string{"i.one", "i.one", "i.one", "i.two"})+`"}`)
	}
	if !chance(r, 6) {
		members = append(members, fmt.Sprintf(`"decision_binding": %q`, one(r, DecisionKeys)))
	}
	if chance(r, 8) {
		members = append(members, `"non_enforcing": true`)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func randomGate(r *rand.Rand, id string) string {
	return fmt.Sprintf(`{"gate_id": %q, "when": %s}`, id, one(r, conditions))
}

func randomPermission(r *rand.Rand, id string) string {
	adapter, name, _ := strings.Cut(id, ".")
	members := []string{fmt.Sprintf(`"permission_id": "p_%s", "adapter_id": %q, "capability": %q, "allow": %t`, name, adapter, name, !chance(r, 8))}
	if chance(r, 3) {
		members = append(members, fmt.Sprintf(`"requires_approval_gate": %q`, one(r, GateIDs)))
	}
	if chance(r, 2) {
		members = append(members, `"arg_constraints": `+randomBounds(r))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// Random returns the parts of a pack with one to four rules, two gates and four tools.
func Random(r *rand.Rand) *Parts {
	p := &Parts{Modes: map[string]string{
		"adp_r": "read_only", "adp_w": "local_write", "adp_p": "destructive", "d.read": "read_only", "d.write": "local_write", "d.pay": "destructive",
	}}
	for i := range 1 + r.IntN(4) {
		p.Rules = append(p.Rules, randomRule(r, fmt.Sprintf("R_%d", i)))
	}
	for _, id := range GateIDs {
		p.Gates = append(p.Gates, randomGate(r, id))
	}
	for _, id := range ToolIDs {
		p.Permissions = append(p.Permissions, randomPermission(r, id))
	}
	return p
}

// Change returns the Parts with one or two of them changed.
func (p *Parts) Change(r *rand.Rand) *Parts {
	q := &Parts{slices.Clone(p.Rules), slices.Clone(p.Gates), slices.Clone(p.Permissions), maps.Clone(p.Modes), maps.Clone(p.Eligible)}
	for range 1 + r.IntN(2) {
		switch r.IntN(9) {
		case 0, 1, 2:
			q.Rules[r.IntN(len(q.Rules))] = randomRule(r, "R_new")
			q.Rules = slices.CompactFunc(q.Rules, func(a, b string) bool { return strings.Contains(a, "R_new") && strings.Contains(b, "R_new") })
		case 3:
			q.Rules = append(q.Rules, randomRule(r, fmt.Sprintf("R_%d", 10+len(q.Rules))))
		case 4:
			if len(q.Rules) > 1 {
				q.Rules = slices.Delete(q.Rules, 0, 1)
			}
		case 5:
			i := r.IntN(len(GateIDs))
			q.Gates[i] = randomGate(r, GateIDs[i])
		case 6, 7:
			i := r.IntN(len(ToolIDs))
			q.Permissions[i] = randomPermission(r, ToolIDs[i])
		case 8:
			name := one(r, []string{"adp_w", "adp_p", "d.read", "d.write", "d.pay"})
			q.Modes[name] = one(r, []string{"read_only", "local_write", "network", "destructive"})
		}
	}
	// A rule that was replaced twice has its name twice.
	seen := map[string]bool{}
	q.Rules = slices.DeleteFunc(q.Rules, func(s string) bool {
		id := s[:strings.Index(s, ",")]
		again := seen[id]
		seen[id] = true
		return again
	})
	return q
}

// String returns the pack that is made of the parts, as JSON.
func (p *Parts) String() string {
	var decisions []string
	for _, key := range DecisionKeys {
		eligible := ""
		if when, ok := p.Eligible[key]; ok {
			eligible = `, "eligibility_rules": ` + when
		}
		decisions = append(decisions, fmt.Sprintf(`{"decision_key": %q, "approval_mode": %q%s}`, key, p.Modes[key], eligible))
	}
	return fmt.Sprintf(`{
"pack_meta": {"pack_id": "ctxpack.test", "pack_version": "1.0.0", "tenant": {"tenant_id": "tenant_a"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [
%s
]}}], "approval_gates": [
%s
]},
"tooling_layer": {"adapter_registry": [
{"adapter_id": "adp_r", "capabilities": ["look"], "approval_mode": %q},
{"adapter_id": "adp_w", "capabilities": ["note"], "approval_mode": %q},
{"adapter_id": "adp_p", "capabilities": ["pay", "void"], "approval_mode": %q}], "permissions": [
%s
]},
"decision_layer": {"decision_specs": [%s]}, "evaluation_layer": {"eval_targets": [{"intent": "i.one"}]}}`,
		strings.Join(p.Rules, ",\n"), strings.Join(p.Gates, ",\n"), p.Modes["adp_r"], p.Modes["adp_w"], p.Modes["adp_p"],
		strings.Join(p.Permissions, ",\n"), strings.Join(decisions, ", "))
}

// Read reads a pack that has no fault.
func Read(t testing.TB, src string) *pack.Pack {
	t.Helper()
	d, faults := pack.Read("pack.json", []byte(src), pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%v\n%s", faults, src)
	}
	p := &pack.Pack{}
	pack.Decode(d.Root, p)
	return p
}

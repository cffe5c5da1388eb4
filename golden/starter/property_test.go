package starter_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// pick returns one of the texts.
func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// condition writes a condition over three variables: a number, a truth and a
// text, each of which may be missing.
func condition(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		operator := pick(r, "and", "or", "!")
		if operator == "!" {
			return `{"!": ` + condition(r, depth-1) + `}`
		}
		return fmt.Sprintf(`{%q: [%s, %s]}`, operator, condition(r, depth-1), condition(r, depth-1))
	}
	return pick(r,
		fmt.Sprintf(`{%q: [{"var": "request.context.n"}, %d]}`, pick(r, ">", "<", ">=", "<="), r.IntN(3)),
		`{"==": [{"var": "request.context.ok"}, true]}`,
		`{"===": [{"var": "request.context.ok"}, false]}`,
		`{"in": [{"var": "user.role"}, ["x", "y"]]}`,
		`{"===": [{"var": "user.role"}, "x"]}`,
		`{"missing": ["request.context.n"]}`,
		`{"!!": {"var": "user.role"}}`,
	)
}

func outcome(r *rand.Rand) string {
	var parts []string
	parts = append(parts, pick(r, `"allow": true`, `"allow": true`, `"allow": false`, `"reason": "r"`))
	if r.IntN(4) == 0 {
		parts = append(parts, fmt.Sprintf(`"requires_approval_gate": "GATE_%d"`, r.IntN(2)))
	}
	if r.IntN(5) == 0 {
		parts = append(parts, fmt.Sprintf(`"prohibits": ["adp_payments.%s"]`, pick(r, "pay", "void")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// randomPack writes a small pack: rules of two intents, two decisions, two gates,
// three tools.
func randomPack(r *rand.Rand) string {
	var rules []string
	for i := range 1 + r.IntN(5) {
		members := []string{fmt.Sprintf(`"rule_id": "R_%d"`, i), `"if": ` + condition(r, 2), `"then": ` + outcome(r)}
		if r.IntN(4) > 0 {
			members = append(members, fmt.Sprintf(`"applies_to": {"intent": "intent.%d"}`, r.IntN(2)))
		}
		if r.IntN(2) == 0 {
			members = append(members, `"else": `+outcome(r))
		}
		if r.IntN(5) > 0 {
			members = append(members, fmt.Sprintf(`"decision_binding": %q`, pick(r, "look", "pay")))
		}
		if r.IntN(6) == 0 {
			members = append(members, `"non_enforcing": true`)
		}
		rules = append(rules, "{"+strings.Join(members, ", ")+"}")
	}
	gate := func(id int) string {
		return fmt.Sprintf(`{"gate_id": "GATE_%d", "when": %s, "required_approver_role": "lead", "ttl_seconds": 60}`, id, condition(r, 1))
	}
	permission := func(capability string) string {
		named := ""
		if r.IntN(2) == 0 {
			named = fmt.Sprintf(`, "requires_approval_gate": "GATE_%d"`, r.IntN(2))
		}
		return fmt.Sprintf(`{"permission_id": "p_%s", "adapter_id": "adp_payments", "capability": %q, "allow": %v%s}`, capability, capability, r.IntN(5) > 0, named)
	}
	return fmt.Sprintf(`{"pack_meta": {"pack_id": "ctxpack.p", "pack_version": "1.0.0", "tenant": {"tenant_id": "tenant_a"}},
"intelligence_refs": {"knowledge_graph": {"snapshot_pin_rule": "snapshot:kg_1"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [%s]}}],
  "guardrails": {"must_refuse": [], "must_escalate": [], "redaction_rules": []}, "approval_gates": [%s, %s]},
"tooling_layer": {"adapter_registry": [{"adapter_id": "adp_payments", "capabilities": ["pay", "void"], "approval_mode": %q},
  {"adapter_id": "adp_orders", "capabilities": ["look"], "approval_mode": "read_only"}], "permissions": [%s, %s]},
"decision_layer": {"decision_specs": [{"decision_key": "pay", "approval_mode": %q, "required_evidence": ["order"]}, {"decision_key": "look", "approval_mode": "read_only"}]},
"evaluation_layer": {"eval_targets": [{"intent": "intent.0"}, {"intent": "intent.1"}]}}`,
		strings.Join(rules, ", "), gate(0), gate(1), pick(r, "destructive", "network"), permission("pay"), permission("void"), pick(r, "destructive", "network"))
}

// grid is every request over the values that the conditions tell apart.
func grid(u *repo.Unit) []golden.Result {
	program := compiler.Prepare(u.Pack)
	put := func(in map[string]any, name string, value any) {
		if value != "" {
			in[name] = value
		}
	}
	var results []golden.Result
	for _, intent := range []string{"intent.0", "intent.1"} {
		for _, n := range []any{"", -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, "text"} {
			for _, ok := range []any{"", true, false, "text"} {
				for _, role := range []any{"", "x", "y", "z"} {
					facts, user := map[string]any{}, map[string]any{"user_id": "u"}
					put(facts, "n", n)
					put(facts, "ok", ok)
					put(user, "role", role)
					data := map[string]any{"user": user, "request": map[string]any{"intent": intent, "context": facts}}
					detail, err := program.Compile(proof.Request(u.Pack, jsonlogic.Overlay(data, nil)))
					if err == nil {
						results = append(results, golden.Result{Case: "grid", Outcome: detail.Outcome, Detail: detail})
					}
				}
			}
		}
	}
	return results
}

// Whatever any request of the grid reaches, a set shows; what a set says nobody
// reaches, no request of the grid does; and all cases hold.
func TestEverythingReachableIsCovered(t *testing.T) {
	reached, missed := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		u := unitOf(read(t, randomPack(r)))
		cases, unreached := makeCases(u, nil)
		covered, possible := holding(t, u, nil, cases), golden.Cover(u, grid(u))
		for i, parts := range [][]golden.Covered{possible.Rules, possible.Else, possible.Gates} {
			for j, part := range parts {
				have := [][]golden.Covered{covered.Rules, covered.Else, covered.Gates}[i][j]
				if part.Exercised() && !have.Exercised() {
					t.Errorf("seed %d: %s is reached by requests and covered by no case\n%s", seed, part.Name, lines(cases, unreached))
				}
				if have.Exercised() {
					reached++
				} else {
					missed++
				}
			}
		}
		exercised, all := covered.Count()
		if said := len(unreached); said < all-exercised {
			t.Errorf("seed %d: %d parts are not covered, and %d said to be so", seed, all-exercised, said)
		}
		if t.Failed() {
			t.Fatal(u.Document.Root.Raw())
		}
	}
	if reached < 500 || missed < 20 {
		t.Errorf("%d parts are reached and %d are not: the packs show little", reached, missed)
	}
}

// Any pack at all has a set that holds, and has the same one each time.
func FuzzCases(f *testing.F) {
	f.Add(string(supportPack(f)))
	for seed := range uint64(20) {
		f.Add(randomPack(rand.New(rand.NewPCG(seed, 3))))
	}
	f.Add(`{}`)
	f.Add(`{"policy_layer": {"policy_bundles": [{"policy_dsl": {"rules": [{}]}}]}}`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, faults := pack.Read("pack.json", []byte(src), pack.DefaultLimits())
		if len(faults) > 0 || doc.Root == nil || len(src) > 1<<16 {
			return
		}
		u := unitOf(doc)
		cases, unreached := makeCases(u, nil)
		holding(t, u, nil, cases)
		if again, _ := makeCases(u, nil); lines(again, nil) != lines(cases, nil) {
			t.Error("two sets of one pack differ")
		}
		if len(cases) == 0 && len(unreached) == 0 {
			t.Error("there is no case, and nothing says why")
		}
	})
}

package flips_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// The pieces of random packs, and the requests that are tried on both sides of
// their constants.
var (
	conditions = []string{
		`true`, `{"==": [{"var": "request.context.verified"}, true]}`, `{"!": {"var": "request.context.verified"}}`,
		`{">": [{"var": "request.context.amount"}, 10]}`, `{">": [{"var": "request.context.amount"}, 20]}`,
		`{"<": [10, {"var": "request.context.amount"}, 20]}`, `{"in": [{"var": "user.tier"}, ["agent", "lead"]]}`,
		`{"and": [{"==": [{"var": "user.tier"}, "agent"]}, {">": [{"var": "request.context.amount"}, 10]}]}`,
		`{"missing": ["request.context.amount"]}`, `{">": [{"+": [{"var": "request.context.amount"}, 1]}, 10]}`,
		`{"==": [{"var": "safety_mode"}, "network"]}`,
	}
	outcomes = []string{
		`{"allow": true}`, `{"allow": true}`, `{"allow": false}`, `{}`, `{"allow": true, "requires_approval_gate": "G_A"}`,
		`{"allow": true, "prohibits": ["adp_p.pay"]}`, `{"requires_approval_gate": "G_B"}`,
	}
	grid = []string{
		`{}`, `{"verified": true}`, `{"verified": true, "amount": 5}`, `{"verified": false, "amount": 15}`, `{"amount": 21}`, `{"amount": "15"}`,
	}
	roles = []string{`"agent"`, `"lead"`, `"guest"`, `null`}
)

func one[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomRule(r *rand.Rand, id int) string {
	intent, binding, otherwise := one(r, []string{"i.one", "i.one", "i.two"}), "", ""
	if r.IntN(6) > 0 {
		binding = fmt.Sprintf(`, "decision_binding": %q`, one(r, []string{"d.read", "d.pay"}))
	}
	if r.IntN(2) == 0 {
		otherwise = `, "else": ` + one(r, outcomes)
	}
	return fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": %q}, "if": %s, "then": %s%s%s}`,
		id, intent, one(r, conditions), one(r, outcomes), otherwise, binding)
}

// randomPair returns the sources of two packs that differ in a rule or two, or in
// a gate.
func randomPair(r *rand.Rand) (base, head string) {
	var rules []string
	for i := range 1 + r.IntN(4) {
		rules = append(rules, randomRule(r, i))
	}
	gates := []string{one(r, conditions), one(r, conditions)}
	base = randomPack(rules, gates)
	for range 1 + r.IntN(2) {
		switch r.IntN(4) {
		case 0:
			gates[r.IntN(2)] = one(r, conditions)
		case 1:
			rules = append(rules, randomRule(r, 10+len(rules)))
		default:
			i := r.IntN(len(rules))
			rules[i] = randomRule(r, i)
		}
	}
	seen := map[string]bool{}
	rules = slices.DeleteFunc(rules, func(rule string) bool {
		id, _, _ := strings.Cut(rule, ",")
		again := seen[id]
		seen[id] = true
		return again
	})
	return base, randomPack(rules, gates)
}

func randomPack(rules, gates []string) string {
	return fmt.Sprintf(`{
"pack_meta": {"pack_id": "ctxpack.test", "pack_version": "1.0.0", "tenant": {"tenant_id": "tenant_a"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [
%s
]}}], "approval_gates": [{"gate_id": "G_A", "when": %s}, {"gate_id": "G_B", "when": %s}]},
"tooling_layer": {"adapter_registry": [
{"adapter_id": "adp_r", "capabilities": ["look"], "approval_mode": "read_only"},
{"adapter_id": "adp_p", "capabilities": ["pay"], "approval_mode": "destructive"}], "permissions": [
{"permission_id": "p_look", "adapter_id": "adp_r", "capability": "look", "allow": true},
{"permission_id": "p_pay", "adapter_id": "adp_p", "capability": "pay", "allow": true, "requires_approval_gate": "G_A"}]},
"decision_layer": {"decision_specs": [{"decision_key": "d.read", "approval_mode": "read_only"}, {"decision_key": "d.pay", "approval_mode": "destructive"}]},
"evaluation_layer": {"eval_targets": [{"intent": "i.one"}, {"intent": "i.two"}]}}`, strings.Join(rules, ",\n"), gates[0], gates[1])
}

func read(t testing.TB, src string) *pack.Pack {
	t.Helper()
	d, faults := pack.Read("pack.json", []byte(src), pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%v\n%s", faults, src)
	}
	return pack.New(d)
}

// requests returns the requests of the grid, as data of conditions.
func requests(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, intent := range []string{"i.one", "i.two"} {
		for _, context := range grid {
			for _, role := range roles {
				d, _ := pack.Read("", fmt.Appendf(nil, `{"request": {"intent": %q, "context": %s, "note": "x"}, "user": {"tier": %s}, "safety_mode": "destructive"}`,
					intent, context, role), pack.DefaultLimits())
				all = append(all, d.Root.Any().(map[string]any))
			}
		}
	}
	return all
}

// goldenCase makes the golden case of a request.
func goldenCase(t testing.TB, name string, base, head *pack.Pack, data map[string]any) compiles.Case {
	t.Helper()
	c := compiles.Case{Name: name, Request: proof.Request(head, data)}
	for _, side := range []struct {
		into *compiles.Side
		p    *pack.Pack
	}{{&c.Base, base}, {&c.Head, head}} {
		side.into.Program = compiler.Prepare(side.p)
		var err error
		if side.into.Result, err = side.into.Program.Compile(proof.Request(side.p, data)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// decisions returns how the decisions stand for a request.
func decisions(t testing.TB, p *pack.Pack, data map[string]any) map[string]string {
	t.Helper()
	r, err := compiler.Prepare(p).Compile(proof.Request(p, data))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, key := range []string{"d.read", "d.pay"} {
		out[key] = "stopped"
	}
	if r.Outcome == compiler.Compiled {
		for _, d := range r.Trace.Decisions {
			out[d.Decision.DecisionKey.Value] = string(d.State)
		}
	}
	return out
}

// TestRandom holds what is found in random pairs of packs against compiles: each
// flip is one, each golden case that is allowed in one version alone is found, and
// so is whatever the comparison of effects has a request for.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	all := requests(t)
	total := 0
	for n := range 300 {
		baseSrc, headSrc := randomPair(r)
		base, head := read(t, baseSrc), read(t, headSrc)
		var cases []compiles.Case
		var chosen []map[string]any
		for i := range 4 {
			data := one(r, all)
			chosen = append(chosen, data)
			cases = append(cases, goldenCase(t, fmt.Sprintf("case %d", i), base, head, data))
		}
		effects := proof.Compare(proof.New(base), proof.New(head), jsonlogic.Solver{})
		found := find(t, base, head, cases, effects)
		total += len(found.Flips)
		if again := find(t, base, head, cases, effects); !reflect.DeepEqual(found, again) {
			t.Fatalf("%d: two searches differ", n)
		}
		for _, f := range found.Flips {
			if was, is := stands(t, base, f), stands(t, head, f); was != f.Old.String() || is != f.New.String() || was == is {
				t.Errorf("%d: %s: %s is %s -> %s, wanted %s -> %s\n%s\n%s", n, f.Subject, pack.CompactJSON(f.Request), was, is, f.Old, f.New, baseSrc, headSrc)
			}
		}
		for i, data := range chosen {
			was, is := decisions(t, base, data), decisions(t, head, data)
			for key := range was {
				if (was[key] == "allowed") != (is[key] == "allowed") && !slices.ContainsFunc(found.Flips, func(f flips.Flip) bool {
					return f.Subject == key && slices.Contains(f.Cases, cases[i].Name)
				}) {
					t.Errorf("%d: %s of %s: %s -> %s is not found\n%s\n%s", n, key, cases[i].Name, was[key], is[key], baseSrc, headSrc)
				}
			}
		}
		for _, x := range effects {
			if x.Gained == nil || x.Kind != proof.Decision {
				continue
			}
			if !slices.ContainsFunc(found.Flips, func(f flips.Flip) bool {
				return f.Subject == x.Subject && f.Intent == x.Intent && f.Verdict == proof.Grew
			}) {
				t.Errorf("%d: %s grew and no flip says so\n%s\n%s", n, x.Subject, baseSrc, headSrc)
			}
		}
		if t.Failed() {
			return
		}
	}
	if total < 300 {
		t.Errorf("only %d flips in 300 pairs", total)
	}
}

// Equal packs flip nothing, whatever the requests.
func TestEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := requests(t)
	for range 50 {
		src, _ := randomPair(r)
		base, head := read(t, src), read(t, src)
		found := find(t, base, head, []compiles.Case{goldenCase(t, "x", base, head, one(r, all))}, nil)
		if len(found.Flips) > 0 || len(found.NotChecked) > 0 {
			t.Fatalf("%+v\n%s", found, src)
		}
	}
}

// thresholds returns a pack with many limits of several variables, each a rule.
func thresholds(from int) string {
	var list []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf(`{"rule_id": "R_%d", "applies_to": {"intent": "i.one"}, "if": {">": [{"var": "request.context.v_%d"}, %d]}, "then": {"allow": true}, "decision_binding": "d.pay"}`, i, i%30, from+10*i))
	}
	return randomPack(list, []string{"true", "true"})
}

// heavy returns a pack with one condition of 71 KB that reads 1,400 variables.
func heavy(limit int) string {
	var parts []string
	for i := range 1400 {
		parts = append(parts, fmt.Sprintf(`{">": [{"var": "request.context.v_%d"}, %d]}`, i, limit))
	}
	rule := fmt.Sprintf(`{"rule_id": "R", "applies_to": {"intent": "i.one"}, "if": {"or": [%s]}, "then": {"allow": true}, "decision_binding": "d.pay"}`, strings.Join(parts, ","))
	return randomPack([]string{rule}, []string{"true", "true"})
}

// What is beyond the bounds is said, and the search ends.
func TestBounds(t *testing.T) {
	for name, sources := range map[string][2]string{
		"thresholds": {thresholds(0), thresholds(5)}, "heavy": {heavy(10), heavy(20)},
	} {
		base, head := read(t, sources[0]), read(t, sources[1])
		found := find(t, base, head, nil, nil)
		if found.Requests > 1000 || !mentions(found, "requests around changed thresholds were not run") {
			t.Errorf("%s: %d requests, %q", name, found.Requests, found.NotChecked)
		}
		if name == "heavy" && len(found.Flips) == 0 {
			t.Error("nothing is found")
		}
	}
}

func mentions(r flips.Result, what string) bool {
	return slices.ContainsFunc(r.NotChecked, func(reason string) bool { return strings.Contains(reason, what) })
}

// Once the context has ended nothing more is run, and that is said.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	base, head := compiler.Prepare(read(t, thresholds(0))), compiler.Prepare(read(t, thresholds(5)))
	if found := flips.Find(ctx, flips.Step{Base: base, Head: head}); found.Requests > 0 || !mentions(found, "were not run") {
		t.Errorf("%d requests, %q", found.Requests, found.NotChecked)
	}
}

// BenchmarkHeavy searches the step of a pack that costs much to evaluate.
func BenchmarkHeavy(b *testing.B) {
	base, head := read(b, heavy(10)), read(b, heavy(20))
	for b.Loop() {
		b.ReportMetric(float64(find(b, base, head, nil, nil).Requests), "requests")
	}
}

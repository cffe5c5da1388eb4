package diffing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/completion"
)

// Random policies speak of one amount, one role and one flag. There is one
// decision and one tool, so that every gate which is active holds them, and what
// a request is permitted can be read off its compile.
var (
	clauses = []string{
		`true`, `{"==": [{"var": "user.tier"}, "agent"]}`, `{"!=": [{"var": "user.tier"}, "agent"]}`,
		`{">": [{"var": "request.context.amount"}, 10]}`, `{"<=": [{"var": "request.context.amount"}, 10]}`,
		`{">": [{"var": "request.context.amount"}, 20]}`, `{"===": [{"var": "request.context.ok"}, true]}`,
		`{"!": [{"var": "request.context.ok"}]}`, `{"==": [{"var": "request.context.amount"}, null]}`,
		`{"+": [{"var": "request.context.amount"}, -10]}`,
	}
	outcomes = []string{
		`"allow": true`, `"allow": true`, `"allow": true`, `"allow": false`, `"allow": true, "requires_approval_gate": "G_A"`,
		`"allow": true, "approval_mode": "network"`, `"allow": true, "arg_constraints": {"sum": {"max": 50}}`,
		`"prohibits": ["pay"]`, `"requires_approval_gate": "G_B"`, `"arg_constraints": {"sum": {"max": 20}}`,
	}
	limits = []string{`{}`, `{"sum": {"max": 100}}`, `{"sum": {"max": 40}}`}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// sketch is a random pack in parts; what it does not say is always the same.
type sketch struct {
	rules, gates map[string]string // by id
	limits       string
	named        bool // the permission names a gate
}

func randomCondition(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf(`{"and": [%s, %s]}`, pick(r, clauses), pick(r, clauses))
	case 1:
		return fmt.Sprintf(`{"or": [%s, %s]}`, pick(r, clauses), pick(r, clauses))
	}
	return pick(r, clauses)
}

func randomRule(r *rand.Rand) string {
	text := fmt.Sprintf(`"applies_to": {"intent": "i.one"}, "if": %s, "then": {%s}`, randomCondition(r), pick(r, outcomes))
	if r.IntN(3) == 0 {
		text += fmt.Sprintf(`, "else": {%s}`, pick(r, outcomes))
	}
	if r.IntN(8) > 0 {
		text += `, "decision_binding": "d.pay"`
	}
	if r.IntN(10) == 0 {
		text += `, "non_enforcing": true`
	}
	return text
}

func randomSketch(r *rand.Rand) sketch {
	s := sketch{rules: map[string]string{}, gates: map[string]string{}, limits: pick(r, limits), named: r.IntN(2) == 0}
	for i := range 1 + r.IntN(3) {
		s.rules[fmt.Sprintf("R_%d", i)] = randomRule(r)
	}
	for _, id := range []string{"G_A", "G_B"} {
		s.gates[id] = pick(r, clauses[:len(clauses)-1])
	}
	return s
}

// changed returns the sketch with one to three changes.
func (s sketch) changed(r *rand.Rand) sketch {
	s.rules, s.gates = maps.Clone(s.rules), maps.Clone(s.gates)
	for range 1 + r.IntN(3) {
		ids := slices.Sorted(maps.Keys(s.rules))
		id := pick(r, ids)
		switch r.IntN(7) {
		case 0, 1:
			s.rules[id] = randomRule(r)
		case 2:
			s.rules[fmt.Sprintf("R_%d", 3+r.IntN(3))] = randomRule(r)
		case 3:
			if len(ids) > 1 {
				delete(s.rules, id)
			}
		case 4: // the same condition in other words
			s.rules[id] = strings.Replace(s.rules[id], `"if": `, `"if": {"and": [true, `, 1)
			s.rules[id] = strings.Replace(s.rules[id], `, "then"`, `]}, "then"`, 1)
		case 5:
			s.gates[pick(r, []string{"G_A", "G_B"})] = pick(r, clauses[:len(clauses)-1])
		case 6:
			s.limits, s.named = pick(r, limits), r.IntN(2) == 0
		}
	}
	return s
}

func (s sketch) source() []byte {
	var rules, gates []string
	for _, id := range slices.Sorted(maps.Keys(s.rules)) {
		rules = append(rules, fmt.Sprintf(`{"rule_id": %q, %s}`, id, s.rules[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(s.gates)) {
		gates = append(gates, fmt.Sprintf(`{"gate_id": %q, "when": %s}`, id, s.gates[id]))
	}
	named := ""
	if s.named {
		named = `, "requires_approval_gate": "G_A"`
	}
	return []byte(fmt.Sprintf(`{"pack_meta": {"pack_id": "ctxpack.test", "pack_version": "1.0.0", "tenant": {"tenant_id": "tenant_a"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [%s]}}], "approval_gates": [%s]},
"tooling_layer": {"adapter_registry": [{"adapter_id": "adp", "capabilities": ["pay"], "approval_mode": "destructive"}],
"permissions": [{"permission_id": "p", "adapter_id": "adp", "capability": "pay", "allow": true, "arg_constraints": %s%s}]},
"decision_layer": {"decision_specs": [{"decision_key": "d.pay", "approval_mode": "destructive"}]}, "evaluation_layer": {"eval_targets": [{"intent": "i.one"}]}}`,
		strings.Join(rules, ", "), strings.Join(gates, ", "), s.limits, named))
}

// permitted is what one request is permitted.
type permitted struct {
	allowed, surfaced bool
	gates             []string
	most              float64 // of the tool's argument; 1000 for no bound
	rank              int
	stopped           bool
}

func permits(t *testing.T, program *compiler.Program, p *pack.Pack, data map[string]any) (is permitted) {
	t.Helper()
	result, err := program.Compile(proof.Request(p, data))
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != compiler.Compiled {
		return permitted{stopped: result.Outcome == compiler.PolicyEvalError}
	}
	for _, d := range result.Trace.Decisions {
		is.allowed = is.allowed || d.State == compiler.DecisionAllowed
	}
	is.gates, is.most = result.Context.RuntimeControls.ApprovalGatesActive, 1000
	for _, e := range result.Context.Manifests.ToolManifest {
		is.surfaced = true
		is.rank = pack.ApprovalMode(e.CapabilityMetadata["pay"].ApprovalMode).Rank()
		if bound, ok := e.Constraints["pay"]["sum"].(map[string]any); ok {
			is.most = bound["max"].(float64)
		}
	}
	return is
}

// moreThan reports whether more is permitted than a pack permitted a request, or than
// it would have in some completion where it stopped.
func (is permitted) moreThan(t *testing.T, was permitted, base *pack.Pack, data map[string]any) bool {
	if !was.stopped {
		return is.more(was)
	}
	request := proof.Request(base, data)
	return slices.ContainsFunc(completion.Packs(t, base, "i.one", request.Data()), func(p *pack.Pack) bool {
		return is.more(permits(t, compiler.Prepare(p), p, data))
	})
}

// more reports whether more is permitted than was.
func (is permitted) more(was permitted) bool {
	switch {
	case is.allowed && !was.allowed, is.surfaced && !was.surfaced:
		return true
	case !is.surfaced || !was.surfaced:
		return false
	}
	released := slices.ContainsFunc(was.gates, func(g string) bool { return !slices.Contains(is.gates, g) })
	return released || is.most > was.most || is.rank > was.rank
}

// requests returns one for each combination of the values that conditions tell
// apart, and those that the comparison shows.
func requests(d *Diff) (all []map[string]any) {
	for _, amount := range []any{nil, 9.0, 10.0, 11.0, 20.0, 21.0, "x"} {
		for _, ok := range []any{nil, true, false, 1.0} {
			for _, role := range []any{nil, "agent", "other", 1.0} {
				context := map[string]any{}
				for name, v := range map[string]any{"amount": amount, "ok": ok} {
					if v != nil {
						context[name] = v
					}
				}
				data := map[string]any{"request": map[string]any{"intent": "i.one", "context": context}}
				if role != nil {
					data["user"] = map[string]any{"tier": role}
				}
				all = append(all, data)
			}
		}
	}
	for _, e := range d.Effects {
		for _, shown := range []map[string]any{e.Gained, e.Lost} {
			if shown != nil && e.Intent == "i.one" {
				all = append(all, shown)
			}
		}
	}
	return all
}

// Of random pairs of policies: where a request is permitted more than before, by
// compiling both packs for it, the class is major; where one is permitted less, it
// is at least minor. And no class is below what is proved of the whole, nor does the
// order of items show in any, or in a request that is shown.
func TestClassesAgreeWithTheCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 4))
	count := map[Class]int{}
	for i := range 500 {
		before := randomSketch(r)
		after := before.changed(r)
		baseSrc, headSrc := before.source(), after.source()
		d := diff(t, baseSrc, withVersion(t, headSrc, "9.0.0"))
		if i%3 == 0 {
			lawOrder(t, d, diff(t, shuffled(t, baseSrc), shuffled(t, withVersion(t, headSrc, "9.0.0"))))
		}
		base, head := read(t, "base.json", baseSrc), read(t, "head.json", headSrc)
		b, h := compiler.Prepare(base), compiler.Prepare(head)
		var least Class
		for _, data := range requests(d) {
			was, is := permits(t, b, base, data), permits(t, h, head, data)
			switch {
			case is.moreThan(t, was, base, data):
				least = Major
			case was.more(is):
				least = max(least, Minor)
			}
		}
		if d.Class < least || d.Class < leastOf(d.Effect) {
			t.Fatalf("%d: the class is %s, and at least %s by compiling, by the effect %s\nbase %s\nhead %s\n%s",
				i, d.Class, least, d.Effect, baseSrc, headSrc, renderProofs(d))
		}
		count[d.Class]++
	}
	for c := Patch; c <= Major; c++ {
		if count[c] < 20 {
			t.Errorf("only %d pairs are %s", count[c], c)
		}
	}
}

// leastOf is the class that an effect calls for.
func leastOf(v proof.Verdict) Class {
	switch v {
	case proof.Shrank:
		return Minor
	case proof.Grew, proof.Incomparable:
		return Major
	}
	return None
}

package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/hang"
	"github.com/contextosai/packgate/test/randompack"
)

func list(count int, item func(i int) string) string {
	items := make([]string, count)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",\n")
}

// frame is a pack of these parts.
func frame(rules, gates, adapters, permissions, decisions, targets string) string {
	return fmt.Sprintf(`{"pack_meta": {"pack_id": "p", "pack_version": "1.0.0", "tenant": {"tenant_id": "t"}},
"policy_layer": {"policy_bundles": [{"bundle_id": "B", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [%s]}}], "approval_gates": [%s]},
"tooling_layer": {"adapter_registry": [%s], "permissions": [%s]}, "decision_layer": {"decision_specs": [%s]}, "evaluation_layer": {"eval_targets": [%s]}}`,
		rules, gates, adapters, permissions, decisions, targets)
}

// tools returns an adapter of so many capabilities, and their permissions.
func tools(count int) (adapters, permissions string) {
	return `{"adapter_id": "a", "approval_mode": "destructive", "capabilities": [` + list(count, func(i int) string { return fmt.Sprintf(`"c%d"`, i) }) + `]}`,
		list(count, func(i int) string {
			return fmt.Sprintf(`{"permission_id": "p%d", "adapter_id": "a", "capability": "c%d", "allow": true, "arg_constraints": {"x": {"max": %d}}}`, i, i, i)
		})
}

func destructive(i int) string {
	return fmt.Sprintf(`{"decision_key": "d%d", "approval_mode": "destructive"}`, i)
}

// slow returns packs that are made to be slow, each with a part that differs
// between two versions.
func slow() map[string]func(version int) string {
	return map[string]func(int) string{
		"intents": func(v int) string {
			a, p := tools(25)
			return frame(list(100, func(i int) string {
				return fmt.Sprintf(`{"rule_id": "R%d", "if": {">": [{"var": "x%d"}, %d]}, "then": {"allow": true}, "decision_binding": "d%d"}`, i, i, v, i%10)
			}), "", a, p, list(10, destructive), list(220, func(i int) string { return fmt.Sprintf(`{"intent": "i%d"}`, i) }))
		},
		"decisions": func(v int) string {
			a, p := tools(200)
			return frame(list(250, func(i int) string {
				return fmt.Sprintf(`{"rule_id": "R%d", "if": {"<": [{"+": [{"var": "x"}, %d]}, %d]}, "then": {"allow": true}, "decision_binding": "d%d"}`, i, i+v, i, i)
			}), "", a, p, list(250, destructive), `{"intent": "i"}`)
		},
		"bounds": func(v int) string {
			a, p := tools(200)
			return frame(list(500, func(i int) string {
				return fmt.Sprintf(`{"rule_id": "R%d", "if": {">": [{"var": "x"}, %d]}, "then": {"allow": true, "arg_constraints": {"x": {"max": %d, "enum": ["v%d"]}}}, "decision_binding": "d0"}`, i, i+v, i+v, i)
			}), "", a, p, destructive(0), `{"intent": "i"}`)
		},
		"gates": func(v int) string {
			a, p := tools(150)
			return frame(list(500, func(i int) string {
				return fmt.Sprintf(`{"rule_id": "R%d", "if": {">": [{"var": "x"}, %d]}, "then": {"allow": true, "requires_approval_gate": "G%d"}}`, i, i, i%150)
			})+fmt.Sprintf(`, {"rule_id": "Q", "if": {">": [{"var": "y"}, %d]}, "then": {"allow": true}, "decision_binding": "d0"}`, v),
				list(150, func(i int) string {
					return fmt.Sprintf(`{"gate_id": "G%d", "when": {">": [{"var": "x%d"}, %d]}}`, i, i, v)
				}), a, p, destructive(0), `{"intent": "i"}`)
		},
		"prohibitions": func(v int) string {
			a, p := tools(500)
			return frame(list(500, func(i int) string {
				return fmt.Sprintf(`{"rule_id": "R%d", "if": {"==": [{"var": "x"}, %d]}, "then": {"allow": true, "prohibits": ["c%d"]}, "decision_binding": "d0"}`, i, i+v, i)
			}), "", a, p, destructive(0), `{"intent": "i"}`)
		},
		"a puzzle": puzzle,
	}
}

// puzzle is a pack whose proofs are hard: more pigeons than holes.
func puzzle(v int) string {
	a, p := tools(1)
	return frame(list(12, func(i int) string {
		return fmt.Sprintf(`{"rule_id": "R%d", "if": {"!": {"or": [%s]}}, "then": {"allow": false}, "decision_binding": "d0"}`, i,
			list(11, func(k int) string { return fmt.Sprintf(`{"var": "x%d_%d"}`, i, k) }))
	})+", "+list(11, func(k int) string {
		return fmt.Sprintf(`{"rule_id": "Q%d", "if": {">": [{"if": [%s, 0]}, %d]}, "then": {"allow": false}, "decision_binding": "d0"}`, k,
			list(12, func(i int) string { return fmt.Sprintf(`{"var": "x%d_%d"}, %d`, i, k, i) }), 6+v)
	})+`, {"rule_id": "A", "if": true, "then": {"allow": true}, "decision_binding": "d0"}`, "", a, p, destructive(0), `{"intent": "i"}`)
}

// What is made to be slow is answered or given up, in time.
func TestEffortIsBounded(t *testing.T) {
	for name, make := range slow() {
		base, head := randompack.Read(t, make(1)), randompack.Read(t, make(2))
		var changes []Change
		var rows []Row
		hang.Within(t, name, func() {
			changes, rows = Compare(New(base), New(head), jsonlogic.Solver{}), Surface(New(head), jsonlogic.Solver{})
		})
		if len(changes) == 0 || len(changes) > mostChanges+mostIntents || len(rows) == 0 || len(rows) > mostRows+1 {
			t.Errorf("%s: %d changes, %d rows", name, len(changes), len(rows))
		}
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Verdict == Undecided && c.Reason == "" }) ||
			slices.ContainsFunc(rows, func(r Row) bool { return !r.Proved && r.Reason == "" }) {
			t.Errorf("%s: something is open without a reason", name)
		}
	}
}

// pigeons says that so many pigeons sit in fewer holes, each in one of its own.
func pigeons(t *testing.T, count int) jsonlogic.Formula {
	t.Helper()
	sits := func(i, hole int) string { return fmt.Sprintf(`{"var": "x%d_%d"}`, i, hole) }
	parts := []string{list(count, func(i int) string {
		return `{"or": [` + list(count-1, func(hole int) string { return sits(i, hole) }) + `]}`
	})}
	for i := range count {
		for other := range i {
			parts = append(parts, list(count-1, func(hole int) string {
				return `{"!": {"and": [` + sits(i, hole) + `, ` + sits(other, hole) + `]}}`
			}))
		}
	}
	d, _ := pack.Read("pigeons", []byte(`{"and": [`+strings.Join(parts, ", ")+`]}`), pack.DefaultLimits())
	x, err := jsonlogic.Compile(d.Root)
	if err != nil {
		t.Fatal(err)
	}
	return jsonlogic.IsTrue(x)
}

// Proofs that use up their steps have those that follow make do with fewer, and
// never with more than the caller allows.
func TestStepsGetFewer(t *testing.T) {
	hard := pigeons(t, 12)
	for _, c := range []struct{ allowed, then int }{{2 * lesserTry, lesserTry}, {lesserTry / 10, lesserTry / 10}} {
		q := newProver(jsonlogic.Solver{Steps: c.allowed})
		for range mostExhausted {
			if q.solver.Steps != c.allowed {
				t.Errorf("of %d steps there are %d left too soon", c.allowed, q.solver.Steps)
			}
			if a := q.ask(hard); !a.OutOfSteps() {
				t.Fatalf("the puzzle is %s: %s", a.Verdict, a.Reason)
			}
		}
		if q.solver.Steps != c.then {
			t.Errorf("of %d steps there are %d in the end, wanted %d", c.allowed, q.solver.Steps, c.then)
		}
	}
}

// FuzzCompare holds what is true of all packs, valid or not: no panic, a pack does
// not differ from itself, and what is open has a reason.
func FuzzCompare(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 20 {
		one := randompack.Random(r)
		f.Add(one.String(), one.Change(r).String())
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var models []*Model
		for _, src := range []string{first, second} {
			d, _ := pack.Read("pack.json", []byte(src), pack.Limits{MaxBytes: 1 << 16, MaxDepth: 64, MaxValues: 5_000})
			if d.Root == nil {
				return
			}
			p := &pack.Pack{}
			pack.Decode(d.Root, p)
			models = append(models, New(p))
		}
		s := jsonlogic.Solver{Steps: 20_000}
		for _, m := range models {
			if same := Compare(m, m, s); len(same) > 0 && m.Broken() == "" {
				t.Errorf("a pack differs from itself: %+v", same)
			}
			for _, row := range Surface(m, s) {
				if row.Proved == (row.Reason != "") || row.Proved && row.Reach == nil {
					t.Errorf("%+v", row)
				}
			}
		}
		for _, c := range Compare(models[0], models[1], s) {
			if (c.Gained == nil) != (c.GainedWhat == "") || (c.Lost == nil) != (c.LostWhat == "") ||
				c.Verdict == Undecided && c.Reason == "" || c.Verdict == Grew && c.Gained == nil {
				t.Errorf("%+v", c)
			}
		}
	})
}

package proof

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/test/randompack"
)

// pair returns two random packs that can be united: they have the decisions and gates of one
// name alike, if they share any, and adapters of one name in modes of their own.
func pair(t *testing.T, r *rand.Rand) (a, b *pack.Pack) {
	t.Helper()
	const targets = `"eval_targets": [{"intent": "i.one"}]`
	first, second := randompack.Random(r), randompack.Random(r)
	first.Restrict(r)
	second.Gates, second.Eligible = first.Gates, first.Eligible
	for _, name := range []string{"adp_w", "adp_p"} {
		second.Modes[name] = []string{"read_only", "local_write", "network", "destructive"}[r.IntN(4)]
	}
	rename := []string{"ctxpack.test", "ctxpack.beside", `"B"`, `"C"`, "R_", "S_", `"p_`, `"q_`}
	if r.IntN(3) == 0 {
		rename = append(rename, "adp_", "bdp_")
	}
	if r.IntN(2) == 0 {
		rename = append(rename, "d.read", "e.read", "d.write", "e.write", "d.pay", "e.pay")
	}
	if r.IntN(2) == 0 {
		rename = append(rename, "G_A", "H_A", "G_B", "H_B")
	}
	both := strings.NewReplacer(targets, `"eval_targets": [{"intent": "i.one"}, {"intent": "i.two"}]`)
	return randompack.Read(t, both.Replace(first.String())), randompack.Read(t, strings.NewReplacer(rename...).Replace(both.Replace(second.String())))
}

func united(t *testing.T, packs ...*pack.Pack) *Model {
	t.Helper()
	var models []*policy.Model
	for _, p := range packs {
		models = append(models, policy.New(p, nil))
	}
	m, conflicts := policy.Unite(models...)
	if m == nil {
		t.Fatalf("the packs are not united: %+v", conflicts)
	}
	return For(m)
}

// alone are the compiles of each of several packs alone.
type alone []*compiler.Result

// expected says, from what each pack does alone, which tools of a union a request has, and
// which gates rules alone raise; ok is false where one of the packs stops.
func (all alone) expected(m *policy.Model, safety int, packs ...*pack.Pack) (tools map[string]bool, ok bool) {
	var fired []*pack.Outcome
	bound := map[*pack.Outcome]*pack.Rule{}
	own := map[string]bool{} // decisions of the intent
	denied := map[string]bool{}
	for _, r := range all {
		if r.Outcome == compiler.PolicyEvalError {
			return nil, false
		}
		for _, d := range r.Trace.Decisions {
			own[d.Decision.DecisionKey.Value] = own[d.Decision.DecisionKey.Value] || d.State != compiler.DecisionOther
			denied[d.Decision.DecisionKey.Value] = denied[d.Decision.DecisionKey.Value] || d.State == compiler.DecisionDenied
		}
		for _, rule := range r.Trace.Rules {
			o := &rule.Rule.Then
			switch {
			case rule.Rule.NonEnforcing.Value, rule.State != compiler.RuleThen && rule.State != compiler.RuleElse:
				continue
			case rule.State == compiler.RuleElse:
				o = &rule.Rule.Else
			}
			fired, bound[o] = append(fired, o), rule.Rule
		}
	}
	allowed := map[string]bool{}
	for _, d := range m.Decisions {
		touched, allows := false, false
		for _, o := range fired {
			to := bound[o].DecisionBinding
			touched = touched || to.Value == d.Key
			allows = allows || to.Value == d.Key && o.Allow.OK && o.Allow.Value
			denied[d.Key] = denied[d.Key] || (to.Node == nil || to.Value == d.Key) && o.Allow.OK && !o.Allow.Value
		}
		allowed[d.Key] = own[d.Key] && !denied[d.Key] && (allows || d.ReadOnly && !touched)
	}
	tools = map[string]bool{}
	for _, tool := range m.Tools {
		rank, permitted := strictest(packs, tool.ToolID)
		authority := rank == 0
		for _, d := range m.Decisions {
			authority = authority || allowed[d.Key] && d.Authority >= rank
		}
		prohibited := slices.ContainsFunc(fired, func(o *pack.Outcome) bool {
			return slices.ContainsFunc(o.Prohibits.Items, func(n pack.Text) bool { return n.Value == tool.Capability || n.Value == tool.String() })
		})
		tools[tool.String()] = permitted && authority && !prohibited && rank <= safety
	}
	return tools, true
}

// strictest returns the highest mode that any of the packs gives a tool, and whether one
// permits it and none forbids it.
func strictest(packs []*pack.Pack, id policy.ToolID) (rank int, permitted bool) {
	forbidden := false
	for _, p := range packs {
		for _, a := range p.ToolingLayer.AdapterRegistry.Items {
			if a.AdapterID.Value == id.Adapter {
				rank = max(rank, pack.Mode(a.ApprovalMode).Rank())
			}
		}
		for _, one := range p.ToolingLayer.Permissions.Items {
			if one.AdapterID.Value == id.Adapter && one.Capability.Value == id.Capability {
				permitted, forbidden = permitted || one.Allow.Value, forbidden || !one.Allow.Value
			}
		}
	}
	return rank, permitted && !forbidden
}

// Whatever two packs say: together they permit what follows from each of them alone, and no
// more than both where both speak; in whatever order they are named, and however often.
func TestUniteLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	runs := 30
	if testing.Short() {
		runs = 12
	}
	surfaced, crossed := 0, 0
	for range runs {
		a, b := pair(t, r)
		u, v := united(t, a, b), united(t, b, a)
		if again := united(t, a, b, a, b); len(again.Pack.Parts()) != 2 || len(again.Rules) != len(u.Rules) {
			t.Fatal("packs that are named twice are in it twice")
		}
		if same := united(t, a, a); same.Pack != a {
			t.Fatal("a pack with itself is another one")
		}
		for _, c := range Compare(u, v, jsonlogic.Solver{}) {
			if c.Verdict != Equal && c.Verdict != Undecided {
				t.Errorf("the order counts: %+v", c)
			}
		}
		rows := Surface(u, jsonlogic.Solver{})
		programs := []*compiler.Program{compiler.Prepare(a), compiler.Prepare(b), u.program, v.program}
		for _, intent := range []string{"i.one", "i.two"} {
			for _, data := range randompack.Grid(intent, []string{"read_only", "network", "destructive"}) {
				got := make([]*compiler.Result, len(programs))
				for i, p := range programs {
					var err error
					if got[i], err = p.Compile(Request(p.Pack, data)); err != nil {
						t.Fatal(err)
					}
				}
				x, y := compileState(t, u, data), compileState(t, v, data)
				if x.ok != y.ok || !sameState(x, y) {
					t.Fatalf("the order counts for %s:\n%+v\n%+v", pack.CompactJSON(data), x, y)
				}
				tools, ok := alone(got[:2]).expected(u.Model, pack.ApprovalMode(data["safety_mode"].(string)).Rank(), a, b)
				if ok != x.ok {
					t.Fatalf("compiled is %t, wanted %t: %s", x.ok, ok, pack.CompactJSON(data))
				}
				if !ok {
					continue
				}
				for id, want := range tools {
					empty := want && !x.there[id] && unsatisfiable(got[2], id)
					if x.there[id] != want && !empty {
						t.Fatalf("tool %s is there: %t, wanted %t: %s\n%s\n%s", id, x.there[id], want, pack.CompactJSON(data), a.Node.Raw(), b.Node.Raw())
					}
					if !x.there[id] {
						continue
					}
					surfaced++
					if !slices.ContainsFunc(rows, func(row Row) bool { return row.Intent == intent && row.Capability == id }) {
						t.Fatalf("the surface has no row of %s for %s: %s", id, intent, pack.CompactJSON(data))
					}
					for _, alone := range got[:2] {
						heldAsAlone(t, x, alone, id)
					}
					if !there(got[0], id) && !there(got[1], id) {
						crossed++
					}
				}
			}
		}
	}
	if surfaced < 500 || crossed < 20 {
		t.Errorf("%d tools were there and %d by both packs alone: the law was not tried", surfaced, crossed)
	}
}

func compileState(t *testing.T, m *Model, data map[string]any) *state {
	t.Helper()
	return observe(t, m.program, m.Pack, data)
}

// sameState reports whether two compiles permit the same.
func sameState(x, y *state) bool {
	slices.Sort(x.gates)
	slices.Sort(y.gates)
	for id := range x.there {
		if x.there[id] != y.there[id] || x.ranks[id] != y.ranks[id] {
			return false
		}
	}
	for name, lets := range x.lets {
		for value := range lets {
			if lets[value] != y.lets[name][value] {
				return false
			}
		}
	}
	return len(x.there) == len(y.there) && slices.Equal(x.gates, y.gates)
}

func there(r *compiler.Result, id string) bool {
	return r.Context != nil && slices.Contains(r.Context.ContextLedger.Tools, id)
}

// unsatisfiable reports whether a tool was left out because its bounds leave no value.
func unsatisfiable(r *compiler.Result, id string) bool {
	return slices.ContainsFunc(r.Trace.Tools, func(tool compiler.ToolTrace) bool {
		return tool.Name() == id && len(tool.Obstacles) == 1 && strings.Contains(tool.Obstacles[0].Reason, "leave no value")
	})
}

// heldAsAlone holds a tool of a union against what one of the packs does with it alone: every
// gate that its rules raise is active, and no value is let through that it does not let through.
func heldAsAlone(t *testing.T, x *state, alone *compiler.Result, id string) {
	t.Helper()
	for _, g := range alone.Trace.Gates {
		raised := len(g.RequiredBy) > 0 || g.Active && slices.ContainsFunc(g.NamedBy, func(n *pack.Node) bool {
			return n.Parent.Get("permission_id") == nil || n.Parent.Get("adapter_id").Text+"."+n.Parent.Get("capability").Text == id
		})
		if raised && !slices.Contains(x.gates, g.Gate.GateID.Value) {
			t.Fatalf("gate %s is raised by one pack and not by both", g.Gate.GateID.Value)
		}
	}
	for _, e := range alone.Context.Manifests.ToolManifest {
		for _, name := range e.Capabilities {
			if e.AdapterID+"."+name != id {
				continue
			}
			for _, arg := range randompack.ArgNames {
				for value, lets := range randompack.Calls(e.Constraints[name][arg]) {
					if !lets && x.lets[id+" "+arg][value] {
						t.Fatalf("argument %s of %s may be %s, which one of the packs refuses", arg, id, value)
					}
				}
			}
		}
	}
}

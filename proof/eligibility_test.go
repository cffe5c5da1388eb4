package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/test/randompack"
)

// Eligibility_rules only take away: a decision of the intent is denied where one is
// false, nothing is compiled where one is unknown, and elsewhere all is as without them.
func TestEligibilityOnlyDenies(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 16))
	denied, stopped, equal := 0, 0, 0
	for range 25 {
		made := randompack.Random(r)
		without := New(randompack.Read(t, made.String()))
		made.Restrict(r)
		p := randompack.Read(t, made.String())
		with := New(p)
		for _, intent := range with.Intents {
			for _, data := range randompack.Grid(intent, randompack.ModesOf(made)) {
				request := Request(p, data)
				was, is := compileFor(without.Program(), request), compileFor(with.Program(), request)
				if was.Outcome != compiler.Compiled {
					if is.Outcome == compiler.Compiled {
						t.Fatalf("%v compiles with conditions that are stricter\n%s", data, made)
					}
					continue
				}
				open, unknown := true, false
				for i, d := range was.Trace.Decisions {
					when := d.Decision.DecisionKey.Value
					n := p.DecisionLayer.DecisionSpecs.Items[i].EligibilityRules
					if n == nil || d.State == compiler.DecisionOther {
						continue
					}
					expr, _ := jsonlogic.Compile(n)
					switch expr.Eval(request.Data()).Truth {
					case jsonlogic.Unknown:
						unknown = true
					case jsonlogic.False:
						open = false
						if is.Outcome == compiler.Compiled && is.Trace.Decisions[i].State != compiler.DecisionDenied {
							t.Fatalf("%s is %s for %v, which is not eligible\n%s", when, is.Trace.Decisions[i].State, data, made)
						}
						denied++
					}
				}
				switch {
				case unknown != (is.Outcome == compiler.PolicyEvalError):
					t.Fatalf("unknown is %v, and %v ends %s\n%s", unknown, data, is.Outcome, made)
				case unknown:
					stopped++
				case open:
					if equal++; is.Context.ContextLedger.CompiledContextHash != was.Context.ContextLedger.CompiledContextHash {
						t.Fatalf("%v is eligible, and compiles to something else\n%s", data, made)
					}
				}
			}
		}
	}
	if denied < 100 || stopped < 20 || equal < 100 {
		t.Errorf("%d denied, %d stopped, %d as without", denied, stopped, equal)
	}
}

// What is proved of a shared pack is proved for every tenant.
func TestSharedPackIsProvedForEveryTenant(t *testing.T) {
	const other = `{"rule_id": "R", "applies_to": {"intent": "i.one"}, "if": {"==": [{"var": "tenant_id"}, "tenant_b"]}, "then": {"allow": true}, "decision_binding": "d.pay"}`
	p := randompack.Read(t, (&randompack.Parts{Modes: map[string]string{"d.pay": "destructive"}, Rules: []string{other}}).String())
	for shared, want := range map[bool]jsonlogic.Verdict{false: jsonlogic.Unsatisfiable, true: jsonlogic.Satisfiable} {
		q := *p
		q.Shared = shared
		m := New(&q)
		if a := m.Ask("i.one", func(r *compiler.Result) bool { return r.Outcome == compiler.Compiled }, m.Allowed("i.one", "d.pay")); a.Verdict != want {
			t.Errorf("shared %v: %v %s, wanted %v", shared, a.Verdict, a.Reason, want)
		}
	}
}

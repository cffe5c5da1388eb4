package policyrules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/gatetest"
)

// The compiler is what decides at run time, and it knows nothing of formulas. So
// random policies are judged by the gate and compiled over a grid of requests:
// what the gate calls impossible must not be in the grid, its witnesses must do
// what they are said to do, and what the grid shows must have been found.
func TestClaimsAgainstTheCompiler(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(7, 11))}
	counts := map[string]int{}
	for range 100 {
		src := g.pack(t)
		newTrial(t, src).check(counts)
		if t.Failed() {
			t.Fatalf("over %s", src)
		}
	}
	for _, id := range []string{"POL001", "POL003", "POL010", "POL014", "POL015"} {
		if counts[id] < 10 {
			t.Errorf("%s was claimed only %d times", id, counts[id])
		}
	}
}

// trial is one random pack, its findings, and what the compiler does with it.
type trial struct {
	*testing.T
	pack    *pack.Pack
	program *compiler.Program
	found   []finding.Finding
	grid    []run
}

// run is one request with its compile.
type run struct {
	data   map[string]any
	result *compiler.Result
}

func newTrial(t *testing.T, src []byte) *trial {
	t.Helper()
	s := gatetest.Surroundings{Catalog: production}.Subject(src)
	tr := &trial{T: t, pack: s.Pack, program: compiler.Prepare(s.Pack)}
	var unchecked []finding.NotChecked
	tr.found, unchecked = gatetest.Judge(Gate, s)
	for _, f := range tr.found {
		if f.Rule == gate.NPR001.ID {
			t.Error(f.Message)
		}
	}
	for _, n := range unchecked {
		if strings.Contains(n.Reason, "not proved") {
			t.Errorf("%s: %s", n.Rule, n.Reason)
		}
	}
	absent := struct{}{}
	for _, intent := range []any{"one", "two"} {
		for _, amount := range []any{absent, 0.0, 3000.0, 3001.0, 4000.0, 5000.0, 5001.0, "4200"} {
			for _, role := range []any{absent, "a", "b", "c"} {
				for i, flag := range []any{absent, true, false} {
					data := map[string]any{}
					mode, message := []any{"destructive", "read_only"}[(i+len(tr.grid))%2], []any{"m", ""}[len(tr.grid)%2]
					for path, v := range map[string]any{
						intentPath: intent, amountPath: amount, rolePath: role, flagPath: flag, "safety_mode": mode, "request.message": message,
					} {
						if v != absent {
							data = jsonlogic.Set(data, strings.Split(path, "."), v)
						}
					}
					tr.grid = append(tr.grid, tr.compile(data))
				}
			}
		}
	}
	return tr
}

// compile compiles for a witness: the members of the run context and request.
func (tr *trial) compile(data map[string]any) run {
	tr.Helper()
	request := proof.Request(tr.pack, data)
	result, err := tr.program.Compile(request)
	if err != nil {
		tr.Fatal(err)
	}
	if result.Outcome == compiler.Refused {
		tr.Fatalf("refused: %s", result.Reason())
	}
	return run{request.Data(), result}
}

// check holds the findings against the compiler, and the compiler against the
// findings.
func (tr *trial) check(counts map[string]int) {
	tr.Helper()
	for _, f := range tr.found {
		counts[f.Rule]++
		segments, _ := pack.SplitPointer(f.Location.Path)
		r, word := tr.rule(segments).Rule, segments[len(segments)-2]
		switch f.Rule {
		case "POL001":
			tr.checkDead(f, r, word)
		case "POL003":
			a, b := tr.rule(segments), tr.rule([]string{f.Key})
			if x := tr.compile(f.Witness); !x.fired(a.Then) || !x.fired(b.Then) || !sameRank(a, b) {
				tr.Errorf("%s: not both hold, or not of one rank", f.Message)
			}
		case "POL010":
			if x := tr.compile(f.Witness); !x.fired(map[string]pack.Outcome{"then": r.Then, "else": r.Else}[word]) || !x.ungated(tr.gate(f)) {
				tr.Errorf("%s: the witness is not in the gap", f.Message)
			}
		case "POL014":
			if r != nil && f.Key == "always" && slices.ContainsFunc(tr.grid, func(x run) bool { return applies(r, x.data) && tr.truth(r.If, x.data) != jsonlogic.True }) {
				tr.Errorf("%s: not always", f.Message)
			}
		case "POL015":
			if x := tr.compile(f.Witness); x.result.Outcome != compiler.Compiled || x.standing(f.Key) != compiler.DecisionSilent {
				tr.Errorf("%s: the decision is %s", f.Message, x.standing(f.Key))
			}
		}
	}
	tr.checkComplete()
}

// checkDead looks for a request in which an outcome decides that is said not to.
func (tr *trial) checkDead(f finding.Finding, r *pack.Rule, word string) {
	tr.Helper()
	for _, x := range tr.grid {
		if strings.Contains(f.Message, "can never fire") {
			if tr.fires(r, "then", x.data) || tr.fires(r, "else", x.data) && r.Else.Node != nil {
				tr.Errorf("%s: it fires for %v", f.Message, x.data)
			}
			continue
		}
		if !tr.fires(r, word, x.data) || x.result.Outcome == compiler.PolicyEvalError {
			continue
		}
		for _, d := range x.result.Trace.Decisions {
			if d.State == compiler.DecisionOther || r.DecisionBinding.OK && d.Decision.DecisionKey.Value != r.DecisionBinding.Value {
				continue
			}
			others := slices.ContainsFunc(d.By, func(by *pack.Rule) bool { return by != r })
			if d.State != compiler.DecisionDenied || !others {
				tr.Errorf("%s: it decides for %v", f.Message, x.data)
			}
		}
	}
}

// checkComplete looks in the grid for what should have been found.
func (tr *trial) checkComplete() {
	tr.Helper()
	for _, x := range tr.grid {
		for _, d := range x.result.Trace.Decisions {
			key := d.Decision.DecisionKey.Value
			if d.State == compiler.DecisionSilent && key == "d.write" && tr.nothingFires(key, x.data) && tr.allowsWithoutElse(key, x.data) && !tr.has("POL015", key) {
				tr.Errorf("POL015 was not found: %s is silent for %v", key, x.data)
			}
		}
		rules := tr.rules()
		for i, a := range rules {
			for _, b := range rules[:i] {
				if x.result.Outcome == compiler.Compiled && sameRank(a, b) && opposite(a, b) && tr.fires(a.Rule, "then", x.data) && tr.fires(b.Rule, "then", x.data) && !tr.has("POL003", b.RuleID.Value) {
					tr.Errorf("POL003 was not found: %s and %s meet for %v", a.RuleID.Value, b.RuleID.Value, x.data)
				}
			}
		}
	}
}

// prioritised is a rule with its priority.
type prioritised struct {
	*pack.Rule
	priority float64
}

func (tr *trial) rules() []prioritised {
	var all []prioritised
	for _, b := range tr.pack.PolicyLayer.PolicyBundles.Items {
		for i := range b.PolicyDSL.Rules.Items {
			all = append(all, prioritised{&b.PolicyDSL.Rules.Items[i], b.Priority.Value})
		}
	}
	return all
}

// sameRank reports whether two rules are of equal rank for their author.
func sameRank(a, b prioritised) bool {
	return a.priority == b.priority && a.DecisionBinding.OK && a.DecisionBinding.Value == b.DecisionBinding.Value &&
		!a.NonEnforcing.Value && !b.NonEnforcing.Value
}

func opposite(a, b prioritised) bool {
	return a.Then.Allow.OK && b.Then.Allow.OK && a.Then.Allow.Value != b.Then.Allow.Value
}

// rule returns the rule that a path names; of a path without one it is empty.
func (tr *trial) rule(segments []string) prioritised {
	for _, r := range tr.rules() {
		if slices.Contains(segments, r.RuleID.Value) {
			return r
		}
	}
	return prioritised{}
}

func (tr *trial) gate(f finding.Finding) *pack.ApprovalGate {
	gates := tr.pack.PolicyLayer.ApprovalGates.Items
	if strings.Contains(f.Message, "G_ONE") {
		return &gates[0]
	}
	return &gates[1]
}

func (tr *trial) has(id, key string) bool {
	return slices.ContainsFunc(tr.found, func(f finding.Finding) bool { return f.Rule == id && f.Key == key })
}

func (tr *trial) truth(condition *pack.Node, data map[string]any) jsonlogic.Truth {
	e, problems := jsonlogic.Compile(condition)
	if len(problems) > 0 {
		tr.Fatal(problems[0].Message)
	}
	return e.Eval(data).Truth
}

func applies(r *pack.Rule, data map[string]any) bool {
	intent, _ := jsonlogic.Lookup(data, intentPath)
	return !r.AppliesTo.Intent.OK || r.AppliesTo.Intent.Value == intent
}

// fires reports whether an outcome of a rule holds.
func (tr *trial) fires(r *pack.Rule, word string, data map[string]any) bool {
	wanted := jsonlogic.True
	if word == "else" {
		wanted = jsonlogic.False
	}
	return applies(r, data) && tr.truth(r.If, data) == wanted
}

func (tr *trial) allowsWithoutElse(key string, data map[string]any) bool {
	return slices.ContainsFunc(tr.rules(), func(r prioritised) bool {
		return applies(r.Rule, data) && r.DecisionBinding.Value == key && !r.NonEnforcing.Value && r.Then.Allow.Value && r.Else.Node == nil
	})
}

func (tr *trial) nothingFires(key string, data map[string]any) bool {
	return !slices.ContainsFunc(tr.rules(), func(r prioritised) bool {
		return r.DecisionBinding.Value == key && !r.NonEnforcing.Value &&
			(tr.fires(r.Rule, "then", data) || r.Else.Node != nil && tr.fires(r.Rule, "else", data))
	})
}

// fired reports whether a compile that came to its end shows that an outcome holds.
func (x run) fired(o pack.Outcome) bool {
	return x.result.Outcome == compiler.Compiled && slices.ContainsFunc(x.result.Trace.Rules, func(r compiler.RuleTrace) bool {
		return r.Outcome != nil && r.Outcome.Node == o.Node
	})
}

// ungated reports whether the condition of a gate is false.
func (x run) ungated(g *pack.ApprovalGate) bool {
	return slices.ContainsFunc(x.result.Trace.Gates, func(t compiler.GateTrace) bool { return t.Gate == g && t.When == jsonlogic.False })
}

func (x run) standing(key string) compiler.DecisionState {
	for _, d := range x.result.Trace.Decisions {
		if d.Decision.DecisionKey.Value == key {
			return d.State
		}
	}
	return ""
}

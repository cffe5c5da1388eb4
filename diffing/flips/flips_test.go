package flips_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/gatetest"
)

// example is a pack of the example repository, before and after an edit script.
type example struct {
	base *pack.Pack
	head *gate.Subject
}

func open(t testing.TB, name, script string) example {
	t.Helper()
	base, head := gatetest.ExampleEdited(t, name, script)
	return example{base, head}
}

// cases compiles the golden cases for both versions.
func (e example) cases(t testing.TB) []compiles.Case {
	t.Helper()
	d, err := diffing.Compare(e.base, e.head.Unit.Pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	return compiles.Compare(t.Context(), e.base, e.head.Unit, e.head.Golden(), d.Changes())
}

func (e example) find(t testing.TB) flips.Result {
	t.Helper()
	effects := proof.Compare(proof.New(e.base), proof.New(e.head.Unit.Pack), jsonlogic.Solver{})
	return find(t, e.base, e.head.Unit.Pack, e.cases(t), effects)
}

func find(t testing.TB, base, head *pack.Pack, cases []compiles.Case, effects []proof.Change) flips.Result {
	return flips.Find(t.Context(), flips.Step{Base: compiler.Prepare(base), Head: compiler.Prepare(head), Cases: cases, Effects: effects})
}

// TestCases holds what is found against testdata. A case says which pack of the
// example repository is edited how, and wants the flips.
func TestCases(t *testing.T) {
	casefile.Run(t, "testdata", func(t *testing.T, sections map[string]string) string {
		e := open(t, strings.TrimSpace(sections["pack"]), sections["edit"])
		r := e.find(t)
		for _, f := range r.Flips {
			confirm(t, e, f)
		}
		return render(r)
	})
}

func render(r flips.Result) string {
	var b strings.Builder
	for _, f := range r.Flips {
		fmt.Fprintf(&b, "%s: %s %s: %s -> %s (%s)\n  %s\n  from %s\n", f.Intent, f.Kind, f.Subject, f.Old, f.New, f.Verdict, pack.CompactJSON(f.Request), f.From)
		if f.Overlay != "" {
			fmt.Fprintf(&b, "  with overlay %s\n", f.Overlay)
		}
		if len(f.Cases) > 0 {
			fmt.Fprintf(&b, "  cases %s\n", strings.Join(f.Cases, ", "))
		}
	}
	for _, n := range r.NotChecked {
		fmt.Fprintf(&b, "not checked: %s\n", n)
	}
	return b.String()
}

// confirm compiles both versions for the request of a flip and looks whether it
// is one.
func confirm(t testing.TB, e example, f flips.Flip) {
	t.Helper()
	base, head := e.base, e.head.Unit.Pack
	for _, c := range e.cases(t) {
		if f.Overlay != "" && c.Overlay == f.Overlay {
			base, head = c.Base.Program.Pack, c.Head.Program.Pack
		}
	}
	if was, is := stands(t, base, f), stands(t, head, f); was != f.Old.String() || is != f.New.String() || was == is {
		t.Errorf("%s %s: %s: %s -> %s, wanted %s -> %s", f.Kind, f.Subject, pack.CompactJSON(f.Request), was, is, f.Old, f.New)
	}
}

// stands is the state of the subject of a flip in one version.
func stands(t testing.TB, p *pack.Pack, f flips.Flip) string {
	t.Helper()
	r, err := compiler.Prepare(p).Compile(proof.Request(p, f.Request))
	if err != nil {
		t.Fatal(err)
	}
	state := flips.State{}
	switch {
	case r.Outcome == compiler.PolicyEvalError:
		return string(flips.Stopped)
	case r.Outcome == compiler.Refused:
		return string(flips.Refused)
	case f.Kind == proof.Tool:
		state.Word = flips.Withheld
		for _, tool := range r.Trace.Tools {
			if tool.Surfaced && tool.Adapter.AdapterID.Value+"."+tool.Capability == f.Subject {
				state.Word = flips.Surfaced
			}
		}
	default:
		for _, d := range r.Trace.Decisions {
			if d.Decision.DecisionKey.Value == f.Subject {
				state.Word = flips.Word(d.State)
			}
		}
		if state.Word == flips.Word(compiler.DecisionOther) {
			state.Word = flips.Absent
		}
	}
	if state.Word == flips.Allowed || state.Word == flips.Surfaced {
		for _, gate := range r.Context.RuntimeControls.ApprovalGatesActive {
			if holds(p, gate, f) {
				state.Gates = append(state.Gates, gate)
			}
		}
	}
	return state.String()
}

// holds reports whether a gate holds the subject of a flip: a permission of the tool
// names it, or a rule for the decision, for none or, where the tool may change
// something, for any.
func holds(p *pack.Pack, gate string, f flips.Flip) bool {
	rank := 0
	for _, x := range p.ToolingLayer.Permissions.Items {
		if x.AdapterID.Value+"."+x.Capability.Value != f.Subject {
			continue
		}
		if x.RequiresApprovalGate.Value == gate {
			return true
		}
		for _, a := range p.ToolingLayer.AdapterRegistry.Items {
			if a.AdapterID.Value == x.AdapterID.Value {
				rank = pack.Mode(a.ApprovalMode).Rank()
			}
		}
	}
	for _, b := range p.PolicyLayer.PolicyBundles.Items {
		for _, r := range b.PolicyDSL.Rules.Items {
			names := r.Then.RequiresApprovalGate.Value == gate || r.Else.RequiresApprovalGate.Value == gate
			if !names || r.AppliesTo.Intent.Value != f.Intent {
				continue
			}
			if r.DecisionBinding.Node == nil || r.DecisionBinding.Value == f.Subject || rank > 0 {
				return true
			}
		}
	}
	return false
}

func BenchmarkFind(b *testing.B) {
	e := open(b, "support", `replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1 5000
replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000`)
	effects := proof.Compare(proof.New(e.base), proof.New(e.head.Unit.Pack), jsonlogic.Solver{})
	cases := e.cases(b)
	for len(cases) < 10 {
		cases = append(cases, cases...)
	}
	cases = cases[:10]
	b.ReportAllocs()
	for b.Loop() {
		if r := find(b, e.base, e.head.Unit.Pack, cases, effects); len(r.Flips) != 2 {
			b.Fatalf("%d flips", len(r.Flips))
		} else {
			b.ReportMetric(float64(r.Requests), "requests")
		}
	}
}

package gating

import (
	"errors"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/gatetest"
)

const gateLimit = "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 "

// judgedBelow compares an edited example with the example, and takes every change
// for a patch, as a comparison that is wrong would.
func judgedBelow(t *testing.T, script string) (*diffing.Diff, *gate.Subject) {
	t.Helper()
	base, head := gatetest.ExampleEdited(t, "support", script)
	d, err := diffing.Compare(base, head.Pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Layers {
		for j := range d.Layers[i].Changes {
			d.Layers[i].Changes[j].Class = diffing.Patch
		}
	}
	d.Class = diffing.Patch
	return d, head
}

// What is shown beside a class that is too low is a fault of packgate: the class
// becomes major, and the run fails where the declared version is lower.
func TestContradiction(t *testing.T) {
	d, head := judgedBelow(t, gateLimit+"90000")
	step := Step(t.Context(), d, head)
	if d.Class != diffing.Major || d.Required == "" {
		t.Errorf("the class is %s, required %q", d.Class, d.Required)
	}
	err := d.Contradicted()
	if !errors.Is(err, diffing.ErrContradiction) || !strings.Contains(err.Error(), `"refund_amount":3001`) || fault.Hint(err) == "" {
		t.Fatalf("%v, hint %q", err, fault.Hint(err))
	}
	r := NewRun(Options{Explain: func(err error) ([]model.Problem, int) {
		return []model.Problem{{Message: err.Error()}}, ExitFailure
	}})
	shown := build.NewPack(head, gates.Run(head, gates.Policy{}, gates.Outside{}), step, nil)
	r.note(nil, "", outcome{pack: shown, fault: err})
	r.Settle()
	if got := shown.Diff.Contradictions; len(got) != 1 || got[0].Class != "patch" || !strings.Contains(got[0].What, "is allowed") || got[0].Request == nil {
		t.Errorf("the page is told %+v", got)
	}
	if r.Report.ExitCode != ExitFailure || len(r.Report.Errors) != 1 {
		t.Errorf("exit code %d with %v", r.Report.ExitCode, r.Report.Errors)
	}

	d, head = judgedBelow(t, gateLimit+"90000\nreplace /pack_meta/pack_version \"99.0.0\"")
	if Step(t.Context(), d, head); d.Class != diffing.Major || d.Contradicted() != nil {
		t.Errorf("of a major version: %s, %v", d.Class, d.Contradicted())
	}
	d, head = judgedBelow(t, gateLimit+"100")
	if Step(t.Context(), d, head); d.Class != diffing.Patch || d.Contradicted() != nil {
		t.Errorf("of a tighter gate: %s, %v", d.Class, d.Contradicted())
	}
}

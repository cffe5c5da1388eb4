package gating

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/report/build"
)

// Step returns all that is known of the step from the baseline of a pack, given what differs (nil if
// there is no baseline): the changes of its tool surface and its golden cases, and requests that are
// decided differently.
func Step(ctx context.Context, diff *diffing.Diff, s *gate.Subject) build.Comparison {
	if s.Pack == nil {
		return build.Comparison{Diff: diff}
	}
	if diff == nil {
		return build.Comparison{Surface: surface.Compare(nil, s.Proof(), nil, nil)}
	}
	base, _ := diff.Packs()
	return StepBetween(ctx, diff, s.Proof(), compiles.Compare(ctx, base, s.Unit, s.Golden(), diff.Changes()))
}

// StepBetween is like [Step], with the model of the head, and with golden cases that were compiled for
// both sides; none if the files beside the packs are not known.
func StepBetween(ctx context.Context, diff *diffing.Diff, head *proof.Model, both []compiles.Case) build.Comparison {
	base, _ := diff.Packs()
	before := proof.For(head.Beside(base))
	alone := slices.DeleteFunc(slices.Clone(both), func(c compiles.Case) bool { return c.Together })
	c := build.Comparison{
		Diff:     diff,
		Surface:  surface.Compare(before, head, diff.Effects, alone),
		Loosened: surface.Loosened(diff),
		Compiles: both,
		Flips:    flips.Find(ctx, flips.Step{Base: before.Program(), Head: head.Program(), Cases: alone, Effects: diff.Effects}),
	}
	contradict(&c, before, head)
	return c
}

// contradict raises the class of a comparison that is below major if something shown beside it
// newly permits more than read_only (decisions D5).
func contradict(c *build.Comparison, base, head *proof.Model) {
	if c.Diff.Unsettled() >= diffing.Major {
		return
	}
	if base.Broken() != "" || head.Broken() != "" {
		return
	}
	writes := writers(base.Model, head.Model)
	for _, f := range c.Flips.Flips {
		if f.Overlay == "" && writes(f.Kind, f.Subject) && grew(f, base) {
			c.Diff.Contradict(diffing.Contradiction{
				What: fmt.Sprintf("%s %q is %s (was %s)", f.Kind, f.Subject, f.New, f.Old), Request: f.Request,
			})
			return
		}
	}
	for _, row := range c.Surface.Changes {
		if row.Grew() && row.Witness != nil && writes(proof.Tool, row.Capability) && !(row.Base == nil && unstopped(&row, base, head)) {
			c.Diff.Contradict(diffing.Contradiction{
				What: fmt.Sprintf("the tool surface of %q grows by %q", row.Intent, row.Capability), Request: row.Witness,
			})
			return
		}
	}
}

// grew reports whether a flip permits more: an item that is new or held by fewer gates, unless base
// stopped and would have permitted the same whatever its unknown conditions are (decisions D2).
func grew(f flips.Flip, base *proof.Model) bool {
	if !f.New.Permits() || f.Verdict != proof.Grew && f.Verdict != proof.Incomparable {
		return false
	}
	if f.Old.Permits() {
		return slices.ContainsFunc(f.Old.Gates, func(g string) bool { return !slices.Contains(f.New.Gates, g) })
	}
	return f.Old.Word != flips.Stopped || !base.Unstopped(f.Kind, f.Subject, f.Request, f.New.Gates)
}

// unstopped reports whether base stops at the request that shows a new row, and would have permitted
// the tool with no other gates whatever its unknown conditions are.
func unstopped(row *surface.Change, base, head *proof.Model) bool {
	was, err := base.Program().Compile(proof.Request(base.Pack, row.Witness))
	if err != nil || was.Outcome != compiler.PolicyEvalError {
		return false
	}
	is, err := head.Program().Compile(proof.Request(head.Pack, row.Witness))
	return err == nil && is.Outcome == compiler.Compiled &&
		base.Unstopped(proof.Tool, row.Capability, row.Witness, is.Context.RuntimeControls.ApprovalGatesActive)
}

// writers returns a function that reports whether a decision or a tool may do more than read in any of
// several versions.
func writers(models ...*policy.Model) func(kind proof.Kind, subject string) bool {
	return func(kind proof.Kind, subject string) bool {
		return slices.ContainsFunc(models, func(m *policy.Model) bool {
			if kind == proof.Decision {
				d := m.Decision(subject)
				return d != nil && !d.ReadOnly
			}
			return slices.ContainsFunc(m.Named(subject), func(t *policy.Tool) bool {
				return t.String() == subject && !t.Reads()
			})
		})
	}
}

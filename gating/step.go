package gating

import (
	"context"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/report/build"
)

// Step returns all that is known of the step from the baseline of a pack: what
// differs (nil where there is no baseline), what becomes of its tool surface and
// its golden cases, and which requests are decided otherwise.
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

// StepBetween is Step for what differs, with the head as it is proved about, and golden
// cases that were compiled for both sides; none where the files beside the packs are
// not known.
func StepBetween(ctx context.Context, diff *diffing.Diff, head *proof.Model, both []compiles.Case) build.Comparison {
	base, _ := diff.Packs()
	before := proof.For(head.Beside(base))
	c := build.Comparison{
		Diff:     diff,
		Surface:  surface.Compare(before, head, diff.Effects, both),
		Loosened: surface.Loosened(diff),
		Compiles: both,
		Flips:    flips.Find(ctx, flips.Step{Base: before.Program(), Head: head.Program(), Cases: both, Effects: diff.Effects}),
	}
	contradict(&c, before, head)
	return c
}

package gating

import (
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/report/build"
)

// Step returns all that is known of the step from the baseline of a pack: what
// differs (nil where there is no baseline), what becomes of its tool surface and
// its golden cases, and which requests are decided otherwise.
func Step(diff *diffing.Diff, s *gate.Subject) build.Comparison {
	if s.Pack == nil {
		return build.Comparison{Diff: diff}
	}
	if diff == nil {
		return build.Comparison{Surface: surface.CompareWith(s.Reach(), nil, s.Pack, nil, nil, jsonlogic.Solver{})}
	}
	base, _ := diff.Packs()
	return StepBetween(diff, s.Reach(), compiles.Compare(base, s.Unit, s.Golden(), diff.Changes()))
}

// StepBetween is Step for what differs, and golden cases that were compiled for both
// sides; none where the files beside the packs are not known.
func StepBetween(diff *diffing.Diff, reach proof.Reach, both []compiles.Case) build.Comparison {
	base, head := diff.Packs()
	c := build.Comparison{
		Diff:     diff,
		Surface:  surface.CompareWith(reach, base, head, diff.Effects, both, jsonlogic.Solver{}),
		Loosened: surface.Loosened(diff),
		Compiles: both,
		Flips:    flips.Find(base, head, both, diff.Effects),
	}
	contradict(&c, base, head)
	return c
}

package gates

import (
	"context"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/schema"
)

// quick are the gates that prove nothing and compile nothing: they tell at once whether a
// text is a pack, and whether its names lead somewhere.
var quick = []*gate.Gate{schema.Gate, references.Gate}

// IsQuick reports whether Quick says all that the gate of that id finds.
func IsQuick(id string) bool {
	return slices.ContainsFunc(quick, func(g *gate.Gate) bool { return g.ID == id })
}

// Quick returns what those gates find that take no proof, judged as Run judges it. Of the
// other gates, and of environments with overlays, it says nothing.
func Quick(s *gate.Subject, policy Policy) []finding.Finding {
	var r Result
	for _, g := range quick {
		r.check(s, g, policy)
	}
	if s.Pack != nil {
		policy.waive(s.Pack.PackMeta.PackID.Value, r.Findings, func(*gate.Rule, *gate.Gate) bool { return false })
	}
	return finding.Sort(r.Findings)
}

// RunUntil does what Run does, until the context ends. The error is the cause of that end,
// and then nothing is known of the pack. The subject has to be new.
func RunUntil(ctx context.Context, s *gate.Subject, policy Policy, outside Outside) (Result, error) {
	r := Run(s.Until(ctx), policy, outside)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return r, nil
}

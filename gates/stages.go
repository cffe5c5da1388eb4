package gates

import (
	"context"
	"slices"
	"strings"

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

// Quick returns what those gates find that take no proof, and what is kept of other rules
// (gate.Kept), judged as Run judges it. Of the others, and of environments with overlays, it
// says nothing: says reports whether it says all that the rule of a finding finds.
func Quick(s *gate.Subject, policy Policy) (found []finding.Finding, says func(finding.Finding) bool) {
	var r Result
	said := map[string]bool{}
	for _, g := range All() {
		if IsQuick(g.ID) {
			r.check(s, g, policy)
			continue
		}
		for _, rule := range g.Rules {
			if found, notChecked, ok := s.Said(rule); ok {
				said[rule.ID] = true
				r.add(rule, found, notChecked, policy)
			}
		}
	}
	if s.Pack != nil {
		policy.waive(s.Pack.PackMeta.PackID.Value, r.Findings, func(*gate.Rule, *gate.Gate) bool { return false })
	}
	return finding.Sort(r.Findings), func(f finding.Finding) bool {
		rule := f.Rule
		if rule == gate.NPR001.ID {
			rule, _, _ = strings.Cut(f.Key, " ")
		}
		return IsQuick(f.Gate) || said[rule]
	}
}

// RunUntil does what Run does, until the context ends. The error is the cause of that end,
// and then nothing is known of the pack. The subject has to be new. What rules found is kept
// where the subject keeps it.
func RunUntil(ctx context.Context, s *gate.Subject, policy Policy, outside Outside) (Result, error) {
	r := Run(s.Until(ctx), policy, outside)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	s.Done()
	return r, nil
}

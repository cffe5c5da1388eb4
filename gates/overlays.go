package gates

import (
	"slices"

	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/overlay"
	"github.com/contextosai/packgate/internal/repo"
)

// views returns the pack as each environment has it that has overlays for it.
func views(s *gate.Subject) []*overlay.View {
	if s.Pack == nil {
		return nil
	}
	return overlay.Views(s.Unit)
}

// unresolved returns the subject for the pack as it was published: it is held
// against the catalogs of the environments that take it as it is.
func unresolved(s *gate.Subject, views []*overlay.View) *gate.Subject {
	if len(views) == 0 {
		return s
	}
	var catalogs []*repo.Environment
	for _, e := range s.Environments {
		if !slices.ContainsFunc(views, func(v *overlay.View) bool { return v.Environment == e.Name() }) {
			catalogs = append(catalogs, e)
		}
	}
	return s.Resolved(s.Unit, catalogs)
}

// overlays checks the overlays of a pack: each by itself, and for every
// environment the pack that results of them.
func (r *Result) overlays(s *gate.Subject, views []*overlay.View, policy Policy) {
	if s.Pack == nil || len(s.Unit.Overlays) == 0 {
		return
	}
	for _, rule := range overlays.Gate.Rules {
		if rule.Check != nil {
			r.rule(s, overlays.Gate, rule, policy)
		}
	}
	own := slices.Clone(r.Findings)
	for _, v := range views {
		found := resolved(s, v, policy)
		policy.waive(s.Pack.PackMeta.PackID.Value, found, func(*gate.Rule, *gate.Gate) bool { return false })
		for _, f := range overlays.Resolved(own, v, found) {
			r.Findings = append(r.Findings, policy.judge(overlays.OVL009, f))
		}
	}
}

// resolved puts the pack through the gates as one environment has it, against
// the catalog of that environment, or all where it has none. The replay gate has
// compiled the cases of the overlays with them already, and a scorecard measures
// the pack as it was published.
func resolved(s *gate.Subject, v *overlay.View, policy Policy) []finding.Finding {
	catalogs := slices.DeleteFunc(slices.Clone(s.Environments), func(e *repo.Environment) bool { return e.Name() != v.Environment })
	if len(catalogs) == 0 {
		catalogs = s.Environments
	}
	view := s.Resolved(v.Unit, catalogs)
	var r Result
	for _, g := range All() {
		for _, rule := range g.Rules {
			if g != replay.Gate && rule != evaluation.EVL009 {
				r.rule(view, g, rule, policy)
			}
		}
	}
	return r.Findings
}

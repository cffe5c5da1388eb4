package gates

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
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
	published := s.Resolved(s.Unit, catalogs)
	published.Before = s.Before
	return published
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
	brought := gate.NewPass(s, overlays.Gate, overlays.OVL009)
	for _, v := range views {
		if !slices.ContainsFunc(s.Environments, func(e *repo.Environment) bool { return e.Name() == v.Environment }) {
			r.NotChecked = append(r.NotChecked, finding.NotChecked{
				Gate: overlays.Gate.ID, Rule: overlays.OVL009.ID,
				Reason: fmt.Sprintf("environment %s, which has overlays, has no catalog that the pack could be held against", gate.Quote(v.Environment)),
			})
		}
		found := resolved(s, v, policy)
		policy.waive(s.Pack.PackMeta.PackID.Value, found, func(*gate.Rule, *gate.Gate) bool { return false })
		for _, f := range overlays.Resolved(own, v, found) {
			brought.Add(f)
		}
	}
	list, _ := brought.Results()
	for _, f := range list {
		r.Findings = append(r.Findings, policy.judge(overlays.OVL009, f))
	}
}

// catalogued drops what was not checked in the published pack only because the
// catalogs that say it are those of environments with overlays: there, it was
// checked in the resolved pack.
func (r *Result) catalogued(s, published *gate.Subject) {
	if len(published.Environments) == len(s.Environments) {
		return
	}
	still := map[string][]finding.NotChecked{} // by rule, with all catalogs
	r.NotChecked = slices.DeleteFunc(r.NotChecked, func(n finding.NotChecked) bool {
		rule, g := Find(n.Rule)
		if rule == nil {
			return false
		}
		if _, asked := still[n.Rule]; !asked {
			p := gate.NewPass(s, g, rule)
			rule.Check(p)
			_, still[n.Rule] = p.Results()
		}
		return !slices.Contains(still[n.Rule], n)
	})
}

// resolved puts the pack through the gates as one environment has it, against
// the catalog of that environment, if it has one. The replay gate has
// compiled the cases of the overlays with them already, and a scorecard measures
// the pack as it was published.
func resolved(s *gate.Subject, v *overlay.View, policy Policy) []finding.Finding {
	catalogs := slices.DeleteFunc(slices.Clone(s.Environments), func(e *repo.Environment) bool { return e.Name() != v.Environment })
	unit := *v.Unit
	unit.Files = nil // what stands beside the pack is the same in every view
	view := s.Resolved(&unit, catalogs)
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

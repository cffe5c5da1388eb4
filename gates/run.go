package gates

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Status is what one gate says of a pack.
type Status string

// The states of a gate. Only Pass and Warnings let a pack through, and
// NotChecked is never counted as either.
const (
	Pass       Status = "pass"
	Warnings   Status = "warnings"
	Fail       Status = "fail"
	NotChecked Status = "not_checked"
)

// GateResult is the result of one gate. Reason is set where it was not checked.
// Waived findings are counted neither as errors nor as warnings.
type GateResult struct {
	Gate     *gate.Gate
	Status   Status
	Reason   string
	Errors   int
	Warnings int
}

// Result is what the gates say of one pack: a result for each gate in order,
// the findings sorted for people, and what could not be checked.
type Result struct {
	Gates      []GateResult
	Findings   []finding.Finding
	NotChecked []finding.NotChecked
}

// Run puts a pack through all gates and judges what they found, together with
// what was found outside of them (by the comparison of two versions). The result
// depends on nothing but its arguments.
func Run(s *gate.Subject, policy Policy, outside ...finding.Finding) Result {
	var r Result
	var views []*overlay.View // the pack as each environment has it that has overlays for it
	if s.Pack != nil {
		views = overlay.Views(s.Unit)
	}
	published := unresolved(s, views)
	for _, g := range All() {
		r.check(published, g, policy)
	}
	r.catalogued(s, published)
	r.overlays(s, views, policy)
	for _, f := range outside {
		rule, _ := Find(f.Rule)
		r.Findings = append(r.Findings, policy.judge(rule, f))
	}
	if s.Pack != nil {
		about := policy.waive(s.Pack.PackMeta.PackID.Value, r.Findings, r.checked)
		r.Findings = append(r.Findings, about...)
	}
	for i := range r.Gates {
		r.Gates[i].settle(r.Findings)
	}
	r.Findings = finding.Sort(r.Findings)
	return r
}

// check runs the rules of one gate.
func (r *Result) check(s *gate.Subject, g *gate.Gate, policy Policy) {
	reason := ""
	if s.Pack == nil && g != schema.Gate {
		reason = "the pack could not be read"
	}
	r.Gates = append(r.Gates, GateResult{Gate: g, Reason: reason})
	if reason != "" {
		r.NotChecked = append(r.NotChecked, finding.NotChecked{Gate: g.ID, Reason: reason})
		return
	}
	for _, rule := range g.Rules {
		r.rule(s, g, rule, policy)
	}
}

// rule runs one rule.
func (r *Result) rule(s *gate.Subject, g *gate.Gate, rule *gate.Rule, policy Policy) {
	p := gate.NewPass(s, g, rule)
	rule.Check(p)
	findings, notChecked := p.Results()
	r.NotChecked = append(r.NotChecked, notChecked...)
	for _, f := range finding.Sort(findings) {
		judged := rule
		if f.Rule == gate.NPR001.ID {
			judged = gate.NPR001
		}
		r.Findings = append(r.Findings, policy.judge(judged, f))
	}
}

// settle counts the gate's findings and sets its status.
func (g *GateResult) settle(findings []finding.Finding) {
	if g.Reason != "" {
		g.Status = NotChecked
		return
	}
	for _, f := range findings {
		switch {
		case f.Gate != g.Gate.ID || f.Waived != nil:
		case f.Severity == finding.Error:
			g.Errors++
		default:
			g.Warnings++
		}
	}
	switch {
	case g.Errors > 0:
		g.Status = Fail
	case g.Warnings > 0:
		g.Status = Warnings
	default:
		g.Status = Pass
	}
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

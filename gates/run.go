package gates

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/schema"
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
	views := views(s)
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
	reason := unable(s, g)
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

// unable says why a gate cannot run over the subject; "" where it can.
func unable(s *gate.Subject, g *gate.Gate) string {
	if s.Pack == nil && g != schema.Gate {
		return "the pack could not be read"
	}
	return ""
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

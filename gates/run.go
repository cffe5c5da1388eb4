package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// GateResult is the result of one gate. Reason says why it did not run, where it did
// not. Waived findings are counted neither as errors nor as warnings.
type GateResult struct {
	Gate     *gate.Gate
	Status   finding.Status
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
	// Environments are how the pack comes out in each of them.
	Environments []EnvironmentVerdict
	overlaid     bool // the rules about overlays were checked
}

// Outside is what is known of a pack beside what its gates look at: by comparing it with
// another version, and by asking a registry.
type Outside struct {
	Where      Where
	Class      string // of the change, as the class table names it; "" for a pack that is compared with nothing
	Findings   []finding.Finding
	NotChecked []finding.NotChecked
}

// Run puts a pack through all gates and judges what they found, together with
// what was found outside of them. The result depends on nothing but its arguments.
func Run(s *gate.Subject, policy Policy, outside Outside) Result {
	var r Result
	var views []*overlay.View // the pack as each environment has it that has overlays for it
	if unread(s) == "" {
		views = s.Views()
	}
	for _, g := range All() {
		r.check(s, g, policy)
	}
	r.overlays(s, views, policy)
	for _, f := range outside.Findings {
		rule, _ := Find(f.Rule)
		r.Findings = append(r.Findings, policy.judge(rule, f))
	}
	r.NotChecked = append(r.NotChecked, outside.NotChecked...)
	r.require(s, policy, outside.Class)
	if s.Pack != nil {
		about := policy.waive(s.Pack.PackMeta.PackID.Value, r.Findings, r.checked)
		r.Findings = append(r.Findings, about...)
	}
	r.Environments = outside.Where.verdicts(s.Environments, r.Findings)
	r.Findings = policy.pinnable(r.Findings, r.Environments)
	for i := range r.Gates {
		r.Gates[i].settle(&r)
	}
	r.Findings = finding.Sort(r.Findings)
	return r
}

// unread says why nothing is known of a pack but that; "" where it can be judged.
func unread(s *gate.Subject) string {
	switch {
	case s.Pack == nil:
		return "the pack could not be read"
	case schema.NoPack(s.Pack):
		return "the file is not a Context Pack"
	}
	return ""
}

// check runs the rules of one gate.
func (r *Result) check(s *gate.Subject, g *gate.Gate, policy Policy) {
	reason, rules := unread(s), g.Rules
	switch {
	case reason != "" && g == schema.Gate:
		reason, rules = "", []*gate.Rule{schema.SCH001}
	case reason == "" && g.Layer != "" && !gate.IsObject(s.Pack.Node.Get(g.Layer)):
		reason = fmt.Sprintf("the pack has no %s", g.Layer)
	case reason != "":
		rules = nil
	}
	r.Gates = append(r.Gates, GateResult{Gate: g, Reason: reason})
	if reason != "" {
		r.NotChecked = append(r.NotChecked, finding.NotChecked{Gate: g.ID, Reason: reason})
	}
	for _, rule := range rules {
		r.rule(s, g, rule, policy)
	}
	if reason == "" && rules != nil && unread(s) == "" {
		r.unreadable(s, g)
	}
}

// readers are the gates that read each kind of file beside a pack.
var readers = map[string]*gate.Gate{
	"case": replay.Gate, "replay-packet": replay.Gate, "replay-meta": replay.Gate, "decision-record": replay.Gate,
	"tool-surface": replay.Gate, "scorecard": evaluation.Gate,
}

// unreadable notes what a gate reads and could not: a value of the wrong type is read by
// nobody, and a rule that does not see it finds nothing.
func (r *Result) unreadable(s *gate.Subject, g *gate.Gate) {
	note := func(format string, args ...any) {
		r.NotChecked = append(r.NotChecked, finding.NotChecked{Gate: g.ID, Reason: fmt.Sprintf(format, args...)})
	}
	for _, layer := range append([]string{g.Layer}, g.Reads...) {
		invalid := func(f finding.Finding) bool {
			return f.Rule == schema.SCH004.ID && f.Location.File == s.Unit.Document.File && strings.HasPrefix(f.Location.Pointer+"/", "/"+layer+"/")
		}
		switch {
		case layer == "":
		case !gate.IsObject(s.Pack.Node.Get(layer)):
			note("the pack has no %s", layer)
		case slices.ContainsFunc(r.Findings, invalid):
			note("the %s is not valid (SCH004): what cannot be read of it was not looked at", layer)
		}
	}
	for _, f := range s.Unit.Files {
		if readers[f.Kind] == g && (len(f.Faults) > 0 || !gate.IsObject(f.Document.Root)) {
			note("%s cannot be read", s.Unit.Within(f.Name))
		}
	}
}

// rule runs one rule.
func (r *Result) rule(s *gate.Subject, g *gate.Gate, rule *gate.Rule, policy Policy) {
	if s.Context().Err() != nil {
		return
	}
	findings, notChecked := s.Check(g, rule)
	r.add(rule, findings, notChecked, policy)
}

// add adds what a rule said.
func (r *Result) add(rule *gate.Rule, findings []finding.Finding, notChecked []finding.NotChecked, policy Policy) {
	r.NotChecked = append(r.NotChecked, notChecked...)
	for _, f := range finding.Sort(findings) {
		judged := rule
		if f.Rule == gate.NPR001.ID {
			judged = gate.NPR001
		}
		r.Findings = append(r.Findings, policy.judge(judged, f))
	}
}

// Again returns what one rule of the gates or of overlays finds in a pack, judged, with no
// waiver in force. ok is false where the rule does not run by itself, or not on this pack.
func Again(s *gate.Subject, policy Policy, id string) (found []finding.Finding, ok bool) {
	rule, g := Find(id)
	if rule == nil || rule.Check == nil || unread(s) != "" || g.Layer != "" && !gate.IsObject(s.Pack.Node.Get(g.Layer)) {
		return nil, false
	}
	var r Result
	r.rule(s, g, rule, policy)
	return r.Findings, true
}

// settle counts the gate's findings and sets its status, the worst of what it has.
func (g *GateResult) settle(r *Result) {
	there := finding.Tally{Missing: g.Reason != ""}
	for _, f := range r.Findings {
		there.Accepted = there.Accepted || f.Gate == g.Gate.ID && f.Accepted != nil
		switch {
		case f.Gate != g.Gate.ID || f.Excused():
			continue
		case f.Severity == finding.Error:
			there.Errors++
		default:
			there.Warnings++
		}
		there.Undecided = there.Undecided || f.Rule == finding.NotProved
	}
	there.Partial = slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Gate == g.Gate.ID && n.CouldNotRun() })
	g.Errors, g.Warnings, g.Status = there.Errors, there.Warnings, there.Status()
}

// overlays checks the overlays of a pack: each by itself, and for every
// environment the pack that results of them.
func (r *Result) overlays(s *gate.Subject, views []*overlay.View, policy Policy) {
	if unread(s) != "" {
		return
	}
	r.overlaid = true
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
				Reason: fmt.Sprintf("environment %s, which has overlays, has no catalog that the pack could be checked against", gate.Quote(v.Environment)),
			})
		}
		view := resolved(s, v, policy)
		found := view.Findings
		r.open(v.Environment, view.NotChecked)
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

// resolved puts the pack through the gates as one environment has it, against
// the catalog of that environment, if it has one. The replay gate has
// compiled the cases of the overlays with them already, and a scorecard measures
// the pack as it was published.
func resolved(s *gate.Subject, v *overlay.View, policy Policy) Result {
	view := s.Resolved(v)
	var r Result
	published := []*gate.Rule{evaluation.EVL009, evaluation.EVL013, evaluation.EVL014}
	for _, g := range All() {
		for _, rule := range g.Rules {
			if g != replay.Gate && !slices.Contains(published, rule) {
				r.rule(view, g, rule, policy)
			}
		}
	}
	return r
}

// open notes what could not run on the pack as an environment has it, and did on the
// published one.
func (r *Result) open(environment string, list []finding.NotChecked) {
	for _, n := range list {
		if n.CouldNotRun() && !slices.Contains(r.NotChecked, n) {
			n.Reason = fmt.Sprintf("in environment %s: %s", gate.Quote(environment), n.Reason)
			r.NotChecked = append(r.NotChecked, n)
		}
	}
}

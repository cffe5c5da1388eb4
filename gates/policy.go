package gates

import (
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// Policy is how the findings of a run are judged: which warnings are errors,
// and which findings are waived.
type Policy struct {
	strict   bool
	severity map[string]finding.Severity // by rule id
	waivers  []*repo.Waiver
	required []required.Item
	evidence evidence
	today    string
	lastDay  string // that a waiver may have
	days     int    // from today to it
	// leaving reports whether the change removes or corrects a waiver that is in force; nil
	// where nothing is known of that.
	leaving func(*repo.Waiver) bool
}

// NewPolicy makes the policy of a config on the day of now (UTC). Strict turns the
// warnings marked for it into errors; the caller decides between flag and config.
// The error is repo.Problems where the config names a rule that does not exist,
// or excuses what cannot be excused.
func NewPolicy(c *repo.Config, strict bool, now time.Time) (Policy, error) {
	p := Policy{
		strict: strict, severity: map[string]finding.Severity{},
		today: now.UTC().Format(time.DateOnly), lastDay: c.LastWaiverDay(now), days: c.WaiverDays(), evidence: evidence{roles: c.Reviews.EvidenceRoles(), members: c.Reviews.Members()},
	}
	var problems repo.Problems
	for _, e := range c.Severity.Entries {
		if problem := p.setSeverity(e.Name, e.Value); problem != nil {
			problems = append(problems, problem)
		}
	}
	for i := range c.Waivers.Items {
		w := &c.Waivers.Items[i]
		if problem := p.checkWaiver(w); problem != nil {
			problems = append(problems, problem)
			continue
		}
		p.waivers = append(p.waivers, w)
	}
	problems = append(problems, p.require(c)...)
	if len(problems) > 0 {
		return p, problems
	}
	return p, nil
}

func (p *Policy) setSeverity(idOrName string, value pack.Text) *repo.Problem {
	at := value.Node.NameLocation()
	r, problem := known(idOrName, at)
	if problem != nil {
		return problem
	}
	severity, _ := finding.ParseSeverity(value.Value)
	_, taken := p.severity[r.ID]
	switch {
	case taken:
		return &repo.Problem{Location: at, Message: fmt.Sprintf("the severity of %s (%s) is set already", r.ID, r.Name), Hint: "keep one of the two"}
	case r.NoWaiver.In(p.strict) && severity < r.Severity:
		return &repo.Problem{Location: at, Message: fmt.Sprintf("%s cannot be lowered to a warning, since it cannot be waived%s", r.ID, where(r)), Hint: "fix what it reports"}
	}
	p.severity[r.ID] = severity
	return nil
}

func known(idOrName string, at finding.Location) (*gate.Rule, *repo.Problem) {
	r, _ := Find(idOrName)
	if r != nil {
		return r, nil
	}
	problem := &repo.Problem{Location: at, Message: fmt.Sprintf("there is no rule %q", idOrName), Hint: "see packgate rules"}
	if near := schemas.Nearest(idOrName, ruleNames()); near != "" {
		problem.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, problem
}

// ruleNames returns the ids and names of all rules.
func ruleNames() (names []string) {
	for _, r := range Rules() {
		names = append(names, r.ID, r.Name)
	}
	return names
}

// where says in which mode a rule cannot be waived, where that is not every one.
func where(r *gate.Rule) string {
	if r.NoWaiver == gate.InStrict {
		return " in strict mode"
	}
	return ""
}

func (p *Policy) checkWaiver(w *repo.Waiver) *repo.Problem {
	r, problem := known(w.Rule.Value, w.Rule.Node.Location())
	if problem != nil {
		return problem
	}
	if r.NoWaiver.In(p.strict) {
		return &repo.Problem{Location: w.Rule.Node.Location(), Message: fmt.Sprintf("%s cannot be waived%s", r.ID, where(r)), Hint: "fix what it reports"}
	}
	switch at := w.Rule.Node.Location(); {
	case r.Named() && !w.Of.OK:
		return &repo.Problem{Location: at, Message: fmt.Sprintf("a waiver of %s needs of: with the thing that may go, prove less or be missing", r.ID), Hint: "write the name that the finding gives"}
	case !r.Named() && w.Of.OK:
		return &repo.Problem{Location: w.Of.Node.Location(), Message: fmt.Sprintf("%s does not compare with the base, so nothing that it finds is of a thing", r.ID), Hint: "remove of:, and write the path that is excused"}
	}
	if r.Named() && w.Glob() {
		return &repo.Problem{Location: w.Pack.Node.Location(), Message: fmt.Sprintf("a waiver of %s is for one thing of one pack, and %q is a pattern", r.ID, w.Pack.Value), Hint: "write the pack_id"}
	}
	if _, err := time.Parse(time.DateOnly, w.Expires.Value); err != nil {
		return &repo.Problem{Location: w.Expires.Node.Location(), Message: fmt.Sprintf("%q is not a day", w.Expires.Value), Hint: "write it as 2027-03-31"}
	}
	return nil
}

// judge gives a finding the severity that the policy wants, and says whether a waiver could
// excuse it. The config's own word on a rule wins; strict mode comes next.
func (p Policy) judge(r *gate.Rule, f finding.Finding) finding.Finding {
	if s, ok := p.severity[r.ID]; ok {
		f.Severity = s
	} else if p.strict && r.Strict && f.Severity == finding.Warning {
		f.Severity = finding.Error
	}
	f.Waivable = !f.Approve && !f.IsRest() && !r.NoWaiver.In(p.strict) && r.Named() == (f.Thing != finding.Thing{})
	return f
}

// Judge judges findings that stand outside of the gates of a pack, those about the pack
// of an id or the repository: as Run does, and with the waivers for that id.
func (p Policy) Judge(packID string, found ...finding.Finding) []finding.Finding {
	judged := make([]finding.Finding, len(found))
	for i, f := range found {
		rule, _ := Find(f.Rule)
		judged[i] = p.judge(rule, f)
	}
	p.waive(packID, judged, func(*gate.Rule, *gate.Gate) bool { return false })
	return finding.Sort(judged)
}

// Leaving returns the policy for a change that removes or corrects waivers in force. They
// excuse what they did, and nothing is said of them: the change is what that would ask for.
func (p Policy) Leaving(leaves func(*repo.Waiver) bool) Policy {
	p.leaving = leaves
	return p
}

// waive marks the findings of one pack that a waiver in force covers, and
// returns the findings about the waivers themselves. A waiver can only be unused
// where its rule was checked.
func (p Policy) waive(packID string, findings []finding.Finding, checked func(*gate.Rule, *gate.Gate) bool) []finding.Finding {
	var about []finding.Finding
	for _, w := range p.waivers {
		if !w.For(packID) {
			continue
		}
		used := !waivers.Expired(w, p.today) && p.apply(w, findings)
		if p.leaving == nil || !p.leaving(w) {
			about = append(about, p.about(w, used, checked)...)
		}
	}
	p.evidence.settle(findings)
	return about
}

// about returns what is wrong with a waiver, of whose rule a pack was checked.
func (p Policy) about(w *repo.Waiver, used bool, checked func(*gate.Rule, *gate.Gate) bool) (found []finding.Finding) {
	r, g := Find(w.Rule.Value)
	switch {
	case waivers.Expired(w, p.today):
		return []finding.Finding{waivers.Ended(w)}
	case w.Expires.Value > p.lastDay:
		found = append(found, waivers.Long(w, p.days, p.lastDay, finding.Warning))
	}
	if !used && !w.Glob() && checked(r, g) { // of a pattern, all packs together say that
		found = append(found, waivers.Unused(w, r))
	}
	return found
}

func (p Policy) apply(w *repo.Waiver, findings []finding.Finding) (used bool) {
	for i := range findings {
		if waivers.Covers(w, findings[i]) {
			findings[i].Waived = &finding.Waiver{Reason: w.Reason.Value, Owner: w.Owner.Value, Expires: w.Expires.Value}
			used = true
		}
	}
	return used
}

// checked reports whether a rule was checked as a whole, and all that it found is
// listed. Of the rules outside of the eight gates those about overlays are; a waiver of
// another one is never called unused.
func (r *Result) checked(rule *gate.Rule, g *gate.Gate) bool {
	if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.ID && f.IsRest() }) {
		return false
	}
	missed := slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Rule == rule.ID })
	return !missed && (g == overlays.Gate && r.overlaid || slices.ContainsFunc(r.Gates, func(result GateResult) bool { return result.Gate.ID == g.ID && result.Reason == "" }))
}

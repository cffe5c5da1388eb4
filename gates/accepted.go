package gates

import (
	"fmt"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/repo"
)

// CheckAccepted returns what is wrong with the entries of a baseline file: rules that there are not
// or that cannot be excused, and days that are too far away. An entry lasts for a number of days from
// the one on which it was recorded.
func (p Policy) CheckAccepted(a *repo.Accepted, days int) (problems repo.Problems) {
	say := func(e *repo.Acceptance, hint, format string, args ...any) {
		problems = append(problems, &repo.Problem{Location: e.Location, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	for i := range a.Entries {
		e := &a.Entries[i]
		r, problem := known(e.Rule, e.Location)
		recorded, err := time.Parse(time.DateOnly, e.Recorded)
		switch {
		case problem != nil:
			problem.Hint = "remove the entry with packgate baseline write --shrink"
			problems = append(problems, problem)
		case !p.Overlookable(r.ID):
			say(e, "fix what it reports, and remove the entry", "%s cannot be in a baseline%s", r.ID, where(r))
		case err != nil || e.Recorded > p.today:
			say(e, "write it again with packgate baseline write --renew", "the baseline's entry %s was recorded on %s, which is no day until today", e.Words(), e.Recorded)
		case e.Expires > recorded.AddDate(0, 0, days).Format(time.DateOnly):
			say(e, "write it again with packgate baseline write --renew and an earlier day", "the baseline's entry %s ends on %s, and an entry ends within %d days after it was recorded", e.Words(), e.Expires, days)
		}
	}
	return problems
}

// Ended reports whether a calendar day, YYYY-MM-DD, has passed.
func (p Policy) Ended(day string) bool { return day < p.today }

// JudgeAlone gives findings the severity that the policy wants, with no waiver.
func (p Policy) JudgeAlone(found []finding.Finding) []finding.Finding {
	for i, f := range found {
		rule, _ := Find(f.Rule)
		found[i] = p.judge(rule, f)
	}
	return found
}

// Checked reports whether a rule was checked as a whole on the pack, and all that it found is listed.
func (r *Result) Checked(id string) bool {
	rule, g := Find(id)
	return rule != nil && r.checked(rule, g)
}

// Accepted settles the result after findings were accepted, and adds what is found about that.
func (r *Result) Accepted(about []finding.Finding) {
	own, accepted := 0, map[string]int{}
	for _, f := range r.Findings {
		switch {
		case f.Severity == finding.Error && f.Accepted != nil:
			accepted[f.Environment]++
		case f.Severity == finding.Error && !f.Excused() && f.Environment == "":
			own++
		}
	}
	for i := range r.Environments {
		v := &r.Environments[i]
		v.Errors -= accepted[v.Environment]
		v.Fails = own+v.Errors > 0
	}
	r.Findings = finding.Sort(append(r.Findings, about...))
	for i := range r.Gates {
		r.Gates[i].settle(r)
	}
}

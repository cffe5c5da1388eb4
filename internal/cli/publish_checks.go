package cli

import (
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// checksOf returns what the signed statement says of the checks of a pack: of each gate
// what it came to and what did not run, and of each comparison of which something did not.
func checksOf(p *model.Pack) []statement.Check {
	checks := []statement.Check{}
	for _, g := range p.Gates {
		checks = append(checks, statement.Check{Gate: g.Gate, Status: g.Status})
	}
	for _, n := range p.NotChecked {
		i := slices.IndexFunc(checks, func(c statement.Check) bool { return c.Gate == n.Gate })
		if i < 0 {
			i, checks = len(checks), append(checks, statement.Check{Gate: n.Gate, Status: string(finding.Pass)})
		}
		c := &checks[i]
		if n.Needs.Kind != "" {
			c.Without = append(c.Without, n.Needs.String())
		}
		if !n.CouldNotRun() {
			continue
		}
		if c.Ran() {
			c.Status = string(finding.Partial)
		}
		if n.Rule != "" {
			c.NotRun = append(c.NotRun, n.Rule)
		}
	}
	return checks
}

// shownChecks returns what a statement says of checks in the report's form.
func shownChecks(checks []statement.Check) (shown []model.Check) {
	for _, c := range checks {
		shown = append(shown, model.Check{Gate: c.Gate, Status: c.Status, NotRun: c.NotRun, Without: c.Without})
	}
	return shown
}

// incomplete says why a version cannot be pinned to an environment whose catalog wants that
// every check ran; nil where it can.
func incomplete(w *gating.Workspace, environment string, v *publish.Verdict) error {
	wants := slices.ContainsFunc(w.Environments, func(e *repo.Environment) bool { return e.Name() == environment && e.Complete.Value })
	if !wants {
		return nil
	}
	r := v.Incomplete()
	if r == nil {
		return nil
	}
	return &refusedError{[]model.Problem{
		{Message: v.Name() + " is not pinned to " + environment + ", whose catalog wants complete versions: " + r.Message, Hint: r.Hint},
	}}
}

// acceptedOf returns what the signed statement says of findings in the baseline file.
func (p *publication) acceptedOf(of *model.Pack) *statement.Accepted {
	return &statement.Accepted{Count: model.Count(of).Accepted, Digest: p.succession.BaselineFile()}
}

package gates

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// require reads what the config requires to run.
func (p *Policy) require(c *repo.Config) (problems repo.Problems) {
	for _, r := range c.Requirements() {
		item, problem := requiredItem(r)
		if problem != nil {
			problem.Location = r.Node.Location()
			problems = append(problems, problem)
			continue
		}
		p.required = append(p.required, item)
	}
	return problems
}

func requiredItem(r repo.Requirement) (required.Item, *repo.Problem) {
	if in, ok := finding.ParseInput(r.Name); ok {
		return required.Input(r, in), nil
	}
	if rule, g := Find(r.Name); rule != nil {
		item, ok := required.Rule(r, rule, g)
		if !ok {
			return item, repo.Problemf("require a rule of one of the eight checks or of overlays, or VER004", "%s does not look at each pack by itself, so it cannot be required", rule.ID)
		}
		return item, nil
	}
	names := ruleNames()
	for _, kind := range finding.Inputs() {
		names = append(names, string(kind))
	}
	problem := repo.Problemf("name an input, such as tool-surface or catalog:prod, or a rule: see packgate explain NRN001", "%q cannot be required: there is no such input and no such rule", r.Name)
	if near := schemas.Nearest(r.Name, names); near != "" {
		problem.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return required.Item{}, problem
}

// requiredOf returns what is required of a pack whose change is of a class.
func (p Policy) requiredOf(class string) (items []required.Item) {
	for _, item := range p.required {
		if item.In(class) {
			items = append(items, item)
		}
	}
	return items
}

// require reports what is required and did not run, and marks the checks. Of a pack that
// could not be read nothing else is said.
func (r *Result) require(s *gate.Subject, policy Policy, class string) {
	if unread(s) != "" {
		return
	}
	for _, item := range policy.requiredOf(class) {
		for _, f := range item.Judge(s, class, r.NotChecked) {
			r.Findings = append(r.Findings, policy.judge(required.NRN001, f))
		}
	}
}

package build

import (
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/report/model"
)

// RulePages returns the pages of all rules, in the order in which they are documented.
func RulePages() []model.RulePage {
	var pages []model.RulePage
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			pages = append(pages, model.RulePage{
				ID: r.ID, Name: r.Name, Gate: g.ID, Severity: r.Severity.String(), Title: r.Title, Doc: r.Doc, Bad: r.Bad, Good: r.Good,
			})
		}
	}
	return pages
}

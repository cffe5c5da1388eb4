package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/report/model"
)

// From so many findings in so many packs on, a terminal ends with how many there are of each rule:
// what is above it takes more than a screen.
const (
	leastByRule      = 20
	leastPacksByRule = 3
)

// ruleCount is how often findings of a rule count.
type ruleCount struct {
	rule, name              string
	errors, warnings, packs int
	last                    *model.Pack // that was counted
}

// byRule counts the findings of several packs by their rules.
type byRule struct {
	rules           []*ruleCount
	findings, packs int
}

// take counts the findings of a pack that count.
func (c *byRule) take(p *model.Pack) {
	before := c.findings
	for i := range p.Findings {
		f := &p.Findings[i]
		if excuse(f) != "" {
			continue
		}
		at := slices.IndexFunc(c.rules, func(r *ruleCount) bool { return r.rule == f.Rule })
		if at < 0 {
			at = len(c.rules)
			c.rules = append(c.rules, &ruleCount{rule: f.Rule, name: f.Name})
		}
		r := c.rules[at]
		if f.Severity == "error" {
			r.errors++
		} else {
			r.warnings++
		}
		if r.last != p {
			r.last, r.packs = p, r.packs+1
		}
		c.findings++
	}
	if c.findings > before {
		c.packs++
	}
}

// table has a row for each rule, those with the most errors first; it is empty where a reader has
// seen everything.
func (c *byRule) table() *table {
	t := table{noun: "rule", columns: titles("errors", "warnings", "packs", "rule"), aligned: 3}
	if c.findings < leastByRule || c.packs < leastPacksByRule {
		return &t
	}
	slices.SortFunc(c.rules, func(a, b *ruleCount) int {
		return cmp.Or(b.errors-a.errors, b.warnings-a.warnings, cmp.Compare(a.rule, b.rule))
	})
	return tableOf(t, c.rules, func(r **ruleCount) []sentence {
		one := *r
		return []sentence{plain(strconv.Itoa(one.errors)), plain(strconv.Itoa(one.warnings)), plain(strconv.Itoa(one.packs)), sentence{}.rule(one.rule).quiet(" " + one.name)}
	})
}

package replay

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
)

// RPL020: what a case names together can be used together.
var RPL020 = &gate.Rule{
	ID: "RPL020", Name: "packs-not-united", Severity: finding.Error,
	Title: "The packs that a case names can be used together",
	Doc: "A run may have several packs: `context_pack_refs` names each. Then their content applies together: rules of all, tools " +
		"and permissions of all, and the strictest definition if two of them define the same thing. So a golden case that names " +
		"several packs is compiled with all of them, each in the version that it names, as the repository has it.\n\n" +
		"It is an error if one of them is not in the repository, has another version there or cannot be read, and if they do " +
		"not agree: one pack_id, policy bundle, rule, gate or decision with different content, one adapter with different " +
		"endpoints, packs of different tenants of which none is shared. Such a case is not compiled and does not pass, whatever " +
		"it expects. The page *Several packs* describes how packs are put together.\n\n" +
		"Name versions that exist, and rename one of two different things.",
	Bad:   `{"packs": ["ctxpack.support@1.0.0", "ctxpack.billing@1.4.0"], "context_pack_refs": ["ctxpack.support@1.0.0", "ctxpack.billing@1.3.0"]}`,
	Good:  `{"packs": ["ctxpack.support@1.0.0", "ctxpack.billing@1.4.0"], "context_pack_refs": ["ctxpack.support@1.0.0", "ctxpack.billing@1.4.0"]}`,
	Since: "0.2.0",
	Check: checkTogether,
}

// checkTogether reports why packs cannot be united: what lies in the packs once, and what is
// wrong with the reference of a case for each.
func checkTogether(p *gate.Pass) {
	type fault struct {
		at      finding.Location
		message string
	}
	told := map[fault]bool{}
	results := compiled(p)
	for i := range results {
		r := &results[i]
		for _, problem := range r.Problems {
			one := fault{problem.Location, problem.Message}
			if problem.Kind == golden.KindTogether && !told[one] {
				told[one] = true
				report(p, r, problem)
			}
		}
	}
}

// beside takes in what the packs that cases name beside this one declare and list.
func (s *surface) beside() {
	for _, u := range s.Unions() {
		for _, other := range u.Others {
			for name, at := range declarations(other.Pack) {
				if s.declared[name] == nil {
					s.declared[name] = at
				}
			}
			if file := other.Unit.Surface; file != nil && !s.taken[file] {
				s.taken[file] = true
				s.list(file)
			}
		}
	}
}

// together checks the tools that requests can have by packs that cases name together, and by
// none of them alone, and notes them as within reach.
func (s *surface) together(reachable map[place]bool) {
	for _, u := range s.Unions() {
		if u.Fault != "" {
			s.unchecked("which tools %s surface together is not proved: they cannot be united: %s", u.Called(), u.Fault)
			continue
		}
		alone := map[place]bool{}
		for _, other := range u.Others {
			for _, row := range other.Reach().Rows {
				alone[place{row.Intent, row.Capability}] = true
			}
		}
		reach := u.Reach()
		if reach.Broken != "" {
			s.unchecked("which tools %s surface together is not proved: %s", u.Called(), reach.Broken)
		}
		for i := range reach.Rows {
			found := &reach.Rows[i]
			at := place{found.Intent, found.Capability}
			switch {
			case reachable[at]:
			case alone[at] && len(s.listed[at]) == 0: // which is for that pack to say
			case found.Reach == nil:
				s.unchecked("whether %s surface tool %s together for intent %s is not proved: %s", u.Called(), gate.Quote(at.tool), gate.Quote(at.intent), found.Reason)
			case len(s.listed[at]) == 0:
				s.unlisted(at, found.Reach, []finding.Related{gate.Also(idPlace(s.Pass), fmt.Sprintf("with %s together", u.Called()))})
			}
			reachable[at] = true
			s.row(at, found)
		}
	}
}

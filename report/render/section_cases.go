package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// mostPassing is up to how many golden cases a terminal lists those that pass.
const mostPassing = 8

func (b *builder) golden(cases []model.Golden, coverage *model.Coverage) section {
	passes := func(c model.Golden) bool { return c.Status == "pass" }
	good := number(cases, passes)
	s := section{id: "golden", title: titled("Golden compiles", len(cases)), words: fmt.Sprintf("golden compiles: %d of %d as expected", good, len(cases))}
	if coverage != nil && !b.brief {
		s.words += fmt.Sprintf(", coverage %d %%", coverage.Percent)
	}
	if b.passing > 0 && len(cases) > b.passing {
		cases = those(cases, func(c model.Golden) bool { return !passes(c) })
	}
	columns := titles("Case", "Outcome", "Compiled context")
	if slices.ContainsFunc(cases, func(c model.Golden) bool { return c.Base != nil }) {
		columns = append(columns, column{name: "Since the base", label: "since the base:", below: true})
	}
	s.nodes = []node{tableOf(table{noun: "golden case", fold: 30, aligned: 1, columns: columns}, cases, func(c *model.Golden) []sentence {
		return b.goldenCells(c)[:len(columns)]
	})}
	return s
}

func (b *builder) goldenCells(c *model.Golden) []sentence {
	l := looks[c.Status]
	name := fileNamed(c.File, c.Case)
	if c.Overlay != "" {
		name = name.plain(" with overlay ").code(c.Overlay)
	}
	outcome := plain(outcomeWords(*c))
	if b.brief { // marks stand below one another
		name = state(l, "").plain(" ").add(name)
	} else {
		outcome = state(l, l.word).plain(": ").add(outcome)
	}
	if c.Reason != "" && len(c.Problems) == 0 && c.Status != "pass" {
		outcome = outcome.line().message(c.Reason)
	}
	return []sentence{name, outcome, value(shortHash(c.Hash)), plain(baseWords(*c))}
}

func fileNamed(file, name string) sentence {
	return sentence{{kind: placePiece, text: name, at: spot{file: file}}}
}

// goldenProblems are the problems of golden cases, for where no findings name them.
func (b *builder) goldenProblems(cases []model.Golden) []node {
	var nodes []node
	for _, c := range cases {
		if len(c.Problems) > 0 {
			nodes = append(nodes, strong(c.Case), b.problems(c.Problems))
		}
	}
	return nodes
}

// drift is where cases differ from their snapshots, unless the step from the base says the same.
func (b *builder) drift(p *model.Pack) section {
	s := section{id: "drift"}
	if b.brief {
		return s
	}
	for _, c := range p.Golden {
		if len(c.Differences) == 0 || !b.whole && (hasMoved(&c) || len(s.nodes) == maxRelated) {
			continue
		}
		s.title = "Differences from the snapshots"
		words := pack.Counted(len(c.Differences), "difference") + " of " + c.Case
		if c.Stage != "" {
			words += ", from stage " + c.Stage + " on"
		}
		about := table{noun: "difference", words: words, fold: 20, columns: titles("Section", "Stored", "Now")}
		s.nodes = append(s.nodes, tableOf(about, c.Differences, func(d *model.Difference) []sentence {
			stored, now := excerpts(d.Stored, d.Now, b.most)
			return []sentence{code(d.Path), value(stored), value(now)}
		}))
	}
	return s
}

func hasMoved(c *model.Golden) bool { return c.Base != nil && len(c.Base.Sections) > 0 }

// contexts is what differs in compiled contexts from the version before, and which
// changes it comes from. What differs alike in several cases is said once.
func (b *builder) contexts(p *model.Pack) section {
	cases := those(p.Golden, func(c model.Golden) bool { return hasMoved(&c) })
	all := sectionsOf(cases)
	s := section{id: "sections", title: "Compiled contexts since the base"}
	s.words = fmt.Sprintf("compiled contexts since the base: %s in %s", pack.Counted(len(all), "difference"), pack.Counted(len(cases), "golden case"))
	columns := []column{{name: "Section"}, {name: "Before", label: "before", below: true}, {name: "Now", label: "now", below: true}, {name: "Because of", label: "because of", below: true}, {name: "In", label: "in", below: true}}
	return s.of(tableOf(table{noun: "section", fold: 20, columns: columns}, all, func(one **shownSection) []sentence {
		s := *one
		before, now := excerpts(s.Old, s.New, b.most)
		var causes sentence
		for _, c := range s.Causes {
			causes = causes.line().add(at(spot{file: c.File, line: c.Line, base: c.Gone})).plain(" ").code(c.Path)
		}
		return []sentence{code(s.Path), value(before), value(now), causes, plain(named(s.cases, "case"))}
	}))
}

func (b *builder) coverage(p *model.Pack) section {
	c := p.Coverage
	if c == nil || c.Rules.Of+c.Gates.Of == 0 || b.brief && len(p.Golden) == 0 {
		return section{}
	}
	s := section{id: "coverage", title: "Coverage of the policy", words: fmt.Sprintf("coverage: %d %% (rules %d of %d, else branches %d of %d, gates %d of %d)",
		c.Percent, c.Rules.Count, c.Rules.Of, c.Else.Count, c.Else.Of, c.Gates.Count, c.Gates.Of)}
	if b.whole {
		s.nodes = []node{tableOf(table{noun: "part", fold: 20, columns: titles("Not exercised", "Name", "Where")}, c.Missing, func(m *model.Part) []sentence {
			return []sentence{plain(m.Kind), code(m.Name), at(spot{file: m.File, line: m.Line})}
		})}
	}
	return s
}

func overlayWords(o model.Overlay) string {
	counts := filled(pack.Counted(o.Settings, "setting"), pack.Counted(o.Cases, "golden case"), anyOf(o.Errors, "error", ""))
	return fmt.Sprintf("%s for %s: %s", o.Overlay, o.Environment, strings.Join(counts, ", "))
}

// measured maps the status of a measurement to how it is shown.
var measured = map[string]string{
	"met": "pass", "missed": "error", "regressed": "error", "no_target": "not_checked", "not_measured": "not_checked",
}

// figure writes a value of a metric, told apart from the one that it is compared with; "" for nil.
func figure(metric string, v, other *float64) string {
	if v == nil {
		return ""
	}
	return pack.Figure(metric, *v, *cmp.Or(other, v), 1)
}

// measuredCounts returns how many measurements are as they should be, and says how many there are not.
func measuredCounts(rows []model.Measurement) (met int, open string) {
	met = number(rows, func(m model.Measurement) bool { return m.Status == "met" || m.Status == "no_target" })
	return met, some(number(rows, func(m model.Measurement) bool { return m.Status == "not_measured" }), "not measured")
}

// evaluation is targets, values and release gates; where it is brief, those that are not met.
func (b *builder) evaluation(p *model.Pack) section {
	rows := p.Evaluation
	met, open := measuredCounts(rows)
	words := filled(fmt.Sprintf("evaluation: %d of %s passed", met, pack.Counted(len(rows), "measurement")), open)
	s := section{id: "evaluation", title: titled("Evaluation", len(rows)), words: strings.Join(words, ", ")}
	if b.brief {
		rows = those(rows, func(m model.Measurement) bool { return measured[m.Status] != "pass" })
	}
	columns := []column{{name: "Intent"}, {name: "Metric"}, {name: "Status"}, {name: "Value"}, {name: "Target", label: "target"}, {name: "Baseline", label: "baseline"},
		{name: "Worse by", label: "worse by"}, {name: "May be worse by", label: "may be worse by"}, {name: "Source"}}
	s.nodes = []node{tableOf(table{noun: "measurement", columns: columns}, rows, func(m *model.Measurement) []sentence {
		cells := []sentence{code(m.Intent), plain(m.Metric), state(looks[measured[m.Status]], strings.ReplaceAll(m.Status, "_", " "))}
		for _, n := range [][2]*float64{{m.Value, m.Target}, {m.Target, m.Value}, {m.Baseline, m.Value}, {m.Delta, m.MaxDelta}, {m.MaxDelta, m.Delta}} {
			cells = append(cells, plain(figure(m.Metric, n[0], n[1])))
		}
		source := m.Source
		if m.Samples > 0 {
			source += ", " + pack.Counted(m.Samples, "sample")
		}
		return append(cells, plain(source))
	})}
	return s
}

// operations are the operational figures. What could not be measured is absent.
func (b *builder) operations(p *model.Pack) section {
	f := p.Operations
	if f == nil {
		return section{}
	}
	var rows [][]sentence
	add := func(name, of, value, count string) {
		rows = append(rows, []sentence{plain(name), plain(of), plain(value), plain(count)})
	}
	share := func(name, of string, s *model.Figure) {
		if s != nil {
			add(name, of, pack.Figure("", s.Value, s.Value, 1), fmt.Sprintf("%d of %d", s.Count, s.Of))
		}
	}
	share("Compile success rate", "", f.CompileSuccessRate)
	for _, s := range f.ToolSurfaceSize {
		add("Tool surface size", s.Intent, pack.Rounded(math.Round(s.Mean*10)/10), fmt.Sprintf("at most %d in %s", s.Max, pack.Counted(s.Cases, "case")))
	}
	share("Rule activation rate", "", f.RuleActivationRate)
	for _, a := range f.RuleActivations {
		share("Rule activation rate", a.Rule, a.Figure)
	}
	for _, t := range f.BucketTruncationRate {
		share("Bucket truncation rate", t.Bucket, &t.Figure)
	}
	share("Required evidence resolution rate", "", f.RequiredEvidenceResolutionRate)
	share("Replay determinism rate", "", f.ReplayDeterminismRate)
	share("Release gate pass rate", "", f.ReleaseGatePassRate)
	about := table{noun: "figure", fold: 6, columns: titles("Figure", "Of what", "Value", "Count")}
	return section{id: "operations", title: "Operational figures"}.of(tableOf(about, rows, func(cells *[]sentence) []sentence { return *cells }))
}

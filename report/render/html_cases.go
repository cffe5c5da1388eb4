package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// What golden cases and measurements show, for the page.

// golden shows how each case came out.
func (v *htmlView) golden(p *model.Pack) htmlPart {
	if len(p.Golden) == 0 {
		return htmlPart{}
	}
	good := 0
	for _, c := range p.Golden {
		if c.Status == "pass" {
			good++
		}
	}
	t := &htmlTable{Head: []string{"Case", "Outcome", "Since the base", "Compiled context"}}
	fill(v, t, "golden case", p.Golden, v.goldenRow)
	t.Fold = foldedOver(t, 30)
	return htmlPart{ID: "golden", Title: "Golden compiles", Words: []string{fmt.Sprintf("%d of %d as expected.", good, len(p.Golden))}, Tables: []*htmlTable{t}}
}

func (v *htmlView) goldenRow(c model.Golden) htmlRow {
	l := looks[c.Status]
	name := say().link(v.href(v.report.Head, c.File, 0), v.text(c.Case))
	if c.Overlay != "" {
		name.line().plain("with overlay ").code(v.text(c.Overlay))
	}
	outcome := say().badge(tone(c.Status), l.mark+" "+l.word).plain(" " + v.text(outcomeWords(c)))
	if c.Reason != "" && !slices.ContainsFunc(c.Problems, func(p model.Problem) bool { return strings.Contains(p.Message, c.Reason) }) {
		outcome.line().add(v.message(c.Reason))
	}
	for _, p := range c.Problems {
		outcome.line().add(v.message(p.Message))
	}
	since := "not compared"
	if c.Base != nil {
		since = cmp.Or(baseWords(c), "the same")
	}
	hash := say().code(v.text(cmp.Or(shortHash(c.Hash), "none")))
	return htmlRow{Cells: [][]piece{name.pieces, outcome.pieces, say().plain(v.text(since)).pieces, hash.pieces}}
}

// drift shows where cases differ from their snapshots.
func (v *htmlView) drift(p *model.Pack) htmlPart {
	part := htmlPart{}
	for _, c := range p.Golden {
		if len(c.Differences) == 0 {
			continue
		}
		part.ID, part.Title = "drift", "Differences from the snapshots"
		t := &htmlTable{Head: []string{"Case", "Section", "Stored", "Now"}}
		fill(v, t, "difference", c.Differences, func(d model.Difference) htmlRow {
			stored, now := excerpts(d.Stored, d.Now, 400)
			name := say().plain(v.text(c.Case))
			if c.Stage != "" {
				name.line().plain("from stage " + v.text(c.Stage) + " on")
			}
			return htmlRow{Cells: [][]piece{name.pieces, say().code(v.text(d.Path)).pieces, v.value(stored), v.value(now)}}
		})
		t.Fold = foldedOver(t, 20)
		part.Tables = append(part.Tables, t)
	}
	return part
}

// sections shows what differs in compiled contexts from the version before, and
// which changes it comes from.
func (v *htmlView) sections(p *model.Pack) htmlPart {
	var moved []model.Golden
	for _, c := range p.Golden {
		if c.Base != nil && len(c.Base.Sections) > 0 {
			moved = append(moved, c)
		}
	}
	if len(moved) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Section", "Before", "Now", "Because of", "In"}}
	fill(v, t, "section", sectionsOf(moved), func(s *shownSection) htmlRow {
		before, now := excerpts(s.Old, s.New, 400)
		causes := say()
		for _, c := range s.Causes {
			causes.line().add(v.cause(c))
		}
		return htmlRow{Cells: [][]piece{say().code(v.text(s.Path)).pieces, v.value(before), v.value(now), orNone(causes), say().plain(v.text(named(s.cases, "case"))).pieces}}
	})
	t.Fold = foldedOver(t, 20)
	return htmlPart{ID: "sections", Title: "Compiled contexts since the base", Tables: []*htmlTable{t}}
}

// cause leads to a change of the pack.
func (v *htmlView) cause(c model.Cause) []piece {
	if c.Gone {
		return say().add(v.place(v.report.Base, c.File, c.Line, 0)).plain(" of the base, ").code(v.text(c.Path)).pieces
	}
	return say().add(v.file(c.File, c.Line)).plain(" ").code(v.text(c.Path)).pieces
}

// coverage says what golden cases exercise of the policy, and what they do not.
func (v *htmlView) coverage(p *model.Pack) htmlPart {
	c := p.Coverage
	if c == nil || c.Rules.Of+c.Gates.Of == 0 {
		return htmlPart{}
	}
	part := htmlPart{ID: "coverage", Title: "Coverage of the policy", Words: []string{sentenceCase(coverageWords(c)) + "."}}
	if len(c.Missing) > 0 {
		t := &htmlTable{Head: []string{"Not exercised", "Name", "Where"}}
		fill(v, t, "part", c.Missing, func(m model.Part) htmlRow {
			return htmlRow{Cells: [][]piece{say().plain(v.text(m.Kind)).pieces, say().code(v.text(m.Name)).pieces, v.file(m.File, m.Line)}}
		})
		t.Fold = foldedOver(t, 20)
		part.Tables = []*htmlTable{t}
	}
	return part
}

// evaluation shows targets, values and release gates.
func (v *htmlView) evaluation(p *model.Pack) htmlPart {
	if len(p.Evaluation) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Intent", "Metric", "Status", "Value", "Target", "Baseline", "Worse by", "May be worse by", "Source"}}
	words := map[string]string{"met": "met", "missed": "missed", "regressed": "regressed", "no_target": "no target", "not_measured": "not measured"}
	fill(v, t, "measurement", p.Evaluation, func(m model.Measurement) htmlRow {
		cells := [][]piece{
			say().code(v.text(m.Intent)).pieces, say().plain(v.text(m.Metric)).pieces,
			say().badge(tone(measured[m.Status]), looks[measured[m.Status]].mark+" "+cmp.Or(words[m.Status], v.text(m.Status))).pieces,
		}
		for _, n := range []*float64{m.Value, m.Target, m.Baseline, m.Delta, m.MaxDelta} {
			cells = append(cells, say().plain(figure(n)).pieces)
		}
		source := v.text(m.Source)
		if m.Samples > 0 {
			source += ", " + pack.Counted(m.Samples, "sample")
		}
		return htmlRow{Cells: append(cells, say().plain(cmp.Or(source, "none")).pieces)}
	})
	return htmlPart{ID: "evaluation", Title: "Evaluation", Words: []string{sentenceCase(evaluationWords(p.Evaluation)) + "."}, Tables: []*htmlTable{t}}
}

// operations shows the operational figures. What could not be measured is absent.
func (v *htmlView) operations(p *model.Pack) htmlPart {
	f := p.Operations
	if f == nil {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Figure", "Of what", "Value", "Count"}}
	row := func(name, of, value, count string) {
		t.Rows = append(t.Rows, htmlRow{Cells: [][]piece{say().plain(name).pieces, orNone(say().plain(v.text(of))), say().plain(value).pieces, say().plain(count).pieces}})
	}
	share := func(name, of string, s *model.Figure) {
		if s != nil && len(t.Rows) < maxHTMLRows {
			row(name, of, figure(&s.Value), fmt.Sprintf("%d of %d", s.Count, s.Of))
		}
	}
	share("Compile success rate", "", f.CompileSuccessRate)
	for _, s := range f.ToolSurfaceSize {
		row("Tool surface size", s.Intent, figure(&s.Mean), fmt.Sprintf("at most %d in %s", s.Max, pack.Counted(s.Cases, "case")))
	}
	share("Rule activation rate", "", f.RuleActivationRate)
	for _, a := range f.RuleActivations {
		share("Rule activation rate", a.Rule, a.Figure)
	}
	for _, b := range f.BucketTruncationRate {
		share("Bucket truncation rate", b.Bucket, &b.Figure)
	}
	share("Required evidence resolution rate", "", f.RequiredEvidenceResolutionRate)
	share("Replay determinism rate", "", f.ReplayDeterminismRate)
	share("Release gate pass rate", "", f.ReleaseGatePassRate)
	if len(t.Rows) == 0 {
		return htmlPart{}
	}
	t.Fold = foldedOver(t, 6)
	return htmlPart{ID: "operations", Title: "Operational figures", Tables: []*htmlTable{t}}
}

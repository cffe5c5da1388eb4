package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// golden folds the table of the golden cases, and where they drifted.
func (m *markdown) golden(p *model.Pack) {
	good := 0
	var drifted, moved []model.Golden
	for _, c := range p.Golden {
		if c.Status == "pass" {
			good++
		}
		switch {
		case c.Base != nil && len(c.Base.Sections) > 0:
			moved = append(moved, c) // the same places and more: it names the causes
		case len(c.Differences) > 0:
			drifted = append(drifted, c)
		}
	}
	summary := fmt.Sprintf("Golden compiles: %d of %d as expected", good, len(p.Golden))
	if c := p.Coverage; c != nil && len(p.Golden) > 0 {
		summary += fmt.Sprintf(", coverage %d %%", c.Percent)
	}
	m.list(list{
		noun: "golden case", head: []string{"| Case | Outcome | Compiled context |", "| --- | --- | --- |"},
		n: len(p.Golden), line: func(i int) string { return m.goldenRow(p.Golden[i]) }, summary: summary,
	})
	for _, c := range drifted[:min(len(drifted), maxRelated)] {
		m.differences(c)
	}
	if len(moved) > 0 {
		m.sections(moved)
	}
}

func (m *markdown) goldenRow(c model.Golden) string {
	l := looks[c.Status]
	outcome := l.emoji + " " + l.word + ": " + Markdown(outcomeWords(c))
	if words := baseWords(c); words != "" {
		outcome += "<br>" + Markdown(words)
	}
	return row(m.link(c.File, 0), outcome, Code(cmp.Or(shortHash(c.Hash), "none")))
}

// differences folds where one case drifted from its snapshot.
func (m *markdown) differences(c model.Golden) {
	m.list(list{
		noun: "difference", head: []string{"| Section | Stored | Now |", "| --- | --- | --- |"}, n: len(c.Differences),
		summary: fmt.Sprintf("%s of %s, from stage %s on", pack.Counted(len(c.Differences), "difference"), HTML(c.Case), HTML(c.Stage)),
		line: func(i int) string {
			d := c.Differences[i]
			stored, now := excerpts(d.Stored, d.Now, 80)
			return row(Code(d.Path), Code(cmp.Or(stored, "none")), Code(cmp.Or(now, "none")))
		},
	})
}

// measured leads from the status of a measurement to how it is shown.
var measured = map[string]string{
	"met": "pass", "missed": "error", "regressed": "error", "no_target": "not_checked", "not_measured": "not_checked",
}

// measurementWords says a measured value and what it is held against.
func measurementWords(m model.Measurement) string {
	if m.Value == nil {
		return "not measured, target " + figure(m.Target)
	}
	words := figure(m.Value)
	if m.Target != nil {
		words += ", target " + figure(m.Target)
	}
	if m.Baseline != nil {
		words += ", baseline " + figure(m.Baseline)
		if m.MaxDelta != nil {
			words += ", may be worse by " + figure(m.MaxDelta)
		}
	}
	return words + " (" + m.Source + ", " + pack.Counted(m.Samples, "sample") + ")"
}

// figure writes a number in as few digits as it needs, four behind the point at
// the most; "none" for none.
func figure(v *float64) string {
	if v == nil {
		return "none"
	}
	s := strconv.FormatFloat(*v, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// evaluationWords says how many measurements are as wanted.
func evaluationWords(rows []model.Measurement) string {
	good, unmeasured := 0, 0
	for _, r := range rows {
		switch r.Status {
		case "met", "no_target":
			good++
		case "not_measured":
			unmeasured++
		}
	}
	words := fmt.Sprintf("evaluation: %d of %s as wanted", good, pack.Counted(len(rows), "measurement"))
	if unmeasured > 0 {
		words += fmt.Sprintf(", %d not measured", unmeasured)
	}
	return words
}

// evaluation folds the table of targets, values and release gates.
func (m *markdown) evaluation(rows []model.Measurement) {
	m.list(list{
		noun: "measurement", summary: strings.Replace(evaluationWords(rows), "e", "E", 1), n: len(rows),
		head: []string{"| Intent | Metric | Value | Target | Baseline | May be worse by | Source |", "| --- | --- | --- | --- | --- | --- | --- |"},
		line: func(i int) string {
			r := rows[i]
			value := looks[measured[r.Status]].emoji + " " + figure(r.Value)
			if r.Value == nil {
				value = looks["not_checked"].emoji + " not measured"
			}
			return row(Code(r.Intent), Markdown(r.Metric), value, figure(r.Target), figure(r.Baseline), figure(r.MaxDelta), Markdown(r.Source))
		},
	})
}

// overlays folds the overlays of a pack.
func (m *markdown) overlays(overlays []model.Overlay) {
	m.list(list{
		noun: "overlay", n: len(overlays),
		line: func(i int) string {
			o := overlays[i]
			l := looks["pass"]
			if o.Errors > 0 {
				l = looks["error"]
			}
			return fmt.Sprintf("- %s %s: %s", l.emoji, m.link(o.File, 0), Markdown(overlayWords(o)))
		},
	})
}

// triggers says openly why a pack was gated that may not have changed itself.
func (m *markdown) triggers(triggers []model.Trigger) {
	m.list(list{
		noun: "refresh trigger", open: 3, n: len(triggers),
		line: func(i int) string {
			r := triggers[i]
			return fmt.Sprintf("- gated again: **%s** %s: %s", Markdown(r.Kind), m.link(r.File, 0), Message(r.What))
		},
	})
}

package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The step from the version before, in Markdown: what is dangerous stands open,
// the rest is folded.

// step writes what the step from the version before does; nothing for nil.
func (m *markdown) step(d *model.Diff) {
	if d == nil {
		return
	}
	m.newlyOpen(d.Surface)
	m.loosened(d.Loosened)
	m.diff(d)
	m.surface(d.Surface)
}

// permitted folds what is permitted before and now.
func (m *markdown) permitted(d *model.Diff) {
	if d != nil {
		m.effects(d.Effects)
		m.flips(d.Flips)
	}
}

// maxCallouts is how many tools are called out by name.
const maxCallouts = 2

// newlyOpen calls out tools that can be had now with no gate active, and could not.
func (m *markdown) newlyOpen(changes []model.SurfaceChange) {
	open := callouts(changes)
	if len(open) == 0 {
		return
	}
	var lines []string
	for _, c := range open[:min(maxCallouts, len(open))] {
		before, after := calloutWords(c)
		lines = append(lines, before+Code(c.Capability)+Markdown(after)+witness(c.Witness, ", for example "))
	}
	if left := len(open) - maxCallouts; left > 0 {
		lines = append(lines, "and "+more(left, "tool"))
	}
	m.paragraph("> [!CAUTION]\n> %s", strings.Join(lines, "<br>\n> "))
}

// witness shows a request behind some words, and nothing where there is none.
func witness(request map[string]any, words string) string {
	if request == nil {
		return ""
	}
	return words + Code(pack.CompactJSON(request))
}

// loosened lists openly what is weaker, also in a major version.
func (m *markdown) loosened(loosened []model.Loosened) {
	if len(loosened) == 0 {
		return
	}
	m.paragraph("**Loosened guardrails**")
	m.list(list{
		noun: "loosened guardrail", open: 4, seen: m.room(), n: len(loosened),
		line: func(i int) string {
			l := loosened[i]
			c := l.Change
			what := fmt.Sprintf("- ⚠️ %s, %s: %s", Markdown(loosenedWords(l)), m.changedAt(c), Code(c.Path))
			if before, after := excerpts(string(c.Old), string(c.New), 60); c.Kind == "changed" {
				what += " " + Code(before) + " → " + Code(after)
			}
			return what + witness(l.Witness, "<br>now permitted, for example ")
		},
	})
}

// changedAt leads to the place of a change: in the base for what is gone.
func (m *markdown) changedAt(c model.Change) string {
	if c.Kind != "removed" {
		return m.link(c.File, c.Line)
	}
	return linkAt(m.report.Base, c.File, c.Line) + " of the base"
}

// surface folds the rows of the tool surface that differ, those that grew first.
func (m *markdown) surface(changes []model.SurfaceChange) {
	changes = bySize(changes)
	m.list(list{
		noun: "tool", n: len(changes), summary: strings.Replace(surfaceWords(changes), "t", "T", 1),
		head: []string{"| Step | Tool | What |", "| --- | --- | --- |"},
		line: func(i int) string {
			c := changes[i]
			step := Markdown(c.Kind)
			if grew(c.Verdict) {
				step = "**" + step + ", grew**"
			}
			return row(step, Code(c.Capability)+"<br>for "+Code(c.Intent), strings.Join(surfaceLines(c), "<br>"))
		},
	})
}

// surfaceLines say what a row is and in what it differs, in inline Markdown.
func surfaceLines(c model.SurfaceChange) []string {
	var lines []string
	if r := cmp.Or(c.New, c.Old); r != nil {
		lines = append(lines, Markdown(rowWords(r, " · ")))
	}
	for _, a := range c.Aspects {
		lines = append(lines, Markdown(aspectWords(a))+witness(a.Witness, ", for example "))
	}
	if c.New != nil && c.Kind == "added" && len(c.New.Gates) > 0 {
		lines = append(lines, strings.TrimPrefix(witness(c.New.Ungated, "ungated for example "), " "))
	}
	if words := caseWords(c); words != "" {
		lines = append(lines, Markdown(words))
	}
	if c.NotProved != "" {
		lines = append(lines, "not proved: "+Message(c.NotProved))
	}
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" })
}

// bySize puts the rows that grew before the others.
func bySize(changes []model.SurfaceChange) []model.SurfaceChange {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b model.SurfaceChange) int {
		rank := func(c model.SurfaceChange) int {
			switch {
			case grew(c.Verdict):
				return 0
			case c.Verdict == "undecided":
				return 1
			}
			return 2
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return changes
}

// effects folds what is permitted now and was not, and the other way round.
func (m *markdown) effects(effects []model.Effect) {
	lines := effectLines(effects)
	m.list(list{
		noun: "effect", n: len(lines), summary: strings.Replace(effectWords(lines), "p", "P", 1),
		head: []string{"| Step | What | For example |", "| --- | --- | --- |"},
		line: func(i int) string {
			return row(Markdown(lines[i].word), Message(lines[i].what), witness(lines[i].seen, ""))
		},
	})
}

// flips folds the table of requests that are decided otherwise.
func (m *markdown) flips(flips []model.Flip) {
	flips = permissive(flips)
	m.list(list{
		noun: "decision flip", n: len(flips), summary: strings.Replace(flipWords(flips), "d", "D", 1),
		head: []string{"| Decision or tool | Before | Now | Smallest request | Found by |", "| --- | --- | --- | --- | --- |"},
		line: func(i int) string {
			f := flips[i]
			now := Markdown(f.New)
			if grew(f.Verdict) {
				now = "**" + now + "**"
			}
			return row(Code(f.Subject)+"<br>for "+Code(f.Intent), Markdown(f.Old), now, witness(f.Request, ""), Markdown(fromWords(f)))
		},
	})
}

// sections folds what differs in golden cases from the version before, and why.
// What differs alike in several cases is said once.
func (m *markdown) sections(cases []model.Golden) {
	all := sectionsOf(cases)
	m.list(list{
		noun: "section", head: []string{"| Section | Before | Now | Because of | In |", "| --- | --- | --- | --- | --- |"}, n: len(all),
		summary: fmt.Sprintf("Compiled contexts since the base: %s in %s", pack.Counted(len(all), "difference"), pack.Counted(len(cases), "golden case")),
		line: func(i int) string {
			s := all[i]
			before, now := excerpts(s.Old, s.New, 80)
			var causes []string
			for _, cause := range s.Causes {
				causes = append(causes, m.cause(cause))
			}
			return row(Code(s.Path), Code(cmp.Or(before, "none")), Code(cmp.Or(now, "none")), strings.Join(causes, "<br>"), Markdown(named(s.cases, "case")))
		},
	})
}

// cause leads to a change of the pack.
func (m *markdown) cause(c model.Cause) string {
	if c.Gone {
		return linkAt(m.report.Base, c.File, c.Line) + " of the base, " + Code(c.Path)
	}
	return m.link(c.File, c.Line) + " " + Code(c.Path)
}

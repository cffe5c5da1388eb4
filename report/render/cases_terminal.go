package render

import (
	"fmt"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// widestCase is the longest name of a golden case, in characters, to which the
// others are aligned.
const widestCase = 40

// mostPassing is up to how many golden cases a report lists one by one; of more
// only those that do not pass.
const mostPassing = 8

// golden lists golden cases, with their problems where nobody else names them.
func (t *terminal) golden(cases []model.Golden, problems bool) {
	if len(cases) == 0 {
		return
	}
	good, width := 0, 0
	for _, c := range cases {
		width = max(width, min(widestCase, utf8.RuneCountInString(text(c.Case))))
		if c.Status == "pass" {
			good++
		}
	}
	t.line("")
	t.line("  golden compiles: %d of %d as expected", good, len(cases))
	for _, c := range cases {
		if c.Status == "pass" && !problems && len(cases) > mostPassing {
			continue
		}
		t.goldenCase(c, width)
		t.base(c)
		for _, p := range c.Problems {
			if problems {
				t.problem("", "", "        ", p)
			}
		}
	}
}

func (t *terminal) goldenCase(c model.Golden, width int) {
	l := looks[c.Status]
	words := text(outcomeWords(c))
	if c.Hash != "" {
		words += "  " + t.paint("dim", text(shortHash(c.Hash)))
	}
	t.line("    %s %-*s  %s", t.paint(l.color, l.mark), width, text(c.Case), words)
	if len(c.Problems) == 0 && c.Status != "pass" && c.Reason != "" {
		t.line("        %s", text(c.Reason))
	}
}

func (t *terminal) coverage(p *model.Pack) {
	if c := p.Coverage; c != nil && len(p.Golden) > 0 && c.Rules.Of+c.Gates.Of > 0 {
		t.line("  coverage: %s", coverageWords(c))
	}
}

// coverageWords says how much of the policy golden cases exercise.
func coverageWords(c *model.Coverage) string {
	return fmt.Sprintf("%d %% (rules %d of %d, else branches %d of %d, gates %d of %d)", c.Percent,
		c.Rules.Count, c.Rules.Of, c.Else.Count, c.Else.Of, c.Gates.Count, c.Gates.Of)
}

func (t *terminal) overlays(list []model.Overlay) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  overlays")
	for _, o := range list {
		l := looks["pass"]
		if o.Errors > 0 {
			l = looks["error"]
		}
		t.line("    %s %s", t.paint(l.color, l.mark), text(overlayWords(o)))
	}
}

// overlayWords says what an overlay is for, and what was found in it.
func overlayWords(o model.Overlay) string {
	words := fmt.Sprintf("%s for %s: %s, %s", o.Overlay, o.Environment, pack.Counted(o.Settings, "setting"), pack.Counted(o.Cases, "golden case"))
	if o.Errors > 0 {
		words += ", " + pack.Counted(o.Errors, "error")
	}
	return words
}

// evaluation says how many measurements are as wanted, and names the others.
func (t *terminal) evaluation(rows []model.Measurement) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.line("  %s", evaluationWords(rows))
	for _, r := range rows {
		if look := measured[r.Status]; look != "pass" {
			l := looks[look]
			t.line("    %s %s %s: %s", t.paint(l.color, l.mark), text(r.Intent), text(r.Metric), text(measurementWords(r)))
		}
	}
}

func (t *terminal) triggers(list []model.Trigger) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  gated again because of")
	for _, r := range list {
		t.line("    %s %s %s", text(r.Kind), solidPlace(r.File, 0, 0), text(r.What))
	}
}

package render

import (
	"cmp"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// signs stand before what was added, removed, changed and renamed.
var signs = map[string]string{"added": "+", "removed": "-", "changed": "~", "renamed": ">"}

// changes writes the step from the version before: what is weaker, what can be
// reached, what is permitted. It writes nothing for nil.
func (t *terminal) changes(d *model.Diff) {
	if d == nil {
		return
	}
	t.loosened(d.Loosened)
	t.surface(d.Surface)
	t.effects(d.Effects)
	t.flips(d.Flips)
}

func (t *terminal) loosened(list []model.Loosened) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  %s", t.paint("yellow", "loosened guardrails"))
	for _, l := range list {
		c := l.Change
		at := solidPlace(c.File, c.Line, c.Column)
		if c.Kind == "removed" {
			at = "base " + at
		}
		t.line("    %s %s %s", t.paint("yellow", looks["warning"].mark), at, text(loosenedWords(l)))
		t.line("        %s", solid(c.Path))
		if values := changeValues(c, 100); values != "" && c.Kind == "changed" {
			t.line("        %s", text(values))
		}
		t.example("        now permitted, for example", l.Witness)
	}
}

// example writes a request behind some words, and nothing where there is none.
func (t *terminal) example(words string, request map[string]any) {
	if request != nil {
		t.line("%s %s", words, solid(pack.CompactJSON(request)))
	}
}

func (t *terminal) surface(changes []model.SurfaceChange) {
	if len(changes) == 0 {
		return
	}
	t.line("")
	t.line("  %s", surfaceWords(changes))
	for _, c := range bySize(changes) {
		t.surfaceChange(c)
	}
}

func (t *terminal) surfaceChange(c model.SurfaceChange) {
	words := text(c.Capability)
	if c.New != nil {
		words += "  " + text(rowWords(c.New, "  "))
	} else if c.Old != nil {
		words += "  " + text(rowWords(c.Old, "  "))
	}
	color := "dim"
	if grew(c.Verdict) {
		color = "red"
	}
	t.line("    %s %s  %s", t.paint(color, signs[c.Kind]), words, t.paint("dim", "for "+text(c.Intent)))
	if c.Open && len(callouts([]model.SurfaceChange{c})) > 0 {
		before, after := calloutWords(c)
		t.line("        %s", t.paint("red", before+text(c.Capability)+text(after)))
	}
	if c.Kind == "added" && c.New != nil && len(c.New.Gates) > 0 {
		t.example("        ungated for example", c.New.Ungated)
	}
	for _, a := range c.Aspects {
		mark := ""
		if grew(a.Verdict) {
			mark = t.paint("red", "grew: ")
		}
		t.line("        %s%s", mark, text(aspectWords(a)))
		t.example("          for example", a.Witness)
	}
	if words := caseWords(c); words != "" {
		t.line("        %s", text(words))
	}
	if c.NotProved != "" {
		t.line("        not proved: %s", text(c.NotProved))
	}
}

func (t *terminal) effects(effects []model.Effect) {
	lines := effectLines(effects)
	if len(lines) == 0 {
		return
	}
	t.line("")
	t.line("  %s", effectWords(lines))
	for _, l := range lines {
		t.line("    %s: %s", l.word, text(l.what))
		t.example("        for example", l.seen)
	}
}

func (t *terminal) flips(flips []model.Flip) {
	if len(flips) == 0 {
		return
	}
	t.line("")
	t.line("  %s", flipWords(flips))
	for _, f := range permissive(flips) {
		color := "dim"
		if grew(f.Verdict) {
			color = "red"
		}
		t.line("    %s: %s → %s  %s", text(f.Subject), text(f.Old), t.paint(color, text(f.New)), t.paint("dim", "for "+text(f.Intent)))
		t.line("        %s  (%s)", solid(pack.CompactJSON(f.Request)), text(fromWords(f)))
	}
}

// base says how a golden case stands to the version before, where it differs.
func (t *terminal) base(c model.Golden) {
	words := baseWords(c)
	if words == "" {
		return
	}
	if t.said == nil {
		t.said = map[string]bool{}
	}
	t.line("        since the base: %s", text(words))
	var sections []model.SectionChange
	for _, s := range c.Base.Sections {
		if key := sectionKey(&s); !t.said[key] {
			t.said[key] = true
			sections = append(sections, s)
		}
	}
	for _, s := range sections[:min(maxSections, len(sections))] {
		t.section(s)
	}
	if left := len(sections) - maxSections; left > 0 {
		t.line("          %s in the JSON report", more(left, "section"))
	}
	if again := len(c.Base.Sections) - len(sections); again > 0 {
		t.line("          %s as in a case above", pack.Counted(again, "section"))
	}
}

func (t *terminal) section(s model.SectionChange) {
	before, now := excerpts(s.Old, s.New, 60)
	t.line("          %s  %s → %s", solid(s.Path), text(cmp.Or(before, "none")), text(cmp.Or(now, "none")))
	for _, cause := range s.Causes {
		at := solidPlace(cause.File, cause.Line, 0)
		if cause.Gone {
			at = "base " + at
		}
		t.line("            because of %s %s", at, solid(cause.Path))
	}
}

// maxSections is how many differences of one golden case a terminal shows.
const maxSections = 5

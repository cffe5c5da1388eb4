package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Style says how the terminal rendering looks.
type Style struct {
	Color bool // ANSI colours
	Quiet bool // the verdict line alone, and errors
}

// Messages in the terminal have one grammar:
//
//	file:line:column: severity RULE name: message
//	    → what to do
//	    see file:line:column: what is there
//
// so that editors and terminals make the place clickable. All text of a pack
// goes through Visible.

// Terminal writes the report for a person at a terminal.
func Terminal(w io.Writer, r *Report, style Style) error {
	t := &terminal{style: style}
	for i := range r.Packs {
		t.pack(&r.Packs[i])
	}
	for _, p := range r.Errors {
		t.problem("error", "red", "", p)
	}
	for _, n := range r.Notices {
		t.line("note: %s", Visible(n))
	}
	t.verdict(r)
	_, err := io.WriteString(w, t.out.String())
	return err
}

type terminal struct {
	style Style
	out   strings.Builder
}

func (t *terminal) line(format string, args ...any) {
	fmt.Fprintf(&t.out, format+"\n", args...)
}

var ansi = map[string]string{"red": "31", "yellow": "33", "green": "32", "dim": "2", "bold": "1"}

func (t *terminal) paint(color, s string) string {
	if !t.style.Color || ansi[color] == "" {
		return s
	}
	return "\x1b[" + ansi[color] + "m" + s + "\x1b[0m"
}

// look is how a state is shown: a mark for the eye, a word beside it for those
// who do not see the mark, and a colour.
type look struct{ mark, word, emoji, color string }

var looks = map[string]look{
	"pass":        {"✓", "pass", "✅", "green"},
	"warning":     {"!", "warning", "⚠️", "yellow"},
	"warnings":    {"!", "warnings", "⚠️", "yellow"},
	"fail":        {"✗", "fail", "❌", "red"},
	"error":       {"✗", "error", "❌", "red"},
	"reject":      {"✗", "reject", "⛔", "red"},
	"not_checked": {"–", "not checked", "➖", "dim"},
}

func (t *terminal) pack(p *Pack) {
	if t.style.Quiet {
		t.findings(p, "error")
		return
	}
	name := cmp.Or(Visible(p.Pack), "(not readable)")
	t.line("%s  %s", t.paint("bold", name), t.paint("dim", Visible(p.Path)))
	t.line("")
	t.line("  %s", t.gates(p.Gates))
	t.findings(p, "error", "warning")
	t.waived(p)
	t.golden(p.Golden)
	t.diff(p.Diff)
	t.notChecked(p)
	t.line("")
}

// gates returns the row of the eight gates. Neighbours that were not checked
// for one reason stand together.
func (t *terminal) gates(gates []Gate) string {
	var cells []string
	for i := 0; i < len(gates); i++ {
		g := gates[i]
		l := looks[g.Status]
		if g.Status != "not_checked" {
			cells = append(cells, t.paint(l.color, l.mark)+" "+g.Gate+" "+t.paint(l.color, gateWord(g)))
			continue
		}
		group := []string{g.Gate}
		for i+1 < len(gates) && gates[i+1].Status == g.Status && gates[i+1].Reason == g.Reason {
			i++
			group = append(group, gates[i].Gate)
		}
		cells = append(cells, t.paint(l.color, l.mark+" "+strings.Join(group, ", ")+" not checked: "+g.Reason))
	}
	return strings.Join(cells, "  ")
}

// gateWord says the state of a gate that ran, with its counts.
func gateWord(g Gate) string {
	switch {
	case g.Errors > 0 && g.Warnings > 0:
		return plural(g.Errors, "error") + ", " + plural(g.Warnings, "warning")
	case g.Errors > 0:
		return plural(g.Errors, "error")
	case g.Warnings > 0:
		return plural(g.Warnings, "warning")
	}
	return looks[g.Status].word
}

func (t *terminal) findings(p *Pack, severities ...string) {
	for _, f := range p.Findings {
		if f.Waived != nil || !slices.Contains(severities, f.Severity) {
			continue
		}
		t.line("")
		t.line("  %s %s %s %s", place(f.File, f.Line, f.Column), t.paint(looks[f.Severity].color, f.Severity), t.paint("bold", f.Rule), t.paint("dim", f.Name))
		t.line("    %s", Visible(f.Message))
		if f.Hint != "" {
			t.line("    → %s", Visible(f.Hint))
		}
		for _, r := range f.Related {
			t.line("    see %s %s", place(r.File, r.Line, r.Column), Visible(r.Message))
		}
		if f.Witness != nil {
			t.line("    for example %s", Visible(compactJSON(f.Witness)))
		}
		if f.Fix != nil {
			t.line("    fix: %s", Visible(f.Fix.Description))
		}
	}
}

func (t *terminal) waived(p *Pack) {
	for _, f := range p.Findings {
		if f.Waived == nil {
			continue
		}
		t.line("")
		t.line("  %s %s", t.paint("dim", "waived "+f.Rule+" "+place(f.File, f.Line, f.Column)), Visible(f.Message))
		t.line("    until %s by %s: %s", Visible(f.Waived.Expires), Visible(f.Waived.Owner), Visible(f.Waived.Reason))
	}
}

func (t *terminal) golden(cases []Golden) {
	if len(cases) == 0 {
		return
	}
	good, width := 0, 0
	for _, c := range cases {
		width = max(width, len([]rune(Visible(c.Case))))
		if c.Status == "pass" {
			good++
		}
	}
	t.line("")
	t.line("  golden compiles: %d of %d as expected", good, len(cases))
	for _, c := range cases {
		l := looks[c.Status]
		name := Visible(c.Case)
		t.line("    %s %s%s  %s  %s", t.paint(l.color, l.mark), name, strings.Repeat(" ", width-len([]rune(name))),
			outcomeWords(c), t.paint("dim", shortHash(c.Hash)))
		if c.Status != "pass" && c.Reason != "" {
			t.line("        %s", Visible(c.Reason))
		}
		for _, p := range c.Problems {
			t.problem("", "", "        ", p)
		}
	}
}

// outcomeWords says how a case came out, and how it stands to its snapshot.
func outcomeWords(c Golden) string {
	words := cmp.Or(c.Outcome, "not run")
	if c.Expected != "" && c.Expected != c.Outcome {
		words += ", expected " + Visible(c.Expected)
	}
	switch c.Snapshot {
	case "equal":
		words += ", same as the snapshot"
	case "drifted":
		words += ", differs from the snapshot"
		if c.Stage != "" {
			words += " from stage " + c.Stage + " on"
		}
	case "missing":
		words += ", no snapshot yet"
	}
	return words
}

func (t *terminal) diff(d *Diff) {
	if d == nil {
		return
	}
	t.line("")
	t.line("  %s → %s: class %s, declared %s", Visible(d.Base), Visible(d.Head), t.paint(classColor(d.Class), d.Class), d.Declared)
	if d.RequiredVersion != "" {
		t.line("    → set pack_version to %s", d.RequiredVersion)
	}
	var same []string
	for _, l := range d.Layers {
		if len(l.Changes) == 0 {
			same = append(same, l.Layer)
			continue
		}
		t.line("    %s %s", t.paint("bold", Visible(l.Layer)), t.paint(classColor(l.Class), l.Class))
		for _, c := range l.Changes {
			t.change(c)
		}
	}
	if len(same) > 0 {
		t.line("    %s", t.paint("dim", "unchanged: "+strings.Join(same, ", ")))
	}
}

func (t *terminal) change(c Change) {
	sign := map[string]string{"added": "+", "removed": "-", "changed": "~", "renamed": ">"}[c.Kind]
	t.line("      %s %s %s", sign, Visible(c.Path), t.paint(classColor(c.Class), c.Class))
	if values := changeValues(c, 100); values != "" {
		t.line("          %s", Visible(values))
	}
	t.line("          %s", t.paint("dim", Visible(changeReason(c))))
}

// changeReason says why a change has its class.
func changeReason(c Change) string {
	reason := c.Reason
	if c.NeedsHumanClass {
		reason += " (needs a human class)"
	}
	if c.Override != "" {
		reason += " (class set by the config: " + c.Override + ")"
	}
	return reason
}

// changeValues shows the old and the new value in one line of bounded length.
func changeValues(c Change, most int) string {
	switch {
	case len(c.Old) > 0 && len(c.New) > 0:
		return cut(string(c.Old), most) + " → " + cut(string(c.New), most)
	case len(c.New) > 0:
		return cut(string(c.New), most)
	}
	return cut(string(c.Old), most)
}

func classColor(class string) string {
	switch class {
	case "reject", "major":
		return "red"
	case "minor":
		return "yellow"
	}
	return "green"
}

// notChecked lists checks that did not run inside gates that did.
func (t *terminal) notChecked(p *Pack) {
	first := true
	for _, n := range p.NotChecked {
		if n.Rule == "" {
			continue // stands in the row of gates
		}
		if first {
			t.line("")
			t.line("  %s", t.paint("dim", "not checked"))
			first = false
		}
		t.line("    %s", t.paint("dim", n.Rule+": "+Visible(n.Reason)))
	}
}

func (t *terminal) problem(word, color, indent string, p Problem) {
	message := Visible(p.Message)
	if word != "" {
		message = t.paint(color, word+":") + " " + message
	}
	if p.File != "" {
		message = place(p.File, p.Line, p.Column) + " " + message
	}
	t.line("%s%s", indent, message)
	if p.Hint != "" {
		t.line("%s  → %s", indent, Visible(p.Hint))
	}
}

func (t *terminal) verdict(r *Report) {
	l := looks[string(r.Result)]
	s := r.Summary
	parts := []string{plural(s.Packs, "pack"), plural(s.Errors, "error"), plural(s.Warnings, "warning")}
	if s.Waived > 0 {
		parts = append(parts, fmt.Sprintf("%d waived", s.Waived))
	}
	if s.NotChecked > 0 {
		parts = append(parts, plural(s.NotChecked, "check")+" not run")
	}
	t.line("%s %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), strings.Join(parts, " · "))
}

// place returns file:line:column: as far as it is known.
func place(file string, line, column int) string {
	if line == 0 {
		return Visible(file) + ":"
	}
	return fmt.Sprintf("%s:%d:%d:", Visible(file), line, column)
}

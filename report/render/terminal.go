package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Style says how the terminal rendering looks.
type Style struct {
	Color bool // ANSI colours
	Quiet bool // the verdict line alone, and errors
	Width int  // columns at which lines are broken; 0 for none
}

// Messages in the terminal have one grammar:
//
//	file:line:column: severity RULE name: message
//	    → what to do
//	    see file:line:column: what is there
//
// so that editors and terminals make the place clickable. All text of a pack
// goes through text; places and requests are not broken over lines.

// Terminal writes the report for a person at a terminal.
func Terminal(w io.Writer, r *model.Report, style Style) error {
	t := &terminal{style: style}
	out := bufio.NewWriter(w)
	for _, p := range r.Packs.All() {
		t.pack(p)
		out.WriteString(t.out.String()) // the first error is kept
		t.out.Reset()
	}
	for _, p := range r.Errors {
		t.problem("error", "red", "", p)
	}
	for _, n := range r.Notices {
		t.line("note: %s", text(n))
	}
	t.published(r)
	t.verdict(r)
	out.WriteString(t.out.String())
	return out.Flush()
}

type terminal struct {
	style Style
	out   strings.Builder
	said  map[string]bool // sections of golden cases that were shown
}

// line writes a line, which no log takes for a command.
func (t *terminal) line(format string, args ...any) {
	t.out.WriteString(Inert(wrap(fmt.Sprintf(format, args...), t.style.Width)) + "\n")
}

// text returns a text of a pack as a terminal may show it.
func text(s string) string { return Visible(shorten(s, maxTerminalText)) }

var ansi = map[string]string{"red": "31", "yellow": "33", "green": "32", "dim": "2", "bold": "1"}

func (t *terminal) paint(color, s string) string {
	if !t.style.Color || ansi[color] == "" {
		return s
	}
	return colorStart + ansi[color] + "m" + s + colorEnd
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

	// What became of a version in a registry.
	model.PublicationDone:       {"✓", "published", "✅", "green"},
	model.PublicationAlready:    {"✓", "already published", "✅", "green"},
	model.PublicationWould:      {"○", "would be published", "⚪", "dim"},
	model.PublicationRefused:    {"✗", "refused", "⛔", "red"},
	model.PublicationUnfinished: {"!", "not published yet", "⏳", "yellow"},

	// What a registry is like of which something could not be looked at.
	"incomplete": {"!", "not checked whole", "⚠️", "yellow"},

	// Whether a version in a registry may be used.
	"usable":     {"✓", "usable", "✅", "green"},
	"deprecated": {"!", "deprecated", "⚠️", "yellow"},
	"revoked":    {"✗", "revoked", "⛔", "red"},
	"untrusted":  {"✗", "not trusted", "❌", "red"},
}

func (t *terminal) pack(p *model.Pack) {
	if t.style.Quiet {
		t.findings(p, "error")
		return
	}
	name := cmp.Or(text(p.Pack), "(not readable)")
	t.said = nil
	t.line("%s  %s", t.paint("bold", name), t.paint("dim", solid(p.Path)))
	t.line("")
	t.line("  %s", t.gates(p.Gates))
	t.findings(p, "error", "warning")
	t.fixed(p)
	t.waived(p)
	t.golden(p.Golden, false)
	t.coverage(p)
	t.overlays(p.Overlays)
	t.evaluation(p.Evaluation)
	t.diff(p.Diff)
	t.changes(p.Diff)
	t.triggers(p.Triggers)
	t.notChecked(p)
	t.line("")
}

// gates returns the row of the eight gates.
func (t *terminal) gates(gates []model.Gate) string {
	var cells []string
	for group := range gateGroups(gates) {
		var names []string
		for _, g := range group {
			names = append(names, text(g.Gate))
		}
		g := group[0]
		l := looks[g.Status]
		if g.Status == "not_checked" {
			cells = append(cells, t.paint(l.color, l.mark+joint+strings.Join(names, ", ")+" not checked: "+text(g.Reason)))
			continue
		}
		cells = append(cells, t.paint(l.color, l.mark)+joint+names[0]+joint+t.paint(l.color, strings.ReplaceAll(gateWord(g), " ", joint)))
	}
	return strings.Join(cells, "  ")
}

// findings writes the findings of some severities: those in the pack file, and
// then those in the files beside it.
func (t *terminal) findings(p *model.Pack, severities ...string) {
	for _, own := range []bool{true, false} {
		for _, f := range p.Findings {
			if f.Waived == nil && slices.Contains(severities, f.Severity) && (f.File == p.Path) == own {
				t.finding(f)
			}
		}
	}
}

// maxPlaces is how many related places of a finding are shown.
const maxPlaces = 10

func (t *terminal) finding(f model.Finding) {
	t.line("")
	t.line("  %s %s %s %s", solidPlace(f.File, f.Line, f.Column), t.paint(looks[f.Severity].color, f.Severity), t.paint("bold", text(f.Rule)), t.paint("dim", text(f.Name)))
	t.line("    %s", text(f.Message)+stateWords(f))
	if f.Hint != "" {
		t.line("    → %s", text(f.Hint))
	}
	for _, r := range f.Related[:min(len(f.Related), maxPlaces)] {
		t.line("    see %s %s", relatedPlace(r), text(r.Message))
	}
	if left := len(f.Related) - maxPlaces; left > 0 {
		t.line("    see %s in the JSON report", more(left, "place"))
	}
	if f.Witness != nil {
		t.line("    for example %s", solid(pack.CompactJSON(f.Witness)))
	}
	if fix := fixWords(f); fix != "" {
		t.line("    --fix%s", text(fix))
	}
}

// fixed names the findings of the baseline that are no more.
func (t *terminal) fixed(p *model.Pack) {
	if len(p.Fixed) == 0 {
		return
	}
	t.line("")
	t.line("  fixed since the base")
	for _, f := range p.Fixed {
		t.line("    %s %s %s", t.paint("green", text(f.Rule)), solid(f.Path), text(f.Message))
	}
}

func (t *terminal) waived(p *model.Pack) {
	for _, f := range p.Findings {
		if f.Waived == nil {
			continue
		}
		t.line("")
		t.line("  %s %s", t.paint("dim", "waived "+text(f.Rule)+" "+solidPlace(f.File, f.Line, f.Column)), text(f.Message))
		t.line("    until %s, by %s: %s", text(f.Waived.Expires), text(f.Waived.Owner), text(f.Waived.Reason))
	}
}

func (t *terminal) diff(d *model.Diff) {
	if d == nil {
		return
	}
	t.line("")
	t.line("  %s → %s: class %s, declared %s", text(d.Base), text(d.Head), t.paint(classColor(d.Class), text(d.Class)), text(d.Declared))
	if d.RequiredVersion != "" {
		t.line("    → set pack_version to %s, or let packgate bump do it", text(d.RequiredVersion))
	}
	var same []string
	for _, l := range d.Layers {
		if len(l.Changes) == 0 {
			same = append(same, text(l.Layer))
			continue
		}
		t.line("    %s %s", t.paint("bold", text(l.Layer)), t.paint(classColor(l.Class), text(l.Class)))
		for _, c := range l.Changes {
			t.change(c)
		}
	}
	if len(same) > 0 {
		t.line("    %s", t.paint("dim", "unchanged: "+strings.Join(same, ", ")))
	}
}

func (t *terminal) change(c model.Change) {
	t.line("      %s %s %s", signs[c.Kind], solid(c.Path), t.paint(classColor(c.Class), text(c.Class)))
	if values := changeValues(c, 100); values != "" {
		t.line("          %s", text(values))
	}
	t.line("          %s", t.paint("dim", text(changeReason(c))))
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

// notChecked lists the checks that did not run and do not stand in the row of
// gates.
func (t *terminal) notChecked(p *model.Pack) {
	checks := byReason(unchecked(p))
	if len(checks) == 0 {
		return
	}
	t.line("")
	t.line("  %s", t.paint("dim", "not checked"))
	for _, n := range checks {
		t.line("    %s", t.paint("dim", text(n.names)+": "+text(n.reason)))
	}
}

func (t *terminal) problem(word, color, indent string, p model.Problem) {
	message := text(p.Message)
	if word != "" {
		message = t.paint(color, word+":") + " " + message
	}
	if p.File != "" {
		message = solidPlace(p.File, p.Line, p.Column) + " " + message
	}
	t.line("%s%s", indent, message)
	if p.Hint != "" {
		t.line("%s  → %s", indent, text(p.Hint))
	}
}

func (t *terminal) verdict(r *model.Report) {
	l := looks[string(r.Result)]
	s := r.Summary
	var parts []string
	if r.Result == model.Broken {
		parts = append(parts, "could not finish")
	}
	if words := publicationCounts(r.Published); words != "" {
		parts = append(parts, words)
	}
	parts = append(parts, pack.Counted(s.Packs, "pack"), pack.Counted(s.Errors, "error"), pack.Counted(s.Warnings, "warning"))
	if s.Waived > 0 {
		parts = append(parts, fmt.Sprintf("%d waived", s.Waived))
	}
	if s.NotChecked > 0 {
		parts = append(parts, pack.Counted(s.NotChecked, "check")+" not run")
	}
	t.line("%s %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), strings.Join(parts, " · "))
}

func relatedPlace(r model.Related) string {
	return solidPlace(r.File, r.Line, r.Column) + inRevision(r)
}

// inRevision says which other version a place is of; "" for the one under review.
func inRevision(r model.Related) string {
	if r.Revision == "" {
		return ""
	}
	return " (in " + short(r.Revision) + ")"
}

// place returns file:line:column: as far as it is known.
func place(file string, line, column int) string {
	switch {
	case line == 0:
		return text(file) + ":"
	case column == 0:
		return fmt.Sprintf("%s:%d:", text(file), line)
	}
	return fmt.Sprintf("%s:%d:%d:", text(file), line, column)
}

package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

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
	t := &terminal{style: style, builder: terminalBuilder(r)}
	out := bufio.NewWriter(w)
	for _, p := range r.Packs.All() {
		t.pack(p)
		out.WriteString(t.out.String()) // the first error is kept
		t.out.Reset()
	}
	for _, p := range r.Errors {
		t.problem(p)
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
	style   Style
	builder *builder
	out     strings.Builder
}

// writeTerminal writes what a function shows beside a report. The error is that of the
// writer.
func writeTerminal(w io.Writer, s Style, show func(t *terminal)) error {
	t := &terminal{style: s, builder: terminalBuilder(&model.Report{})}
	show(t)
	_, err := io.WriteString(w, t.out.String())
	return err
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
	b := t.builder
	if t.style.Quiet {
		errors := p.BySeverity("error")
		t.list(listOf(list{}, errors, b.finding), "  ")
		return
	}
	name := cmp.Or(text(p.Pack), "(not readable)")
	t.line("%s  %s", t.paint("bold", name), t.paint("dim", solid(p.Path)))
	t.line("")
	if p.Kind == model.KindRemoved {
		t.line("  %s", "pack removed")
	} else {
		t.line("  %s", t.gates(p.Gates))
	}
	if todo := t.say(todoWords(todoOf(p))); todo != "" {
		t.line("  → %s", todo)
	}
	for _, s := range b.pack(p) {
		t.section(&s, "  ")
	}
	t.line("")
}

func (t *terminal) gates(gates []model.Gate) string {
	var cells []string
	for _, c := range gateCells(gates, text, text) {
		l := looks[c.status]
		if c.status == "not_checked" {
			cells = append(cells, t.paint(l.color, l.mark+joint+c.names+" "+c.words))
		} else {
			cells = append(cells, t.paint(l.color, l.mark)+joint+c.names+joint+t.paint(l.color, strings.ReplaceAll(c.words, " ", joint)))
		}
	}
	return strings.Join(cells, "  ")
}

const maxPlaces = 10

func (t *terminal) problem(p model.Problem) {
	message := t.paint("red", "error:") + " " + text(p.Message)
	if p.File != "" {
		message = solidPlace(p.File, p.Line, p.Column) + " " + message
	}
	t.line("%s", message)
	if p.Hint != "" {
		t.line("  → %s", text(p.Hint))
	}
}

func (t *terminal) verdict(r *model.Report) {
	words := runCounts(r)
	if r.Result == model.Broken {
		words = "could not finish · " + words
	}
	t.verdictLine(looks[string(r.Result)], words)
}

func (t *terminal) verdictLine(l look, words string) {
	t.line("%s %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), words)
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

// published writes what became of each version in the registry; where the style is
// quiet, what has to be acted on alone.
func (t *terminal) published(r *model.Report) {
	all := published(r)
	if t.style.Quiet {
		all = all[:haltedOnes(all)]
	}
	if len(all) == 0 {
		return
	}
	t.line("%s", t.paint("bold", strings.ToLower(partTitle(all))))
	t.list(t.builder.publications(all), "  ")
	if !t.style.Quiet {
		t.line("")
	}
}

// known writes what is known of a version, unless the style is quiet.
func (t *terminal) known(k *known, indent string) {
	if k == nil || t.style.Quiet {
		return
	}
	t.facts(indent, 0, k.facts)
	for _, c := range k.commands {
		t.command(indent, c)
	}
}

// facts writes what is known, one thing a line, in columns of which the first is at
// least so wide, or as wide as the longest name for 0. Words that do not fit go on below
// themselves; digests, names and addresses are not broken.
func (t *terminal) facts(indent string, least int, facts []fact) {
	if least == 0 {
		for _, f := range facts {
			least = max(least, len(f.name)+2)
		}
	}
	for _, f := range facts {
		gap := max(2, least-len(f.name))
		hang := strings.Repeat(" ", len(indent)+len(f.name)+gap)
		value := text(f.value)
		if f.words && t.style.Width > 0 {
			value = strings.ReplaceAll(wrap(value, max(narrowest, t.style.Width-len(hang))), "\n", "\n"+hang)
		}
		t.out.WriteString(Inert(indent+t.paint("dim", f.name)+strings.Repeat(" ", gap)+value) + "\n")
	}
}

func (t *terminal) command(indent string, c shellCommand) {
	lines, ok := copyable(c.line)
	if !ok {
		t.line("%scheck it %s: %s", indent, c.name, notCopyable)
		return
	}
	t.line("%scheck it %s:", indent, c.name)
	for _, l := range lines {
		t.line("%s  %s", indent, strings.ReplaceAll(l, " ", joint))
	}
}

func (t *terminal) unlooked(indent string, sentences []string) {
	for _, s := range sentences {
		t.line("%s%s", indent, t.paint("dim", "not checked: "+text(s)))
	}
}

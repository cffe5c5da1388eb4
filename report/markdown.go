package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Markdown layout, for the pull request comment and the job summary: the
// verdict and the one thing to do come first, blockers before tables, long
// parts are folded, empty parts vanish, words stand beside icons.

// MarkdownReport writes the report as GitHub Flavored Markdown. Everything that
// comes from a pack is escaped, so that it can mention nobody and break nothing.
func MarkdownReport(w io.Writer, r *Report) error {
	m := &markdown{report: r}
	if len(r.Packs) == 0 {
		m.headline(r.Result, "packgate: "+m.nothing())
	}
	for i := range r.Packs {
		m.pack(&r.Packs[i])
	}
	m.problems()
	m.footer()
	_, err := io.WriteString(w, m.out.String())
	return err
}

type markdown struct {
	report *Report
	out    strings.Builder
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

func (m *markdown) headline(r Result, text string) {
	l := looks[string(r)]
	m.line("### %s %s", l.emoji, text)
	m.line("")
}

func (m *markdown) nothing() string {
	if m.report.Result == Broken {
		return "could not finish"
	}
	return "no pack changed"
}

func (m *markdown) pack(p *Pack) {
	m.headline(p.Result, packTitle(p))
	m.line("%s", gateCounts(p))
	if todo := m.todo(p); todo != "" {
		m.line("")
		m.line("**Do this:** %s", todo)
	}
	m.line("")
	m.line("%s", gateRow(p.Gates))
	m.line("")
	m.findings(p, "error", 10)
	m.findings(p, "warning", 5)
	m.diff(p.Diff)
	m.golden(p.Golden)
	m.waived(p)
	m.notChecked(p)
}

// packTitle says the verdict on a pack and its version step in one line.
func packTitle(p *Pack) string {
	name := Markdown(cmp.Or(p.Pack, p.Path))
	if d := p.Diff; d != nil {
		id, from, _ := strings.Cut(d.Base, "@")
		_, to, _ := strings.Cut(d.Head, "@")
		name = Markdown(id + " " + from + " → " + to)
		if d.RequiredVersion != "" {
			return fmt.Sprintf("%s needs %s (%s)", name, d.RequiredVersion, d.Class)
		}
		return fmt.Sprintf("%s: %s (%s)", name, verdictWord(p.Result), d.Class)
	}
	return name + ": " + verdictWord(p.Result)
}

func verdictWord(r Result) string {
	switch r {
	case Passed:
		return "passes"
	case Rejected:
		return "rejected"
	case Broken:
		return "could not be checked"
	}
	return "fails"
}

func gateCounts(p *Pack) string {
	passed, unchecked := 0, 0
	for _, g := range p.Gates {
		switch g.Status {
		case "pass", "warnings":
			passed++
		case "not_checked":
			unchecked++
		}
	}
	c := Count(p)
	parts := []string{fmt.Sprintf("%d of %d gates pass", passed, len(p.Gates))}
	if unchecked > 0 {
		parts = append(parts, fmt.Sprintf("%d not checked", unchecked))
	}
	parts = append(parts, plural(c.Errors, "error"), plural(c.Warnings, "warning"))
	if c.Waived > 0 {
		parts = append(parts, fmt.Sprintf("%d waived", c.Waived))
	}
	return strings.Join(parts, " · ")
}

// todo says the one thing to do next where a pack does not pass.
func (m *markdown) todo(p *Pack) string {
	if p.Result == Passed {
		return ""
	}
	for _, f := range p.Findings {
		if f.Severity != "error" || f.Waived != nil {
			continue
		}
		action := cmp.Or(f.Hint, f.Message)
		return Message(action) + " (" + m.link(f.File, f.Line) + ")"
	}
	for _, g := range p.Golden {
		for _, problem := range g.Problems {
			return Message(cmp.Or(problem.Hint, problem.Message)) + " (" + m.link(cmp.Or(problem.File, g.File), problem.Line) + ")"
		}
	}
	return ""
}

// gateRow shows the eight gates in one line.
func gateRow(gates []Gate) string {
	var cells []string
	for i := 0; i < len(gates); i++ {
		g := gates[i]
		l := looks[g.Status]
		names, word := []string{g.Gate}, gateWord(g)
		if g.Status == "not_checked" {
			for i+1 < len(gates) && gates[i+1].Status == g.Status && gates[i+1].Reason == g.Reason {
				i++
				names = append(names, gates[i].Gate)
			}
			word = "not checked: " + Markdown(g.Reason)
		}
		cells = append(cells, l.emoji+" "+strings.Join(names, ", ")+" "+word)
	}
	return strings.Join(cells, " · ")
}

// findings lists the findings of a severity; those beyond most are folded.
func (m *markdown) findings(p *Pack, severity string, most int) {
	var lines []string
	for _, f := range p.Findings {
		if f.Severity == severity && f.Waived == nil {
			lines = append(lines, m.finding(f))
		}
	}
	if len(lines) == 0 {
		return
	}
	for _, l := range lines[:min(most, len(lines))] {
		m.line("%s", l)
	}
	m.line("")
	if rest := lines[min(most, len(lines)):]; len(rest) > 0 {
		m.fold(fmt.Sprintf("%d more %ss", len(rest), severity), rest)
	}
}

func (m *markdown) finding(f Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s **%s** %s: %s", looks[f.Severity].emoji, f.Severity, Markdown(f.Rule), m.link(f.File, f.Line), Message(f.Message))
	if f.Hint != "" {
		b.WriteString("<br>→ " + Message(f.Hint))
	}
	for _, r := range f.Related {
		b.WriteString("<br>see " + m.link(r.File, r.Line) + " " + Message(r.Message))
	}
	if f.Witness != nil {
		b.WriteString("<br>for example " + Code(compactJSON(f.Witness)))
	}
	return b.String()
}

// fold writes lines that one has to unfold. The blank line behind the summary
// makes GitHub read what follows as Markdown.
func (m *markdown) fold(summary string, lines []string) {
	m.line("<details><summary>%s</summary>", summary)
	m.line("")
	for _, l := range lines {
		m.line("%s", l)
	}
	m.line("")
	m.line("</details>")
	m.line("")
}

// link shows a place and leads to it at the head commit, where that is known.
func (m *markdown) link(file string, line int) string {
	text := path.Base(file)
	if line > 0 {
		text = fmt.Sprintf("%s:%d", text, line)
	}
	if m.report.Head == nil || m.report.Head.BlobURL == "" || file == "" {
		return Code(text)
	}
	target := m.report.Head.BlobURL + (&url.URL{Path: file}).EscapedPath()
	if line > 0 {
		target += fmt.Sprintf("#L%d", line)
	}
	return "[" + Code(text) + "](<" + target + ">)"
}

func (m *markdown) diff(d *Diff) {
	if d == nil {
		return
	}
	var rows, same []string
	for _, l := range d.Layers {
		if len(l.Changes) == 0 {
			same = append(same, l.Layer)
		}
		for _, c := range l.Changes {
			rows = append(rows, m.change(c))
		}
	}
	if len(rows) == 0 {
		m.line("No layer changed.")
		m.line("")
		return
	}
	m.line("| Change | Class | Why |")
	m.line("| --- | --- | --- |")
	shown := rows[:min(12, len(rows))]
	for _, row := range shown {
		m.line("%s", row)
	}
	m.line("")
	if rest := rows[len(shown):]; len(rest) > 0 {
		m.fold(fmt.Sprintf("%d more changes", len(rest)), slices.Concat([]string{"| Change | Class | Why |", "| --- | --- | --- |"}, rest))
	}
	if len(same) > 0 {
		m.line("Unchanged: %s", strings.Join(same, ", "))
		m.line("")
	}
}

func (m *markdown) change(c Change) string {
	what := c.Kind + " " + Code(c.Path)
	if len(c.Old) > 0 && len(c.New) > 0 {
		what += "<br>" + Code(cut(string(c.Old), 60)) + " → " + Code(cut(string(c.New), 60))
	}
	return fmt.Sprintf("| %s | %s | %s |", what, c.Class, Message(changeReason(c)))
}

func (m *markdown) golden(cases []Golden) {
	if len(cases) == 0 {
		return
	}
	lines := []string{"| Case | Outcome | Compiled context |", "| --- | --- | --- |"}
	good := 0
	for _, c := range cases {
		if c.Status == "pass" {
			good++
		}
		outcome := looks[c.Status].emoji + " " + Markdown(outcomeWords(c))
		for _, p := range c.Problems {
			outcome += "<br>" + Message(p.Message)
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", m.link(c.File, 0), outcome, Code(cmp.Or(shortHash(c.Hash), "none"))))
	}
	m.fold(fmt.Sprintf("Golden compiles: %d of %d as expected", good, len(cases)), lines)
}

func (m *markdown) waived(p *Pack) {
	var lines []string
	for _, f := range p.Findings {
		if f.Waived != nil {
			lines = append(lines, fmt.Sprintf("- **%s** %s: %s<br>until %s, %s: %s", Markdown(f.Rule), m.link(f.File, f.Line),
				Message(f.Message), Markdown(f.Waived.Expires), Code(f.Waived.Owner), Markdown(f.Waived.Reason)))
		}
	}
	if len(lines) > 0 {
		m.fold(fmt.Sprintf("Waived: %d", len(lines)), lines)
	}
}

func (m *markdown) notChecked(p *Pack) {
	var lines []string
	for _, n := range p.NotChecked {
		what := "the whole gate " + n.Gate
		if n.Rule != "" {
			what = n.Rule
		}
		lines = append(lines, fmt.Sprintf("- %s: %s", Markdown(what), Message(n.Reason)))
	}
	if len(lines) > 0 {
		m.fold(fmt.Sprintf("Not checked: %d", len(lines)), lines)
	}
}

func (m *markdown) problems() {
	for _, p := range m.report.Errors {
		m.line("- %s **error** %s: %s", looks["error"].emoji, m.link(p.File, p.Line), Message(p.Message))
		if p.Hint != "" {
			m.line("  → %s", Message(p.Hint))
		}
	}
	for _, n := range m.report.Notices {
		m.line("- note: %s", Message(n))
	}
	if len(m.report.Errors)+len(m.report.Notices) > 0 {
		m.line("")
	}
}

func (m *markdown) footer() {
	var parts []string
	if b := m.report.Base; b != nil {
		parts = append(parts, "base "+Code(short(b.SHA)))
	}
	if h := m.report.Head; h != nil {
		parts = append(parts, "head "+Code(short(h.SHA)))
	}
	t := m.report.Tool
	parts = append(parts, fmt.Sprintf("packgate %s, rules %s", Markdown(t.Version), Markdown(t.RulesVersion)))
	m.line("<sub>%s</sub>", strings.Join(parts, " · "))
}

func short(sha string) string { return sha[:min(7, len(sha))] }

package report

import (
	"fmt"
	"io"
)

// NewComparison returns a comparison and what the version rules find in it, in
// the report's form, with the secrets of both versions masked.
func NewComparison(c Comparison) (*Diff, []Finding) {
	p := Pack{Diff: c.compared(), Findings: []Finding{}}
	for _, f := range c.Diff.Findings() {
		p.Findings = append(p.Findings, newFinding(f))
	}
	p = masked(p, nil, documentsOf(c.Diff))
	return p.Diff, p.Findings
}

// WriteDiff writes a comparison alone: "json" is the report's diff object,
// "markdown" its table, all else the terminal's form. Findings of the version
// rules are shown to people; the JSON form says the same in its own members.
func WriteDiff(w io.Writer, format string, d *Diff, findings []Finding, style Style) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "markdown":
		m := &markdown{report: &Report{}}
		m.paragraph("### %s: class %s, declared %s", Markdown(stepName(d)), d.Class, d.Declared)
		m.list(list{noun: "finding", open: 5, n: len(findings), line: func(i int) string { return m.finding(findings[i]) }})
		m.step(d)
		m.permitted(d)
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	t := &terminal{style: style}
	t.diff(d)
	t.changes(d)
	t.findings(&Pack{Findings: findings}, "error", "warning")
	_, err := fmt.Fprintln(w, t.out.String())
	return err
}

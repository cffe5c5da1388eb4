package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/contextosai/packgate/internal/finding"
)

// NewFindings returns findings in the report's form, sorted for people.
func NewFindings(findings []finding.Finding) []Finding {
	out := []Finding{}
	for _, f := range finding.Sort(findings) {
		out = append(out, newFinding(f))
	}
	return out
}

// WriteDiff writes a comparison alone: "json" is the report's diff object,
// "markdown" its table, all else the terminal's form. Findings of the version
// rules are shown to people; the JSON form says the same in its own members.
func WriteDiff(w io.Writer, format string, d *Diff, findings []Finding, style Style) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(d)
	case "markdown":
		m := &markdown{report: &Report{}}
		m.line("### %s → %s: %s\n", Markdown(d.Base), Markdown(d.Head), d.Class)
		for _, f := range findings {
			m.line("%s", m.finding(f))
		}
		if len(findings) > 0 {
			m.line("")
		}
		m.diff(d)
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	t := &terminal{style: style}
	t.diff(d)
	t.findings(&Pack{Findings: findings}, "error", "warning")
	_, err := fmt.Fprintln(w, t.out.String())
	return err
}

package render

import (
	"fmt"
	"io"

	"github.com/contextosai/packgate/report/model"
)

// WriteDiff writes a comparison alone: "json" is the report's diff object,
// "markdown" its table, all else the terminal's form. Findings of the version
// rules are shown to people; the JSON form says the same in its own members.
func WriteDiff(w io.Writer, format string, d *model.Diff, findings []model.Finding, style Style) error {
	switch format {
	case "json":
		return model.WriteJSON(w, d)
	case "markdown":
		m := &markdown{report: &model.Report{}}
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
	t.findings(&model.Pack{Findings: findings}, "error", "warning")
	_, err := fmt.Fprintln(w, t.out.String())
	return err
}

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
		m := newMarkdown(&model.Report{}, whole)
		m.paragraph("### %s: class %s, declared %s", Markdown(stepName(d)), d.Class, d.Declared)
		for _, s := range m.builder.comparison(d, findings) {
			m.section(&s)
		}
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	t := &terminal{style: style, builder: terminalBuilder(&model.Report{})}
	for _, s := range t.builder.comparison(d, findings) {
		t.section(&s)
	}
	_, err := fmt.Fprintln(w, t.out.String())
	return err
}

// comparison returns the sections of a comparison alone.
func (b *builder) comparison(d *model.Diff, findings []model.Finding) []section {
	all := append([]section{b.findings(&model.Pack{Findings: findings})}, b.step(d)...)
	return spoken(append(all, b.permitted(d)...))
}

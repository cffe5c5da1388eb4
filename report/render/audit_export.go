package render

import (
	"fmt"
	"io"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteExportCheck writes the result of verifying an exported audit: "json" is the form of the
// schema "audit-export", anything else the form for a terminal. The error is that of the writer.
func WriteExportCheck(w io.Writer, format string, c *model.ExportCheck, s Style) error {
	return s.write(w, format, c, func(t *terminal) { t.exportCheck(c) })
}

func (t *terminal) exportCheck(c *model.ExportCheck) {
	for _, problem := range c.Problems {
		t.marked(looks["fail"], text(problem))
	}
	if !t.style.Quiet {
		t.line("registry   %s", text(c.Registry))
		t.line("signed by  %s", text(c.Publisher))
		for _, p := range c.Packs {
			t.line("%s: %s", text(p.Pack), exportedWords(p))
		}
		if c.Issued != "" {
			t.line("The publisher's status was current at %s.", c.Issued)
		}
		for _, one := range c.NotChecked {
			t.line("not checked: %s", text(one))
		}
	}
	l := looks["pass"]
	if !c.Verified {
		l = looks["fail"]
	}
	t.verdictLine(l, fmt.Sprintf("%s: %s, proved by %s", solid(c.Directory), pack.Counted(c.Events, "event"), pack.Counted(c.Statements, "signed statement")))
}

// exportedWords says how far nothing of a pack is missing.
func exportedWords(p model.ExportedPack) string {
	records := pack.Counted(p.Records, "record") + " of its history"
	switch {
	case p.CompleteTo == 0:
		return records + "; it is not proved that nothing was left out"
	case p.Stamped:
		return fmt.Sprintf("%s; nothing is missing up to record %d, the newest when the status was timestamped", records, p.CompleteTo)
	}
	return fmt.Sprintf("%s; nothing is missing up to record %d, the newest according to a status without a timestamp", records, p.CompleteTo)
}

func exportWords(e *model.AuditExport) string {
	return fmt.Sprintf("%s in %s", pack.Counted(e.Events, "event"), pack.Counted(e.Files, "file"))
}

package render

import (
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// WriteLog writes a log: "json" is the form of the schema "version-log", all else a
// table for a terminal of the style's width. The error is that of the writer.
func WriteLog(w io.Writer, format string, l *model.VersionLog, s Style) error {
	if format == "json" {
		shown := *l
		shown.Versions = append([]model.LogEntry{}, l.Versions...) // a list, also where it is empty
		return model.WriteJSON(w, struct {
			Format int `json:"version"`
			*model.VersionLog
		}{model.Version, &shown})
	}
	t := &terminal{style: s}
	t.log(l)
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) log(l *model.VersionLog) {
	t.line("%s  %s", t.paint("bold", text(l.Pack)), t.paint("dim", solid(l.Repository)))
	signer := onlySigner(l.Versions)
	if signer != "" {
		t.line("signed by %s", solid(signer))
	}
	t.line("")
	if len(l.Versions) == 0 {
		t.line("  no versions")
	} else {
		t.table(l, signer != "")
	}
	t.unlooked("  ", l.NotChecked)
}

// table writes a row for each version, and below it what does not go into a row.
func (t *terminal) table(l *model.VersionLog, oneSigner bool) {
	rows := [][]string{{"version", "class", "signed", "digest", "state", "pinned in"}}
	for _, e := range l.Versions {
		rows = append(rows, logCells(&e))
	}
	widths := t.columns(rows)
	t.row(rows[0], widths, "dim", look{mark: " "})
	for i, e := range l.Versions {
		l := lookOf(e.State)
		if e.Conflict {
			l = looks["error"]
		}
		t.row(rows[i+1], widths, l.color, l)
		if e.Reason != "" {
			t.line("      %s", text(e.Reason))
		}
		if e.Conflict {
			t.line("      %s", t.paint("red", "two digests of this version are signed; one of them has to be revoked"))
		}
		for _, problem := range e.Problems {
			t.line("      %s", t.paint("red", text(problem)))
		}
		if !oneSigner && e.Signer != "" {
			t.line("      signed by %s", solid(e.Signer))
		}
	}
}

// stateColumn is the column that has the colour of its row.
const stateColumn = 4

// cells returns the columns of a version.
func logCells(e *model.LogEntry) []string {
	day, _, _ := strings.Cut(e.Signed, "T")
	return []string{e.Version, e.Class, day, shortHash(e.Digest), lookOf(e.State).word, strings.Join(e.Pins, ", ")}
}

// columns returns how wide each column is, nil where the table does not fit and its
// rows are broken at blanks instead. The last column ends a row and has any width.
func (t *terminal) columns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	sum, last := 4, 0
	for _, r := range rows {
		for i := range len(r) - 1 {
			widths[i] = max(widths[i], columnsOf(text(r[i])))
		}
		last = max(last, columnsOf(text(r[len(r)-1])))
	}
	for _, w := range widths {
		sum += w + 2
	}
	const widest = 150 // of a row, where nobody knows the width of the terminal
	if limit := t.style.Width; limit > 0 && sum+last > limit || sum > widest {
		return nil
	}
	return widths
}

// row writes one row; without widths, its cells stand one after the other.
func (t *terminal) row(cells []string, widths []int, color string, l look) {
	var shown []string
	for i, c := range cells {
		if i < len(cells)-1 {
			c = solid(c)
		} else {
			c = text(c) // a list, which may go on below
		}
		if c == "" && widths == nil {
			continue
		}
		pad := ""
		if widths != nil && i < len(cells)-1 {
			pad = strings.Repeat(" ", max(0, widths[i]-columnsOf(strings.ReplaceAll(c, joint, " "))))
		}
		if i == stateColumn || l.word == "" {
			c = t.paint(color, c)
		}
		shown = append(shown, c+pad)
	}
	if widths == nil && l.word == "" {
		return // the head of a table that is none
	}
	t.line("%s", strings.TrimRight("  "+t.paint(color, l.mark)+" "+strings.Join(shown, "  "), " "))
}

// onlySigner returns who signed all versions that are signed, "" where that is not one.
func onlySigner(entries []model.LogEntry) string {
	var signers []string
	for _, e := range entries {
		if e.Signer != "" {
			signers = append(signers, e.Signer)
		}
	}
	slices.Sort(signers)
	if signers = slices.Compact(signers); len(signers) != 1 {
		return ""
	}
	return signers[0]
}

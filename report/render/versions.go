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
		t.table(logTable(l, signer != ""), "  ")
	}
	t.unlooked("  ", l.NotChecked)
}

// logTable has a row for each version, and below it what does not go into a row.
func logTable(l *model.VersionLog, oneSigner bool) *table {
	columns := append(titles("version", "class", "signed", "digest", "state", "pinned in"), column{below: true})
	return &table{noun: "version", n: len(l.Versions), columns: columns, aligned: 5, row: func(i int) row {
		e := &l.Versions[i]
		day, _, _ := strings.Cut(e.Signed, "T")
		shown := lookOf(e.State)
		notes := plain(e.Reason)
		note := func(words ...sentence) { notes = notes.line().add(words...) }
		if e.Conflict {
			shown.mark, shown.color = looks["error"].mark, looks["error"].color
			note(plain("two digests of this version are signed; one of them has to be revoked"))
		}
		for _, problem := range e.Problems {
			note(plain(problem))
		}
		if !oneSigner && e.Signer != "" {
			note(plain("signed by "), code(e.Signer))
		}
		return row{cells: []sentence{
			code(e.Version), plain(e.Class), plain(day), code(shortHash(e.Digest)), state(shown, shown.word), plain(strings.Join(e.Pins, ", ")), notes,
		}}
	}}
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

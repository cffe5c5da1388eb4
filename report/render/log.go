package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteLog writes a log: "json" is the form of the schema "version-log", anything else a
// table for a terminal of the style's width. The error is that of the writer.
func WriteLog(w io.Writer, format string, l *model.VersionLog, s Style) error {
	shown := *l
	shown.Versions = notNull(l.Versions)
	return s.write(w, format, &shown, func(t *terminal) { t.log(&shown) })
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
	t.history(l.History)
	t.unlooked("  ", l.NotChecked)
}

// logTable has a row for each version, and below it what does not go into a row.
func logTable(l *model.VersionLog, oneSigner bool) *table {
	columns := append(titles("version", "class", "signed", "digest", "state", "checks", "pinned in"), column{below: true})
	return &table{noun: "version", n: len(l.Versions), columns: columns, aligned: 6, row: func(i int) row {
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
		ran := ""
		switch {
		case e.Complete:
			ran = "all ran"
		case e.Class != "" && len(e.Checks) == 0:
			ran = "not known"
		case e.Class != "":
			ran = "not all ran"
			note(plain("checks: " + checkWords(e.Class, e.Checks)))
		}
		if e.Notes != nil && e.Class != "initial" {
			note(plain(e.Notes.Effect))
		}
		if !oneSigner && e.Signer != "" {
			note(plain("signed by "), code(e.Signer))
		}
		return row{cells: []sentence{
			code(e.Version), plain(e.Class), plain(day), code(shortHash(e.Digest)), state(shown, shown.word), plain(ran), plain(strings.Join(e.Pins, ", ")), notes,
		}}
	}}
}

// onlySigner returns who signed all versions that are signed, "" where that is not one.
func onlySigner(entries []model.LogEntry) string {
	signers := filled(each(entries, func(e model.LogEntry) string { return e.Signer })...)
	slices.Sort(signers)
	if signers = slices.Compact(signers); len(signers) != 1 {
		return ""
	}
	return signers[0]
}

// history writes what was done with a pack, below its versions.
func (t *terminal) history(h *model.History) {
	if h == nil || len(h.Deeds)+len(h.Problems) == 0 {
		return
	}
	t.line("")
	if h.Records > 0 {
		t.line("  history (%s)", pack.Counted(h.Records, "record"))
	} else {
		t.line("  history (no records: in order of time)")
	}
	t.table(historyTable(h), "  ")
	for _, problem := range h.Problems {
		t.line("  %s %s", t.paint("red", "✗"), text(problem))
	}
}

// historyTable has a row for each statement: when, what and in which environment, and below it
// by whom and why.
func historyTable(h *model.History) *table {
	return &table{noun: "event", n: len(h.Deeds), columns: append(titles("record", "when", "what"), column{below: true}), aligned: 3, row: func(i int) row {
		d := &h.Deeds[i]
		record := "–"
		if d.Record > 0 {
			record = fmt.Sprint(d.Record)
		}
		return row{cells: []sentence{plain(record), plain(whenOf(d.Time)), deed(d), message(ordered(d))}}
	}}
}

func whenOf(stamp string) string {
	return strings.TrimSuffix(strings.Replace(stamp, "T", " ", 1), "Z")
}

// deed says what was done.
func deed(d *model.Deed) sentence {
	_, version, _ := strings.Cut(d.Name, "@")
	s := plain(strings.TrimSuffix(d.What, "-published"))
	if s = s.plain(" ").add(code(version)); d.Environment != "" && (d.What == "pinned" || d.What == "stopped") {
		s = s.plain(" in ").add(code(d.Environment))
	}
	return s
}

// ordered says by whom something was done, and why.
func ordered(d *model.Deed) string {
	approved := each(d.Approvals, func(a model.Approval) string { return fmt.Sprintf("approved by %s (%s)", a.Login, a.Role) })
	who := strings.Join(filled(slices.Concat([]string{d.Who}, approved, []string{d.PullRequest})...), ", ")
	said := strings.TrimPrefix(strings.TrimSuffix(who+": "+d.Why, ": "), ": ")
	if d.Void {
		said = strings.TrimSuffix("does not count, because another statement moved the environment shortly before; "+said, "; ")
	}
	return said
}

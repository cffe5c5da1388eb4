package render

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// history writes what was done with a pack, below its versions.
func (t *terminal) history(h *model.History) {
	if h == nil || len(h.Deeds)+len(h.Problems) == 0 {
		return
	}
	t.line("")
	if h.Records > 0 {
		t.line("  history (%s)", pack.Counted(h.Records, "record"))
	} else {
		t.line("  history (no records: in the order of time)")
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
	words := filled(d.Who)
	for _, a := range d.Approvals {
		words = append(words, fmt.Sprintf("approved by %s (%s)", a.Login, a.Role))
	}
	who := strings.Join(filled(append(words, d.PullRequest)...), ", ")
	said := strings.TrimPrefix(strings.TrimSuffix(who+": "+d.Why, ": "), ": ")
	if d.Void {
		said = strings.TrimSuffix("does not count, because another statement moved the environment a little earlier; "+said, "; ")
	}
	return said
}

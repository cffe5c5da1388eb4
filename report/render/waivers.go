package render

import (
	"cmp"
	"fmt"
	"io"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteWaivers writes the waivers of a config: "json" is the form of the schema "waivers",
// anything else the form for a terminal. The error is that of the writer.
func WriteWaivers(w io.Writer, format string, all *model.Waivers, s Style) error {
	shown := *all
	shown.Waivers, shown.NotChecked = notNull(all.Waivers), notNull(all.NotChecked)
	for i := range shown.Waivers {
		shown.Waivers[i].Packs = notNull(shown.Waivers[i].Packs)
	}
	return s.write(w, format, &shown, func(t *terminal) { t.waivers(&shown) })
}

func (t *terminal) waivers(all *model.Waivers) {
	t.list(listOf(list{noun: "waiver"}, all.Waivers, func(w *model.WaiverUse) item { return waiverItem(w, all) }), "")
	words := pack.Counted(len(all.Waivers), "waiver")
	wrong := number(all.Waivers, func(w model.WaiverUse) bool { return waiverState(&w) != "pass" })
	if wrong > 0 {
		words += fmt.Sprintf(", %d to look at", wrong)
	}
	t.summed(all.NotChecked, wrong, words)
}

// waiverState says how a waiver stands: it is an error where packgate check reports one.
func waiverState(w *model.WaiverUse) string {
	switch {
	case w.State == model.WaiverExpired, w.State == model.WaiverUnused:
		return "error"
	case w.Long, w.EndsSoon, w.State == model.WaiverNotChecked:
		return "warning"
	}
	return "pass"
}

func waiverItem(w *model.WaiverUse, all *model.Waivers) item {
	it := item{state: markOf(waiverState(w)), at: spot{file: all.Config, line: w.Line}, head: strong(w.Rule), text: plain(w.Name + " for ").add(value(w.Pack))}
	for _, at := range []string{w.Path, w.Of} {
		if at != "" {
			it.text = it.text.plain(" ").add(value(at))
		}
	}
	it.said("use", plain(useWords(w)))
	it.said("until", plain(untilWords(w, all.MaxDays)))
	if age := ageWords(w); age != "" {
		it.said("age", plain(age))
	}
	it.said("owner", plain(w.Owner+": "+w.Reason))
	return it
}

func useWords(w *model.WaiverUse) string {
	packs := pack.Counted(len(w.Packs), "pack")
	switch w.State {
	case model.WaiverUsed:
		return fmt.Sprintf("excuses %s of %s", pack.Counted(w.Findings, "finding"), packs)
	case model.WaiverUnused:
		return "excuses nothing: remove it, or correct it"
	case model.WaiverExpired:
		return "excuses nothing any more: fix what it excused and remove it"
	}
	return fmt.Sprintf("not known: its rule did not run on all of %s", packs)
}

func untilWords(w *model.WaiverUse, most int) string {
	words := fmt.Sprintf("%s, %s left", w.Expires, pack.Counted(w.DaysLeft, "day"))
	switch {
	case w.DaysLeft <= 0:
		return w.Expires + ", which has passed"
	case w.Long:
		return fmt.Sprintf("%s; a waiver ends within %d days", words, most)
	case w.EndsSoon:
		return words + ": fix what it excuses, or renew it before it ends"
	}
	return words
}

func ageWords(w *model.WaiverUse) string {
	if w.AgeDays == nil {
		return ""
	}
	words := pack.Counted(*w.AgeDays, "day") + ", since " + w.Since
	if w.AtLeast {
		words = "at least " + words + ", where the history of this clone begins"
	}
	if w.Renewals > 0 {
		words += ", renewed " + cmp.Or(map[int]string{1: "once", 2: "twice"}[w.Renewals], fmt.Sprintf("%d times", w.Renewals))
	}
	return words
}

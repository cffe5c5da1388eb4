package render

import (
	"fmt"
	"io"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The parts of a summary, in bytes of compact JSON: packs as they are, and what is said of the run.
// What they leave of model.MaxSummary is for rows.
const (
	maxSummaryPacks = 640 << 10
	maxSummaryPack  = 192 << 10
	maxSummaryRun   = 128 << 10
	maxSummaryRow   = 4 << 10
	maxRunText      = 2000 // characters of an error or a notice, where not all have room
)

// Summary returns the part of a report that a comment is made of: of bounded size, whatever the
// report has. It is the report itself where that is small. Otherwise it has the packs that need
// attention most, without what only the full report shows, of others a row, and of others still
// their number. What it leaves out is counted.
func Summary(r *model.Report) *model.Report {
	if r.Partial != nil || fitsWhole(r) {
		return r
	}
	b := &builder{report: r}
	rows := ranked(b.rows(r.Packs), (*packRow).urgency)
	room := maxSummaryPacks
	var kept []*model.Pack
	for len(rows) > 0 {
		one, size := portion(r.Packs.At(rows[0].at), room)
		if one == nil {
			break
		}
		room, kept, rows = room-size, append(kept, one), rows[1:]
	}
	room = model.MaxSummary - maxSummaryPacks - maxSummaryRun
	p := &model.Partial{Rows: []model.Row{}}
	for _, one := range rows {
		if size := sizeOf(one.Row); size <= min(room, maxSummaryRow) {
			room -= size
			p.Rows = append(p.Rows, one.Row)
			continue
		}
		p.LeftOut.Add(one.Row)
		if one.is == waits {
			p.LeftOut.Waiting++
		}
		if one.grows() {
			p.LeftOut.Larger++
		}
	}
	return shortRun(r).Summarised(kept, p)
}

// WriteSummary writes the summary of a report as JSON in one line. The error says too where what is
// said of the run alone has no room.
func WriteSummary(w io.Writer, r *model.Report) error {
	src, err := model.Compact(Summary(r))
	if err != nil {
		return err
	}
	if len(src) > model.MaxSummary {
		return fmt.Errorf("the summary of the report has %d bytes, and may have %d", len(src), model.MaxSummary)
	}
	_, err = w.Write(src)
	return err
}

// fitsWhole reports whether all of a report fits into a summary.
func fitsWhole(r *model.Report) bool {
	room := maxSummaryPacks
	for _, p := range r.Packs.All() {
		if room -= sizeOf(p); room < 0 {
			return false
		}
	}
	return runSize(r) <= maxSummaryRun
}

// runSize is how much is said of a run beside its packs.
func runSize(r *model.Report) int {
	frame := *r
	frame.Packs = model.Packs{}
	return sizeOf(frame)
}

// sizeOf returns how many bytes a value has in a summary. One that JSON does not have is too large.
func sizeOf(v any) int {
	src, err := model.Compact(v)
	if err != nil {
		return 1 << 30
	}
	return len(src)
}

// portion returns as much of a pack as has room, and its size; nil where not even the least has.
func portion(p *model.Pack, room int) (*model.Pack, int) {
	lean := p.Lean()
	room = min(room, maxSummaryPack)
	if size := sizeOf(lean); size <= room {
		return lean, size
	}
	for _, n := range []int{300, 100, 30, 10} {
		short := lean.Shortened(n)
		if size := sizeOf(short); size <= room {
			return short, size
		}
	}
	return nil, 0
}

// shortRun returns the report with as much of its errors and notices, and of what was published, as
// has room, and says how many are left out.
func shortRun(r *model.Report) *model.Report {
	out := *r
	if runSize(r) <= maxSummaryRun {
		return &out
	}
	out.Notices, out.Errors = []string{}, []model.Problem{}
	for _, e := range r.Errors {
		e.Message, e.Hint, e.File = pack.Clip(e.Message, maxRunText), pack.Clip(e.Hint, maxRunText), pack.Clip(e.File, maxRunText)
		out.Errors = append(out.Errors, e)
	}
	for _, n := range r.Notices {
		out.Notices = append(out.Notices, pack.Clip(n, maxRunText))
	}
	var left [4]int
	out.Errors, left[0] = first(out.Errors, maxSummaryRun/4)
	out.Notices, left[1] = first(out.Notices, maxSummaryRun/4)
	out.Published, left[2] = first(r.Published, maxSummaryRun/4)
	out.Loosened, left[3] = first(each(r.Loosened, func(s string) string { return pack.Clip(s, maxRunText) }), maxSummaryRun/8)
	for i, noun := range []string{"error", "notice", "version", "weaker rule"} {
		if left[i] > 0 {
			out.Notices = append(out.Notices, "in the full report of the run: "+more(left[i], noun))
		}
	}
	return &out
}

// first returns the first elements of a list that have room, and how many are left out.
func first[T any](list []T, room int) ([]T, int) {
	for i := range list {
		if room -= sizeOf(list[i]); room < 0 {
			return list[:i], len(list) - i
		}
	}
	return list, 0
}

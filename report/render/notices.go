package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteNotices writes what packgate notify did: "json" is the form of the schema "notices", anything
// else the form for a terminal. The error is that of the writer.
func WriteNotices(w io.Writer, format string, n *model.Notices, s Style) error {
	shown := *n
	shown.Notices, shown.NotChecked = notNull(n.Notices), notNull(n.NotChecked)
	return s.write(w, format, &shown, func(t *terminal) { t.notices(&shown) })
}

func (t *terminal) notices(n *model.Notices) {
	t.list(listOf(list{noun: "notice"}, n.Notices, noticeItem), "")
	standing := number(n.Notices, func(one model.Notice) bool { return one.State == "standing" })
	told := pack.Counted(standing, "notice")
	if n.DryRun {
		told += ", none of which was sent: this is a dry run"
	}
	t.summed(n.NotChecked, standing, told)
}

func noticeItem(n *model.Notice) item {
	shown := markOf("warning")
	if n.State != "standing" {
		shown = markOf("pass")
	}
	it := item{state: shown, head: strong(n.Kind), text: plain(cmp.Or(n.Title, n.Key))}
	if n.Issue != "" {
		it.said("issue", plain(strings.TrimSpace(n.Issue+" "+n.URL)))
	}
	if n.Event != "" {
		it.said("event", plain(n.Event+" ").add(value(n.ID)))
	}
	return it
}

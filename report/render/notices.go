package render

import (
	"io"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteNotices writes what packgate notify did: "json" is the form of the schema "notices", all else
// the terminal's. The error is that of the writer.
func WriteNotices(w io.Writer, format string, n *model.Notices, s Style) error {
	if format == "json" {
		shown := *n
		shown.Notices = append([]model.Notice{}, n.Notices...) // lists, also where they are empty
		shown.NotChecked = append([]model.AuditNotChecked{}, n.NotChecked...)
		return model.WriteJSON(w, versioned{&shown})
	}
	return writeTerminal(w, s, func(t *terminal) { t.notices(n) })
}

func (t *terminal) notices(n *model.Notices) {
	t.list(listOf(list{noun: "notice", open: 50}, n.Notices, noticeItem), "")
	for _, one := range n.NotChecked {
		what := strings.TrimSpace(versionOf(one.Pack, one.Version) + " " + one.Check)
		if what != "" {
			what += ": "
		}
		t.unlooked("", []string{what + one.Reason})
	}
	standing := number(n.Notices, func(one model.Notice) bool { return one.State == "standing" })
	shown, told := looks["pass"], pack.Counted(standing, "notice")
	if standing > 0 {
		shown = looks["warning"]
	}
	if n.DryRun {
		told += ", none of which was sent: this is a dry run"
	}
	t.line("%s %s", t.paint(shown.color, shown.mark), told)
}

func noticeItem(n *model.Notice) item {
	shown := looks["warning"]
	if n.State != "standing" {
		shown = looks["pass"]
	}
	shown.word = ""
	title := n.Title
	if title == "" {
		title = n.Key
	}
	it := item{state: shown, head: strong(n.Kind), text: plain(title)}
	if n.Issue != "" {
		it.said("issue", plain(strings.TrimSpace(n.Issue+" "+n.URL)))
	}
	if n.Event != "" {
		it.said("event", plain(n.Event+" ").add(value(n.ID)))
	}
	return it
}

package render

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// A report that is longer than GitHub takes is said again with less, instead of
// being cut, which takes a whole table or folded part along. Each rung of the
// ladder leaves out more, and names it.

// rung is how much of a report is said.
type rung int

const (
	whole     rung = iota
	unfolded       // without what is folded
	essential      // verdict, gates and errors
	headline       // the verdict alone
)

// MaxComment bounds a comment, in UTF-16 code units. GitHub takes 65,536
// characters, and the smaller number leaves room for how it counts them.
const MaxComment = 65000

// CommentOptions say what stands around the report in a comment.
type CommentOptions struct {
	// Marker is written at the start of the comment, none where its key is "".
	Marker Marker
	// RunURL leads to the workflow run and ArtifactURL to the HTML report, where they are URLs.
	RunURL, ArtifactURL string
	// Limit bounds the comment in UTF-16 code units; MaxComment by default.
	Limit int
}

// Comment returns the report as a pull request comment on the first rung that fits the
// limit. Whatever the report holds, every element that the comment opens is closed.
func Comment(r *model.Report, o CommentOptions) string {
	l := ladder{report: r, limit: cmp.Or(o.Limit, MaxComment), measure: units}
	if o.Marker.Key != "" {
		l.start = o.Marker.String() + "\n"
	}
	l.links = o.links()
	if again := reproduce(r); again != "" {
		l.links = append(l.links, again)
	}
	return l.climb()
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func (o CommentOptions) links() []string {
	var links []string
	for _, l := range []struct{ word, target string }{{"run", o.RunURL}, {"full report", o.ArtifactURL}} {
		if model.WebURL(l.target) {
			links = append(links, fmt.Sprintf("[%s](<%s>)", l.word, l.target))
		}
	}
	return links
}

// plainPath matches names that a shell takes as they are.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// reproduce returns the command that says the same at a terminal, "" where none can be copied.
func reproduce(r *model.Report) string {
	if r.Packs.Len() != 1 || !plainPath.MatchString(r.Packs.Brief(0).Path) || len(r.Packs.Brief(0).Path) > 200 {
		return ""
	}
	command := "packgate check " + r.Packs.Brief(0).Path
	if b := r.Base; b != nil && plainPath.MatchString(b.SHA) {
		command += " --base " + short(b.SHA)
	}
	return "reproduce: " + Code(command)
}

// ladder writes a report as Markdown within a limit.
type ladder struct {
	report  *model.Report
	start   string   // what the text begins with
	links   []string // Markdown for the footer
	limit   int
	measure func(string) int
}

// climb returns the report on the first rung that fits.
func (l *ladder) climb() string {
	packs := l.report.Packs.Urgent()
	for r := whole; r <= headline; r++ {
		if text, ok := l.write(r, packs); ok {
			return text
		}
	}
	return l.start + "### packgate: " + verdictWord(l.report.Result) + "\n" // no text of a pack
}

// write writes one rung, ok where it fits. The last two rungs count packs for
// which there is no room, as long as there is room for the first.
func (l *ladder) write(r rung, packs model.Packs) (text string, ok bool) {
	head, tail := newMarkdown(l.report, r), newMarkdown(l.report, r)
	tail.links = l.links
	head.run(packs)
	head.leave()
	if l.report.Result != model.Broken && !publicationsLead(l.report) {
		tail.published()
	}
	tail.listed(tail.builder.notices(), "")
	tail.leave()
	tail.ending()
	const sentence = 100 // on the packs that are left out
	room := l.limit - l.measure(l.start) - l.measure(head.out.String()) - l.measure(tail.out.String()) - sentence
	var body strings.Builder
	left := 0
	for i, p := range packs.All() {
		one := newMarkdown(l.report, r)
		one.pack(p)
		size := l.measure(one.out.String())
		switch {
		case size <= room:
			body.WriteString(one.out.String())
			room -= size
		case r < essential || r == essential && i == 0:
			return "", false
		default:
			left++
		}
	}
	if left > 0 {
		body.WriteString(leftOut(left, "pack") + "\n\n")
	}
	return l.start + head.out.String() + body.String() + tail.out.String(), room >= 0
}

// bytesOf measures a job summary, which GitHub bounds in bytes.
func bytesOf(s string) int { return len(s) }

// MarkdownReport writes the report as GitHub Flavored Markdown. Everything that
// comes from a pack is escaped, so that it can mention nobody and break nothing.
// The report stays below the 1 MiB of a job summary, by leaving out what Comment
// would; what is left out stands in the JSON report. Packs that fail come first.
func MarkdownReport(w io.Writer, r *model.Report) error {
	l := ladder{report: r, limit: maxMarkdown, measure: bytesOf}
	_, err := io.WriteString(w, l.climb())
	return err
}

func (m *markdown) pack(p *model.Pack) {
	level := "###"
	if m.report.Packs.Len() > 1 || m.report.Result == model.Broken || len(m.report.Published) > 0 {
		level = "####"
	}
	m.paragraph("%s %s %s", level, looks[string(p.Result)].emoji, titleOf(p, Markdown))
	if todo := m.say(todoWords(todoOf(p))); todo != "" && m.rung < headline {
		m.paragraph("**Do this:** %s", todo)
	}
	if len(p.Gates) > 0 && m.rung < headline {
		m.paragraph("%s<br>%s", counts(p), gateRow(p.Gates))
	} else if m.rung == headline {
		m.paragraph("%s", counts(p))
	}
	switch {
	case m.rung <= unfolded:
		for _, s := range m.builder.pack(p) {
			m.section(&s)
		}
	case m.rung == essential:
		m.errors(p)
	}
	m.leave()
}

// maxEssential is how many errors of a pack are said where there is little room.
const maxEssential = 10

// errors lists the errors of a pack, and counts what is dangerous.
func (m *markdown) errors(p *model.Pack) {
	errors := p.BySeverity("error")
	for i := range errors[:min(maxEssential, len(errors))] {
		it := m.builder.finding(&errors[i])
		m.line("%s", m.item(&it))
	}
	if len(errors) > 0 {
		m.line("")
	}
	if left := len(errors) - maxEssential; left > 0 {
		m.paragraph("%s", leftOut(left, "error"))
	}
	if d := p.Diff; d != nil && len(d.Loosened)+len(callouts(d.Surface)) > 0 {
		m.paragraph("⚠️ %s · %s", pack.Counted(len(d.Loosened), "loosened guardrail"), pack.Counted(len(callouts(d.Surface)), "tool")+" newly reachable with no gate")
	}
}

// leave names what was left out since it was last called.
func (m *markdown) leave() {
	if len(m.left) > 0 {
		// Not a paragraph of Markdown: the summaries are escaped for HTML.
		m.paragraph("<p>Left out here: %s</p>", strings.Join(m.left, " · "))
	}
	m.left = nil
}

func (m *markdown) ending() {
	switch {
	case m.rung == whole:
	case len(m.links) > 0:
		m.paragraph("This report is shortened to what GitHub takes; the whole one is linked below.")
	default:
		m.paragraph("This report is shortened to what GitHub takes; the JSON report is whole.")
	}
	m.footer()
}

// Marker is what packgate writes, as an HTML comment, at the start of its comments, to find
// them again. Whoever looks for one has to look at the author too: anybody can write it.
type Marker struct {
	Key     string // tells apart the comments of several workflows or configs
	Head    string // SHA of the commit that the comment is about
	Run     int64  // number of the workflow run, which grows
	Attempt int    // of the run, from 1
}

// MarkerPrefix is what every marker begins with.
const MarkerPrefix = "<!-- packgate:comment v1 "

// String returns the marker in one line, whose HTML comment no key ends before its end.
func (m Marker) String() string {
	return fmt.Sprintf("%skey=%s head=%s run=%d attempt=%d -->", MarkerPrefix, url.QueryEscape(m.Key), url.QueryEscape(m.Head), m.Run, m.Attempt)
}

var markerLine = regexp.MustCompile(`^` + MarkerPrefix + `key=(\S*) head=(\S*) run=([0-9]+) attempt=([0-9]+) -->(?:\r?\n|$)`)

// ParseMarker reads the marker at the very start of a comment; ok is false for none.
func ParseMarker(body string) (m Marker, ok bool) {
	found := markerLine.FindStringSubmatch(body)
	if found == nil {
		return Marker{}, false
	}
	var errs [4]error
	m.Key, errs[0] = url.QueryUnescape(found[1])
	m.Head, errs[1] = url.QueryUnescape(found[2])
	m.Run, errs[2] = strconv.ParseInt(found[3], 10, 64)
	m.Attempt, errs[3] = strconv.Atoi(found[4])
	if errs != [4]error{} {
		return Marker{}, false
	}
	return m, true
}

package render

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/contextosai/packgate/report/model"
)

// MaxComment bounds a comment, in UTF-16 code units. GitHub takes 65,536
// characters, and the smaller number leaves room for how it counts them.
const MaxComment = 65000

// CommentOptions say what is around the report in a comment.
type CommentOptions struct {
	// Marker is written at the start of the comment, unless its key is "".
	Marker Marker
	// RunURL links to the workflow run and ArtifactURL to the HTML report. What is not a URL is left out.
	RunURL, ArtifactURL string
	// Limit bounds the comment in UTF-16 code units; MaxComment by default.
	Limit int
}

// Comment returns the report as a pull request comment within the limit. Every element that the
// comment opens is closed, whatever the report contains.
func Comment(r *model.Report, o CommentOptions) string {
	start := ""
	if o.Marker.Key != "" {
		start = o.Marker.String() + "\n"
	}
	links := o.links()
	if again := reproduce(r); again != "" {
		links = append(links, again)
	}
	return start + within(r, links, cmp.Or(o.Limit, MaxComment)-units(start), units)
}

// within returns the report as Markdown within a limit.
func within(r *model.Report, links []string, limit int, measure func(string) int) string {
	m := newMarkdown(r)
	m.links = links
	m.write()
	if text := fit(m.parts, limit, measure); measure(text) <= limit && strings.HasPrefix(text, "#") {
		return text
	}
	return "### packgate: " + string(r.Result) + "\n" // no text of a pack
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
var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`) })

// reproduce returns the command that prints the same at a terminal, "" if it cannot be copied safely.
func reproduce(r *model.Report) string {
	p := r.Only()
	if p == nil || !plainPath().MatchString(p.Path) || len(p.Path) > 200 {
		return ""
	}
	command := "packgate check " + p.Path
	if b := r.Base; b != nil && plainPath().MatchString(b.SHA) {
		command += " --base " + short(b.SHA)
	}
	return "reproduce: " + Code(command)
}

// bytesOf measures a job summary, which GitHub bounds in bytes.
func bytesOf(s string) int { return len(s) }

// MarkdownReport writes the report as GitHub Flavored Markdown. Everything that
// comes from a pack is escaped, so that it can mention nobody and break nothing.
// The report stays below the 1 MiB of a job summary; what is left out is in the
// JSON report. Packs that cannot be merged come first.
func MarkdownReport(w io.Writer, r *model.Report) error {
	_, err := io.WriteString(w, within(r, nil, maxMarkdown, bytesOf))
	return err
}

// Marker is an HTML comment that packgate writes at the start of its comments to find them
// again. Code that looks for a marker has to check the author too, since anyone can write one.
type Marker struct {
	Key     string // tells apart the comments of several workflows or configs
	Head    string // SHA of the commit that the comment is about
	Run     int64  // number of the workflow run, which grows
	Attempt int    // of the run, from 1
}

// MarkerPrefix is what every marker begins with.
const MarkerPrefix = "<!-- packgate:comment v1 "

// String returns the marker in one line. No key can end its HTML comment early.
func (m Marker) String() string {
	return fmt.Sprintf("%skey=%s head=%s run=%d attempt=%d -->", MarkerPrefix, url.QueryEscape(m.Key), url.QueryEscape(m.Head), m.Run, m.Attempt)
}

var markerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + MarkerPrefix + `key=(\S*) head=(\S*) run=([0-9]+) attempt=([0-9]+) -->(?:\r?\n|$)`)
})

// ParseMarker reads the marker at the very start of a comment; ok is false if there is none.
func ParseMarker(body string) (m Marker, ok bool) {
	found := markerLine().FindStringSubmatch(body)
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

package render

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strconv"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Bounds on what the page shows of one text and of one list. The JSON report holds
// everything whole.
const (
	maxHTMLText  = 2000    // characters
	maxHTMLRows  = 10_000  // of one list
	maxHTMLBytes = 4 << 20 // of the texts of one list
)

// htmlView turns a report into what the templates show. Strings in what it returns
// are visible text of bounded length; the templates escape them.
type htmlView struct {
	report *model.Report
	size   int // bytes of text so far
	// program runs the playgrounds, nil for none; playgrounds counts them.
	program     *htmlProgram
	playgrounds int
}

// text returns a text of a pack as the page may show it.
func (v *htmlView) text(s string) string {
	s = Visible(shorten(s, maxHTMLText))
	v.size += len(s)
	return s
}

// piece is a stretch of text of one kind.
type piece struct {
	Text  string
	Plain bool   // as it stands
	Code  bool   // a value of a pack, or a name in it
	Break bool   // a new line before what follows
	Href  string // where it leads
	Tone  string // of a badge
}

// sentence is built of pieces.
type sentence struct{ pieces []piece }

func say() *sentence { return &sentence{} }

func (s *sentence) plain(text string) *sentence {
	if text != "" {
		s.pieces = append(s.pieces, piece{Text: text, Plain: true})
	}
	return s
}

func (s *sentence) code(text string) *sentence {
	s.pieces = append(s.pieces, piece{Text: text, Code: true})
	return s
}

func (s *sentence) badge(tone, text string) *sentence {
	s.pieces = append(s.pieces, piece{Text: text, Tone: tone})
	return s
}

// link leads somewhere; where that is not known, it is the text alone.
func (s *sentence) link(href, text string) *sentence {
	if href == "" {
		return s.plain(text)
	}
	s.pieces = append(s.pieces, piece{Text: text, Href: href})
	return s
}

func (s *sentence) add(pieces []piece) *sentence {
	s.pieces = append(s.pieces, pieces...)
	return s
}

// line begins a new line, except at the beginning.
func (s *sentence) line() *sentence {
	if len(s.pieces) > 0 {
		s.pieces = append(s.pieces, piece{Break: true})
	}
	return s
}

// message returns a message of which the quoted values and digests stand out.
func (v *htmlView) message(s string) []piece {
	s = shorten(s, maxHTMLText)
	out := say()
	last := 0
	for _, at := range quoted().FindAllStringIndex(s, -1) {
		out.plain(v.text(s[last:at[0]]))
		value, err := strconv.Unquote(s[at[0]:at[1]])
		if err != nil {
			value = s[at[0]:at[1]]
		}
		out.code(v.text(value))
		last = at[1]
	}
	return out.plain(v.text(s[last:])).pieces
}

// request shows a request, nothing for none.
func (v *htmlView) request(request map[string]any) []piece {
	if request == nil {
		return nil
	}
	return say().code(v.text(pack.CompactJSON(request))).pieces
}

// href leads to a line of a file in a commit. It is "" where the files of the
// commit cannot be read on the web.
func (v *htmlView) href(at *model.Revision, file string, line int) string {
	if at == nil || file == "" {
		return ""
	}
	base, err := url.Parse(at.BlobURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return ""
	}
	target := base.String() + (&url.URL{Path: shorten(file, maxHTMLText)}).EscapedPath()
	if line > 0 {
		target += "#L" + strconv.Itoa(line)
	}
	v.size += len(target)
	return target
}

// place shows a place and leads to it.
func (v *htmlView) place(at *model.Revision, file string, line, column int) []piece {
	words := v.text(file)
	if line > 0 {
		words += ":" + strconv.Itoa(line)
		if column > 0 {
			words += ":" + strconv.Itoa(column)
		}
	}
	return say().link(v.href(at, file, line), words).pieces
}

// file shows the name of a file and leads to it.
func (v *htmlView) file(file string, line int) []piece {
	words := v.text(path.Base(file))
	if line > 0 {
		words += ":" + strconv.Itoa(line)
	}
	return say().link(v.href(v.report.Head, file, line), words).pieces
}

// related shows a related place, at the commit that it is of.
func (v *htmlView) related(r model.Related) []piece {
	at := v.report.Head
	if r.Revision != "" {
		at = nil
		if b := v.report.Base; b != nil && b.SHA == r.Revision {
			at = b
		}
	}
	return say().add(v.place(at, r.File, r.Line, r.Column)).plain(v.text(inRevision(r)) + " ").add(v.message(r.Message)).pieces
}

// todo says what to do next.
func (v *htmlView) todo(next *todo) []piece {
	if next == nil {
		return nil
	}
	at := v.file(next.file, next.line)
	if next.version == "" {
		return say().add(v.message(next.message)).plain(" (" + v.text(next.rule) + ", ").add(at).plain(")").pieces
	}
	words := say().plain("set ").code("pack_version").plain(" to " + v.text(next.version) + " (").add(at).plain("), or run ").code(v.text(next.bump))
	if next.others > 0 {
		words.plain(", and fix " + pack.Counted(next.others, "other error"))
	}
	return words.pieces
}

// tone returns how a state looks: good, warn, bad or quiet.
func tone(state string) string { return toneOf(looks[state]) }

func toneOf(l look) string {
	switch l.color {
	case "green":
		return "good"
	case "yellow":
		return "warn"
	case "red":
		return "bad"
	}
	return "quiet"
}

// classTone returns how the class of a change looks.
func classTone(class string) string {
	switch class {
	case "reject", "major":
		return "bad"
	case "minor":
		return "warn"
	case "patch":
		return "good"
	}
	return "quiet"
}

// stateOf returns what the filter goes by: waived, existing, new, or open where
// there was nothing to compare with.
func stateOf(f model.Finding) string {
	switch {
	case f.Waived != nil:
		return "waived"
	case f.State == model.Existed:
		return model.Existed
	case f.State != "":
		return "new"
	}
	return "open"
}

// htmlTable is a table whose cells are sentences.
type htmlTable struct {
	Head    []string
	Rows    []htmlRow
	Fold    string // what to call it where it is folded
	LeftOut string
}

type htmlRow struct {
	Tone  string // of a row that stands out
	Cells [][]piece
}

// fill adds a row for each of some items, as far as they fit.
func fill[T any](v *htmlView, t *htmlTable, noun string, items []T, row func(T) htmlRow) {
	kept, left := bounded(v, noun, items, row)
	t.Rows, t.LeftOut = append(t.Rows, kept...), cmp.Or(left, t.LeftOut)
}

// bounded turns items into what is shown of them, as far as they fit, and says how
// many are left out.
func bounded[T, S any](v *htmlView, noun string, items []T, show func(T) S) (shown []S, left string) {
	start := v.size
	for _, item := range items {
		if len(shown) >= maxHTMLRows || v.size-start > maxHTMLBytes {
			return shown, leftOut(len(items)-len(shown), noun)
		}
		shown = append(shown, show(item))
	}
	return shown, ""
}

// foldedOver returns the summary under which a table of more rows than that is
// folded.
func foldedOver(t *htmlTable, rows int) string {
	if len(t.Rows) <= rows {
		return ""
	}
	return fmt.Sprintf("Show all %d", len(t.Rows))
}

// Package render writes the model of a report for a terminal and as Markdown (pull request
// comment and job summary), HTML, SARIF, JUnit and OpenMetrics. All forms say the same.
// Everything that comes from a pack is escaped on its way out: see escape.go.
package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// What is shown of a pack is built once, as sections of a few kinds of nodes (section_*.go), and each
// form turns every kind into its own: page_terminal.go, page_markdown.go and page_html.go. Texts in
// a tree are as packs have them, whole: whoever writes them escapes and bounds them.

// section is a part of what is shown below the page of a reviewer, folded where a form can do
// that. A section without a title is left out.
type section struct {
	id    string // of its place in a page
	title string
	// words are what there is, in one line; "" for what the title says.
	words string
	nodes []node
	// open says that it is not folded where room is unlimited, minor that it shares a fold where
	// room is scarce.
	open, minor bool
	// plain says that a terminal shows it without a heading.
	plain bool
}

// of returns a section with a list or a table, which says nothing where there is nothing in it.
func (s section) of(n interface{ empty() bool }) section {
	if n.empty() {
		return section{}
	}
	s.nodes = []node{n}
	return s
}

// node is a sentence, a list, a table, a box, steps, a fold, a listing or a picture of a graph.
type node interface{}

// alert is a box with what has to be seen whatever else there is, in the tone of the verdict.
type alert struct {
	tone  look
	items []sentence
	below []sentence // paragraphs
}

// steps are what is to be done, in the order of doing.
type steps []sentence

// fold is what is seen only by those who ask for it.
type fold struct {
	words string
	nodes []node
}

// listing is text to copy, in a language.
type listing struct{ language, text string }

// known are things that are known of a version, each with its name, in columns where a form has them.
type known []fact

// shellCommand is a line for a shell that checks something, with what it needs.
type shellCommand struct{ name, line string }

// picture is the binding graph of a pack, which a page alone draws.
type picture struct{ pack *model.Pack }

// list is a list of items, one below the other.
type list struct {
	noun string // what an item is, in the singular
	// open is how many items stand open outside of sections, where others are folded.
	open int
	n    int
	item func(i int) item
	// group is the heading of an item at a page, or nil.
	group func(i int) sentence
}

func (l *list) empty() bool { return l.n == 0 }

// listOf makes a list one of things.
func listOf[T any](l list, all []T, show func(*T) item) *list {
	l.n, l.item = len(all), func(i int) item { return show(&all[i]) }
	return &l
}

// item is one thing with its state, its place and what is to be said of it.
type item struct {
	state look // the word beside its mark may be ""
	head  sentence
	at    spot
	text  sentence
	lines []line
	sides *model.Change // old and new value side by side, where there is room
	below []node        // what is shown below it, where an item has room
	// finding is what findings are filtered by, nil for everything else.
	finding *model.Finding
}

// line says something about an item: →, see, for example.
type line struct {
	lead  string
	words []sentence
}

// table is a table. One cell of a row has several lines at most.
type table struct {
	noun, words string
	open        int // how many rows stand open outside of sections; 0 for all
	fold        int // of more rows than that a page folds the table; 0 for never
	columns     []column
	n           int
	row         func(i int) row
	aligned     int // how many columns stand below one another at a terminal, under their names where there are several
}

// column is a column of a table, or, without columns, what follows behind a label or below.
type column struct {
	name, label string
	below       bool
}

// row is a row of a table; a tone says that it stands out.
type row struct {
	tone            string
	verdict, agents string // what a pack is filtered by
	cells           []sentence
}

func (t *table) empty() bool { return t.n == 0 }

// tableOf makes a table one of things, of which each has a row.
func tableOf[T any](t table, all []T, cells func(*T) []sentence) *table {
	t.n, t.row = len(all), func(i int) row { return row{cells: cells(&all[i])} }
	return &t
}

// titles returns columns that have nothing but a name.
func titles(names ...string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i].name = name
	}
	return columns
}

type pieceKind int

const (
	plainPiece   pieceKind = iota
	messagePiece           // a message, of which quoted values stand out
	codePiece              // a value of a pack, or a name in it
	strongPiece
	quietPiece  // of less interest, and left out where there is little room
	statePiece  // a state with its mark
	placePiece  // a file or a place in one
	rulePiece   // the id of a rule, which leads to its page
	struckPiece // what is gone
	addedPiece  // what is new beside what is gone
	innerPiece  // what leads to another place of the same page
	breakPiece  // a new line before what follows
)

type piece struct {
	kind pieceKind
	text string
	look look
	at   spot
	href string // inside of a page
}

// spot is a place in a file, as far as it is known.
type spot struct {
	file         string
	line, column int
	revision     string // the SHA of the commit it is of; "" for the head
	base         bool   // it is of the version before, which is said
}

type sentence []piece

func plain(text string) sentence         { return sentence{}.plain(text) }
func message(text string) sentence       { return sentence{}.message(text) }
func code(text string) sentence          { return sentence{}.code(text) }
func strong(text string) sentence        { return append(sentence{}, piece{kind: strongPiece, text: text}) }
func at(p spot) sentence                 { return sentence{{kind: placePiece, at: p}} }
func state(l look, word string) sentence { l.word = word; return sentence{{kind: statePiece, look: l}} }

func (s sentence) add(others ...sentence) sentence {
	for _, o := range others {
		s = append(s, o...)
	}
	return s
}

func (s sentence) plain(text string) sentence   { return s.put(plainPiece, text) }
func (s sentence) message(text string) sentence { return s.put(messagePiece, text) }
func (s sentence) quiet(text string) sentence   { return s.put(quietPiece, text) }
func (s sentence) rule(id string) sentence      { return s.put(rulePiece, id) }
func (s sentence) code(text string) sentence    { return append(s, piece{kind: codePiece, text: text}) }

func (s sentence) put(kind pieceKind, text string) sentence {
	if text == "" {
		return s
	}
	return append(s, piece{kind: kind, text: text})
}

// line begins a new line, except at the beginning.
func (s sentence) line() sentence {
	if len(s) == 0 {
		return s
	}
	return append(s, piece{kind: breakPiece})
}

// request adds a request behind some words, and nothing where there is none.
func (s sentence) request(words string, request map[string]any) sentence {
	if request == nil {
		return s
	}
	return s.plain(words).code(pack.CompactJSON(request))
}

// series joins sentences with something between them.
func series(between string, all ...sentence) (s sentence) {
	for i, one := range all {
		if i > 0 {
			s = s.plain(between)
		}
		s = s.add(one)
	}
	return s
}

// each says all of some things.
func each[T, S any](all []T, say func(T) S) []S {
	return few(all, len(all), say, nil)
}

// few says the first of some things, and then how many are left.
func few[T, S any](all []T, most int, say func(T) S, rest func(left int) S) (said []S) {
	for _, one := range all[:min(len(all), most)] {
		said = append(said, say(one))
	}
	if left := len(all) - most; left > 0 {
		said = append(said, rest(left))
	}
	return said
}

// among names the first of some things in a line, and counts the others, by their noun where that is wanted.
func among[T any](all []T, most int, noun string, say func(T) sentence) sentence {
	s := series(", ", each(all[:min(len(all), most)], say)...)
	if left := len(all) - most; left > 0 {
		s = s.plain(" and " + more(left, noun))
	}
	return s
}

// words are the words of a sentence alone.
func (s sentence) words() string {
	return strings.Join(each(s, func(p piece) string { return p.text }), "")
}

// lines are the lines of a sentence.
func (s sentence) lines() []sentence {
	var all []sentence
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n].kind != breakPiece {
			n++
		}
		all = append(all, s[:n])
		s = s[min(len(s), n+1):]
	}
	return all
}

// value shows a value that is written as JSON, none for none.
func value(s string) sentence {
	if s == "" {
		return nil
	}
	return code(s)
}

// said adds a line to those of an item, unless there is nothing to say.
func (it *item) said(lead string, words ...sentence) {
	if words = those(words, func(s sentence) bool { return len(s) > 0 }); len(words) > 0 {
		it.lines = append(it.lines, line{lead, words})
	}
}

type builder struct {
	report *model.Report
	// most is how many characters of a value are shown, places how many beside a finding's own.
	most, places int
	// passing is up to how many golden cases are shown if they pass; 0 for all.
	passing int
	// brief is for a terminal: marks first, and what is well counted; whole is for a page.
	brief, whole bool
	// alone is for a comparison of two versions that nothing else is known of.
	alone bool
	tight bool        // a page has half as much of each kind
	of    *model.Pack // that is shown
}

// revision returns the commit of a spot, nil where nobody knows its files.
func (b *builder) revision(s spot) *model.Revision {
	switch {
	case b.of != nil && b.of.Pinned != nil && s.file != b.of.Path && (s.base || b.of.Pinned.Elsewhere):
		return nil // it is of a version that is published
	case s.base:
		return b.report.Base
	case s.revision == "":
		return b.report.Head
	case b.report.Base != nil && b.report.Base.SHA == s.revision:
		return b.report.Base
	}
	return nil
}

// pack returns the sections of a pack that say something, in the order of the report.
func (b *builder) pack(p *model.Pack) []section {
	all := []section{b.findings(p, "error"), b.following(p), b.findings(p, "warning"), b.waiving(p), b.layers(p.Diff), b.environments(p.Environments), b.examples(p)}
	if b.whole {
		all = append(all, b.surfaceChanges(p.Diff), b.surface(p), b.bindings(p))
	}
	all = append(all, b.notChecked(p))
	first := len(all)
	if !b.brief {
		all = append(all, b.checklist(p))
	}
	all = append(all, b.golden(p.Golden, p.Coverage), b.drift(p), b.contexts(p))
	if b.whole || b.brief {
		all = append(all, b.coverage(p))
	}
	all = append(all, b.evaluation(p))
	if b.whole {
		all = append(all, b.operations(p))
	}
	all = append(all, b.overlays(p), b.triggers(p), b.files(p), b.fixed(p), b.excused(p, approvedWord), b.excused(p, waivedWord), b.excused(p, acceptedWord))
	for i := first; i < len(all); i++ {
		all[i].minor = true
	}
	return spoken(all)
}

// spoken returns the sections that say something.
func spoken(all []section) []section {
	return those(all, func(s section) bool { return s.title != "" })
}

// sentenceCase returns words for the beginning of a sentence: the name of a file stays as it is.
func sentenceCase(s string) string {
	if word, _, _ := strings.Cut(s, " "); word == "" || strings.ContainsAny(word, "./_") {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// uncapital returns words for the middle of a sentence: an abbreviation stays one.
func uncapital(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s)
}

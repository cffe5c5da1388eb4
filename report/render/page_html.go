package render

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// How the nodes of a tree look in a page, and bounds on one text and one list in it.
const (
	maxHTMLText  = 2000    // characters
	maxHTMLRows  = 10_000  // of one list
	maxHTMLBytes = 4 << 20 // of the texts of one list
)

// htmlView turns nodes into what the templates show: visible, bounded texts that they escape.
type htmlView struct {
	*builder
	size int // bytes of text so far
	// inside is of how many packs the page has the details, and own says that it is of one pack of several.
	inside int
	own    bool
	// program runs the playgrounds, nil for none; playgrounds counts them.
	program     *htmlProgram
	playgrounds int
}

type htmlPiece struct {
	Text   string
	Plain  bool // as it stands
	Code   bool // a value of a pack, or a name in it
	Strong bool
	Quiet  bool
	Struck bool
	Break  bool   // a new line before what follows
	Href   string // where it leads
	Tone   string // of a badge
}

// htmlSection is a section of a pack. What is set of the rest of a node is shown.
type htmlSection struct {
	ID, Words string
	Open      bool
	Nodes     []htmlNode
}

type htmlNode struct {
	Words   []htmlPiece
	Alert   *htmlAlert
	Steps   [][]htmlPiece
	Fold    *htmlFold
	Listing string
	Facts   []htmlFact
	Command *htmlCommand
	Items   []htmlItem
	Table   *htmlTable
	Graph   *htmlGraph
	LeftOut string
}

type htmlAlert struct {
	Tone         string
	Items, Below [][]htmlPiece
}

type htmlFold struct {
	Words string
	Nodes []htmlNode
}

type htmlItem struct {
	Group             []htmlPiece // the heading that it is under, where it is the first
	First             bool        // of its group
	Tone, Class, ID   string
	State             []htmlPiece
	Head, Place, Text []htmlPiece
	Lines             []htmlLine
	Sides             []htmlSide
	Below             []htmlNode
	// Of a finding, for the filters.
	Severity, Gate, Status, Fingerprint string
}

type htmlLine struct {
	Lead  string
	Words [][]htmlPiece
}

type htmlTable struct {
	Head []string
	Rows []htmlRow
	Fold string // what to call it where it is folded
}

type htmlRow struct {
	Tone string // of a row that stands out
	// Of a pack, for the filters.
	Verdict, Agents string
	Cells           [][]htmlPiece
}

// htmlSide is one of two values that stand side by side.
type htmlSide struct {
	Label string
	Lines []htmlSideLine
}

type htmlSideLine struct {
	Text    string
	Differs bool
	Mark    string // - or + for a line that differs
}

// text returns a text of a pack as the page may show it.
func (v *htmlView) text(s string) string {
	s = Visible(shorten(s, maxHTMLText))
	v.size += len(s)
	return s
}

// section returns a section; its items have ids that begin with that of the pack.
func (v *htmlView) section(s *section, id string) htmlSection {
	out := htmlSection{ID: id + "-" + s.id, Words: sentenceCase(v.text(cmp.Or(s.words, s.title))), Open: s.open}
	out.Nodes = v.nodes(s.nodes, out.ID, new(int))
	return out
}

// nodes returns nodes, of which the items are numbered on.
func (v *htmlView) nodes(all []node, id string, number *int) []htmlNode {
	return each(all, func(n node) htmlNode { return v.node(n, id, number) })
}

func (v *htmlView) node(n node, id string, number *int) (out htmlNode) {
	switch n := n.(type) {
	case sentence:
		out.Words = v.say(n)
	case alert:
		out.Alert = &htmlAlert{Tone: toneOf(n.tone), Items: each(n.items, v.say), Below: each(n.below, v.say)}
	case steps:
		out.Steps = each(n, v.say)
	case fold:
		out.Fold = &htmlFold{Words: v.text(sentenceCase(n.words)), Nodes: v.nodes(n.nodes, id, number)}
	case listing:
		out.Listing = shorten(n.text, maxHTMLText)
	case known:
		out.Facts = each(n, v.fact)
	case shellCommand:
		out.Command = v.command(n)
	case picture:
		out.Graph = v.graph(n.pack)
	case *list:
		v.list(&out, n, id, number)
	case *table:
		v.table(&out, n)
	}
	return out
}

func (v *htmlView) list(out *htmlNode, n *list, id string, number *int) {
	heading := ""
	out.Items, out.LeftOut = bounded(v, n.noun, n.n, func(i int) htmlItem {
		it := n.item(i)
		*number++
		item := v.item(&it)
		item.ID = fmt.Sprintf("%s-%d", id, *number)
		if n.group != nil {
			group := n.group(i)
			if words := fmt.Sprint(group); words != heading {
				heading, item.Group = words, v.say(group)
			}
		}
		item.First = i == 0 || item.Group != nil
		return item
	})
}

func (v *htmlView) table(out *htmlNode, n *table) {
	out.Table = &htmlTable{Head: each(n.columns, func(c column) string { return c.name })}
	out.Table.Rows, out.LeftOut = bounded(v, n.noun, n.n, func(i int) htmlRow {
		r := n.row(i)
		return htmlRow{Tone: r.tone, Verdict: r.verdict, Agents: v.text(r.agents), Cells: each(r.cells, func(s sentence) []htmlPiece {
			if len(s) == 0 && r.verdict != "" { // a narrow screen leaves it out
				s = sentence{{kind: quietPiece, text: "none"}}
			}
			if len(s) == 0 {
				s = plain("none")
			}
			return v.say(s)
		})}
	})
	if n.fold > 0 && n.n > n.fold {
		out.Table.Fold = fmt.Sprintf("Show all %d", len(out.Table.Rows))
	}
	if n.words != "" {
		out.Words = []htmlPiece{{Text: sentenceCase(v.text(n.words)), Plain: true}}
	}
}

func (v *htmlView) item(it *item) htmlItem {
	out := htmlItem{Tone: toneOf(it.state), State: v.state(it.state), Head: v.say(it.head), Text: v.say(it.text), Below: v.nodes(it.below, "", new(int))}
	if it.at.file != "" {
		out.Place = v.place(it.at)
	}
	out.Lines = each(it.lines, func(l line) htmlLine { return htmlLine{Lead: l.lead, Words: each(l.words, v.say)} })
	if it.sides != nil {
		out.Sides = v.sides(it.sides)
	}
	if f := it.finding; f != nil {
		out.Class, out.Severity, out.Gate, out.Status, out.Fingerprint = "finding", v.text(f.Severity), v.text(f.Gate), stateOf(*f), v.text(f.Fingerprint)
	}
	return out
}

func (v *htmlView) state(l look) []htmlPiece {
	words := strings.TrimSpace(l.mark + " " + v.text(l.word))
	if words == "" {
		return nil
	}
	return []htmlPiece{{Text: words, Tone: toneOf(l)}}
}

func (v *htmlView) say(s sentence) []htmlPiece {
	var out []htmlPiece
	for _, p := range s {
		switch p.kind {
		case messagePiece:
			out = append(out, v.message(p.text)...)
		case statePiece:
			out = append(out, v.state(p.look)...)
		case placePiece:
			if p.text != "" {
				out = append(out, v.link(v.href(p.at), v.text(p.text)))
			} else {
				out = append(out, v.place(p.at)...)
			}
		case breakPiece:
			out = append(out, htmlPiece{Break: true})
		case rulePiece:
			out = append(out, v.link(model.RuleURL(p.text), v.text(p.text)))
		case innerPiece:
			out = append(out, htmlPiece{Text: v.text(p.text), Href: p.href})
		default:
			out = append(out, htmlPiece{
				Text: v.text(p.text), Plain: p.kind == plainPiece, Code: p.kind == codePiece, Strong: p.kind == strongPiece || p.kind == addedPiece, Quiet: p.kind == quietPiece, Struck: p.kind == struckPiece,
			})
		}
	}
	return out
}

// link leads somewhere; where that is not known, it is the text alone.
func (v *htmlView) link(href, text string) htmlPiece {
	return htmlPiece{Text: text, Href: href, Plain: href == ""}
}

// message returns a message of which the quoted values and digests stand out.
func (v *htmlView) message(s string) (out []htmlPiece) {
	quotes(shorten(s, maxHTMLText),
		func(words string) { out = append(out, htmlPiece{Text: v.text(words), Plain: true}) },
		func(value string) { out = append(out, htmlPiece{Text: v.text(value), Code: true}) })
	return out
}

// href leads to a line of a file in a commit, "" where its files cannot be read on the web.
func (v *htmlView) href(s spot) string {
	at := v.revision(s)
	if at == nil || s.file == "" {
		return ""
	}
	base, err := url.Parse(at.BlobURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return ""
	}
	target := base.String() + (&url.URL{Path: shorten(s.file, maxHTMLText)}).EscapedPath()
	if s.line > 0 {
		target += "#L" + strconv.Itoa(s.line)
	}
	v.size += len(target)
	return target
}

// place shows a place and links to it: by its path, or without a column by the file's name.
func (v *htmlView) place(s spot) []htmlPiece {
	words := s.file
	if s.column == 0 && s.line > 0 {
		words = path.Base(s.file)
	}
	words = v.text(words)
	if s.line > 0 {
		words += ":" + strconv.Itoa(s.line)
		if s.column > 0 {
			words += ":" + strconv.Itoa(s.column)
		}
	}
	out := []htmlPiece{v.link(v.href(s), words)}
	if s.base {
		out = append(out, htmlPiece{Text: " of the base", Plain: true})
	}
	return out
}

// toneOf returns how a state looks in a page: good, warn, bad or quiet.
func toneOf(l look) string {
	return cmp.Or(map[string]string{"green": "good", "yellow": "warn", "red": "bad"}[l.color], "quiet")
}

// stateOf returns what the filter goes by: waived, approved, existing, new, or open without a comparison.
func stateOf(f model.Finding) string {
	switch {
	case f.Excused():
		return excuse(&f)
	case f.State == model.Existed:
		return model.Existed
	case f.State != "":
		return "new"
	}
	return "open"
}

// bounded returns what is shown of n things, as far as they fit, and says how many are left out.
func bounded[S any](v *htmlView, noun string, n int, show func(int) S) (shown []S, left string) {
	start := v.size
	for i := range n {
		if i >= maxHTMLRows || v.size-start > maxHTMLBytes {
			return shown, leftOut(n-i, noun)
		}
		shown = append(shown, show(i))
	}
	return shown, ""
}

package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/pack"
)

// hover answers textDocument/hover: what the findings at a place mean, and what the name
// there stands for.
func (s *server) hover(p placeParams) (any, error) {
	at, err := s.placeOf(p)
	if err != nil || at == nil {
		return nil, err
	}
	defer at.close()
	page := page{markdown: slices.Contains(s.client.Capabilities.TextDocument.Hover.ContentFormat, "markdown")}
	var span *Range
	for _, f := range s.foundAt(at.doc, at.offset) {
		page.finding(f)
		span = &f.diagnostic.Range
	}
	if n, list := at.meant(); len(list) > 0 {
		for _, d := range list[:min(len(list), mostDeclarations)] {
			page.declaration(at.view, n, d)
		}
		if span == nil {
			r := at.doc.span(at.node.Start, at.node.End, s.units)
			span = &r
		}
	}
	if len(page.parts) == 0 {
		return nil, nil
	}
	kind := "plaintext"
	if page.markdown {
		kind = "markdown"
	}
	return hover{Contents: markup{Kind: kind, Value: strings.Join(page.parts, "\n\n")}, Range: span}, nil
}

const (
	// mostDeclarations is how many places of one name are shown.
	mostDeclarations = 3
	// mostLines is how many lines of a declaration are shown.
	mostLines = 24
)

// foundAt returns the findings whose place an offset lies in, the smallest place first.
// There are none while a text has changed since it was looked at.
func (s *server) foundAt(d *document, offset int) []found {
	var list []found
	for _, f := range s.foundIn(d) {
		start, end := f.Location.Start.Offset, f.Location.End.Offset
		if offset >= start && (offset < end || offset == start) {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b found) int {
		width := func(f found) int { return f.Location.End.Offset - f.Location.Start.Offset }
		return width(a) - width(b)
	})
	return list
}

// foundIn returns the findings in a document, as far as they are of the text that it has.
func (s *server) foundIn(d *document) []found {
	s.lock.Lock()
	defer s.lock.Unlock()
	var list []found
	for key, r := range s.results {
		if src, ok := r.read[d.key()]; key.root != d.root || !ok || src != d.src {
			continue
		}
		for _, f := range r.found {
			if f.key == d.key() && !slices.ContainsFunc(list, func(other found) bool {
				return other.Rule == f.Rule && other.Location == f.Location && other.Message == f.Message
			}) {
				list = append(list, f)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return a.Location.Start.Offset - b.Location.Start.Offset
	})
	return list
}

// page is the text of a hover.
type page struct {
	markdown bool
	parts    []string
}

func (p *page) add(format string, args ...any) {
	p.parts = append(p.parts, fmt.Sprintf(format, args...))
}

// code adds a text that stands as it is.
func (p *page) code(text string) {
	if !p.markdown {
		p.add("%s", text)
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.add("%sjson\n%s\n%s", fence, text, fence)
}

// finding adds what is wrong, and the page of its rule.
func (p *page) finding(f found) {
	rule, _ := gates.Find(f.Rule)
	if rule == nil {
		return
	}
	if p.markdown {
		p.add("**[%s](%s)** %s", rule.ID, rulePage(rule.ID, rule.Name), rule.Title)
	} else {
		p.add("%s %s", rule.ID, rule.Title)
	}
	p.code(words(f.Message, f.Hint))
	if witness, err := json.Marshal(f.Witness); err == nil && f.Witness != nil {
		p.add("For example:")
		p.code(string(witness))
	}
	p.add("%s", rule.Doc)
	for _, example := range []struct{ word, source string }{{"Reported:", rule.Bad}, {"Not reported:", rule.Good}} {
		if example.source != "" {
			p.add("%s", example.word)
			p.code(strings.TrimRight(example.source, "\n"))
		}
	}
}

// declaration adds what a name stands for, with its place.
func (p *page) declaration(v *view, n name, d declaration) {
	l := d.at.Location()
	where := fmt.Sprintf("%s:%d:%d", l.File, l.Start.Line, l.Start.Column)
	if p.markdown {
		// The brackets let the address have parentheses in it.
		p.add("%s, declared at [%s](<%s#L%d>)", n.kind, strings.NewReplacer("[", `\[`, "]", `\]`, `\`, `\\`).Replace(where), v.key(l.File), l.Start.Line)
	} else {
		p.add("%s, declared at %s", n.kind, where)
	}
	p.code(excerpt(d.whole))
}

// excerpt returns the first lines of a value, moved to the left margin.
func excerpt(n *pack.Node) string {
	src := n.Document().Source
	start := n.Start
	for start > 0 && (src[start-1] == ' ' || src[start-1] == '\t') {
		start--
	}
	margin := string(src[start:n.Start])
	lines := strings.Split(strings.ReplaceAll(n.Raw(), "\r\n", "\n"), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], margin+"…")
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], margin)
	}
	return pack.Clip(strings.Join(lines, "\n"), 4000)
}

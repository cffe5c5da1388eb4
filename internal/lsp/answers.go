package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// hover answers textDocument/hover: what findings at a place mean, and what a name stands for.
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
	if r := at.memberPage(&page, s.units); span == nil {
		span = r
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

// current returns the results that are of the text that a document has.
func (s *server) current(d *document) (list []*result) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for key, r := range s.results {
		if src, ok := r.read[d.key()]; key.root == d.root && ok && src == d.src {
			list = append(list, r)
		}
	}
	return list
}

// foundIn returns the findings in a document, as far as they are of the text that it has.
func (s *server) foundIn(d *document) []found {
	var list []found
	for _, r := range s.current(d) {
		for _, f := range r.found {
			if f.key == d.key() && !slices.ContainsFunc(list, func(other found) bool {
				return other.Rule == f.Rule && other.Location == f.Location && other.Message == f.Message
			}) {
				list = append(list, f)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return a.Location.Start.Offset - b.Location.Start.Offset })
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
		p.add("**[%s](%s)** %s", rule.ID, model.RuleURL(rule.ID), rule.Title)
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

// The kinds of code actions. All repairs of a document are one, which editors run on saving.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.packgate"
)

// codeActions answers textDocument/codeAction: the repairs of the findings in a range,
// and all repairs of the document as one change where that is asked for.
func (s *server) codeActions(ctx context.Context, p codeActionParams) (any, error) {
	actions := []CodeAction{}
	d := s.document(p.TextDocument.URI)
	if d == nil || d.root == "" {
		return actions, nil
	}
	if len(s.current(d)) == 0 {
		s.gate([]string{d.root})
	}
	if ctx.Err() != nil {
		return actions, nil
	}
	if asksFor(p.Context.Only, quickFix, true) {
		fixes, err := s.quickFixes(d, p)
		if err != nil {
			return nil, err
		}
		actions = append(actions, fixes...)
	}
	if asksFor(p.Context.Only, fixAll, false) {
		src, err := s.repaired(d)
		if err != nil {
			return nil, err
		}
		if src != d.src {
			actions = append(actions, CodeAction{Title: "fix all that packgate can fix", Kind: fixAll, Edit: s.edit(d, src)})
		}
	}
	return actions, nil
}

// quickFixes returns the repairs of the findings in a range, and the names that were nearly typed.
func (s *server) quickFixes(d *document, p codeActionParams) (actions []CodeAction, err error) {
	start, end := d.offset(p.Range.Start, s.units), d.offset(p.Range.End, s.units)
	var others []found
	for _, f := range s.foundIn(d) {
		switch {
		case f.Excused() || f.Location.Start.Offset > end || f.Location.End.Offset < start:
			continue
		case f.Fix == nil:
			others = append(others, f)
			continue
		}
		src, err := pack.Edit(pack.NewDocument(d.name, []byte(d.src), nil), f.Fix.Operations)
		if err != nil {
			continue // a repair that cannot be made is none
		}
		actions = append(actions, CodeAction{
			Title: f.Fix.Description, Kind: quickFix, IsPreferred: true,
			Diagnostics: []Diagnostic{f.diagnostic}, Edit: s.edit(d, string(src)),
		})
	}
	if len(others) == 0 {
		return actions, nil
	}
	near, err := s.nearNames(p, others)
	return append(actions, near...), err
}

// asksFor reports whether a client wants actions of a kind: where it names kinds, those
// and the ones below them, and else those that are shown without being asked for.
func asksFor(only []string, kind string, unasked bool) bool {
	if len(only) == 0 {
		return unasked
	}
	return slices.ContainsFunc(only, func(k string) bool { return k == "" || k == kind || strings.HasPrefix(kind, k+".") })
}

// edit returns the change that gives a document a new text.
func (s *server) edit(d *document, to string) workspaceEdit {
	start, end, with := difference(d.src, to)
	edits := []textEdit{{Range: d.span(start, end, s.units), NewText: with}}
	if !s.client.Capabilities.Workspace.WorkspaceEdit.DocumentChanges {
		return workspaceEdit{Changes: map[string][]textEdit{d.uri: edits}}
	}
	change := documentEdit{Edits: edits}
	change.TextDocument.URI, change.TextDocument.Version = d.uri, &d.version
	return workspaceEdit{DocumentChanges: []documentEdit{change}}
}

// repaired returns the text of a document with all repairs that can be made.
func (s *server) repaired(d *document) (string, error) {
	texts, _, before := s.known(d.root)
	texts[d.name] = d.src
	err := gating.Rounds(func() (bool, error) {
		v, err := s.openView(d.root, texts, before)
		if err != nil {
			return false, err
		}
		defer v.close()
		policy, err := v.Policy(nil, s.Now())
		if err != nil {
			return false, err
		}
		packs, err := v.packsOf(d.name)
		if err != nil || !slices.Contains(packs, d.name) {
			return false, err // repairs are of packs
		}
		unit, err := v.Unit(d.name)
		if err != nil {
			return false, err
		}
		src, made := gating.Repair(unit.Document, gates.Run(v.Subject(unit), policy, unfinished).Findings)
		texts[d.name] = string(src)
		return len(made) > 0, nil
	})
	return texts[d.name], err
}

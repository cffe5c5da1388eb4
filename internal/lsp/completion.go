package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// completion answers textDocument/completion: the names that can stand at a place.
func (s *server) completion(p placeParams) (any, error) {
	items := []completionItem{}
	at, err := s.placeOf(p)
	if err != nil || at == nil {
		return items, err
	}
	defer at.close()
	wanted, start, end := at.slot()
	if wanted == "" {
		return items, nil
	}
	edit := at.doc.span(start, end, s.units)
	for _, c := range at.candidates(wanted) {
		quoted, err := json.Marshal(c.text)
		if err != nil {
			return nil, err
		}
		items = append(items, completionItem{
			Label: c.text, Kind: referenceItem, Detail: c.detail,
			FilterText: string(quoted), TextEdit: textEdit{Range: edit, NewText: string(quoted)},
		})
	}
	return items, nil
}

// slot returns what kind of name stands, or could stand, at the place, and the range
// that a name would take; "" where none could.
func (p *place) slot() (s nameKind, start, end int) {
	if p.node == nil {
		return "", 0, 0
	}
	pointer, start, end := p.node.Pointer(), p.offset, p.offset
	switch {
	case p.node.Kind == pack.Array:
		before := strings.TrimRight(p.doc.src[p.node.Start:p.offset], " \t\r\n")
		if !strings.HasSuffix(before, "[") && !strings.HasSuffix(before, ",") {
			return "", 0, 0
		}
		pointer += "/*"
	case p.node.Kind == pack.String:
		start, end = p.node.Start, p.node.End
	case p.node.Kind != pack.Null:
		return "", 0, 0
	case strings.TrimSpace(p.doc.src[p.node.Start:p.node.End]) != "": // a null, or a part of a word
		start, end = p.node.Start, p.node.End
	}
	s, ok := sortAt(references[p.kind], pointer)
	if !ok {
		return "", 0, 0
	}
	return s, start, end
}

type candidate struct{ text, detail string }

// candidates returns the names of a kind that can be intended at the place, each once, in
// the order of the alphabet.
func (p *place) candidates(s nameKind) []candidate {
	var list []candidate
	add := func(text string, d declaration) {
		where := fmt.Sprintf("%s, %s:%d", d.kind, d.at.Document().File, d.at.Location().Start.Line)
		list = append(list, candidate{text, where})
	}
	inPack := p.kind == "pack"
	for _, d := range p.declared() {
		switch {
		case s == evidence && d.kind == capability && d.in != "":
			add(d.in+"."+d.text, d)
		case s == capability && d.kind == capability && inPack && p.node.Parent.Kind == pack.Object:
			if in := textOf(p.node.Parent.Get("adapter_id")); in == "" || in == d.in {
				add(d.text, d)
			}
		case s == capability && d.kind == capability:
			add(d.in+"."+d.text, d)
		case s == packID && d.kind == packID:
			add(d.text+"@"+textOf(d.at.Parent.Get("pack_version")), d)
		case s == property:
			for before, of := range properties {
				if of == d.kind {
					add(before+":"+strings.TrimPrefix(d.in+"."+d.text, "."), d)
				}
			}
		case s == d.kind:
			add(d.text, d)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(list, func(a, b candidate) bool { return a.text == b.text })
}

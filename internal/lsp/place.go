package lsp

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// place is where the user stands: the repository, what the document is, and the value there.
type place struct {
	*view
	doc    *document
	kind   string
	tree   *pack.Document // nil where nothing could be made out
	offset int
	node   *pack.Node // nil where the place is in no value
}

// placeOf opens the repository at a place of an open document, nil for none; the caller closes it.
func (s *server) placeOf(p placeParams) (*place, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || d.root == "" {
		return nil, nil
	}
	v, err := s.viewOf(d.root)
	if err != nil {
		return nil, err
	}
	at := &place{view: v, doc: d, kind: v.kind(d.name), offset: d.offset(p.Position, s.units)}
	if at.kind != "" && at.kind != "config" {
		at.tree = v.read(d.name, d.src)
	}
	if at.tree != nil {
		at.node = nodeAt(at.tree.Root, at.offset)
	}
	return at, nil
}

// read reads a text leniently; nil where nothing can be made out.
func (v *view) read(name, src string) *pack.Document {
	if len(src) > v.Config.Limits.MaxBytes {
		return nil
	}
	root := readLenient(src, v.Config.Limits.MaxValues)
	if root == nil {
		return nil
	}
	return pack.NewDocument(name, []byte(src), root)
}

// packs returns the packs of the document that can be read. A catalog is not a pack's own.
func (p *place) packs() []*pack.Document {
	if p.kind == "pack" {
		return []*pack.Document{p.tree}
	}
	if p.kind == "environment" {
		return nil
	}
	names, err := p.packsOf(p.doc.name)
	if err != nil {
		return nil // nothing is known of them, and the gates say why
	}
	return p.readAll(names)
}

// readAll reads files, as far as they can be read.
func (p *place) readAll(names []string) (docs []*pack.Document) {
	for _, name := range names {
		if d := p.read(name, p.text(name).src); d != nil {
			docs = append(docs, d)
		}
	}
	return docs
}

// declared returns the names that can be intended: those of the packs, the catalogs, the overlays
// beside them, and intents that no catalog lists and rules apply to.
func (p *place) declared() []declaration {
	var list []declaration
	packs := p.packs()
	for _, d := range packs {
		list = append(list, declared("pack", d)...)
	}
	for _, e := range p.Environments {
		list = append(list, declared("environment", e.Document)...)
	}
	if p.kind == "environment" {
		list = append(list, declared("environment", p.tree)...)
	}
	for _, d := range p.overlays() {
		list = append(list, declared("overlay", d)...)
	}
	for _, d := range packs {
		for _, i := range pack.New(d).Intents() {
			if i.Node == p.node { // which is being typed
				continue
			}
			known := func(d declaration) bool { return d.kind == intent && d.text == i.Value }
			if !slices.ContainsFunc(list, known) {
				list = append(list, declaration{name{kind: intent, text: i.Value}, i.Node, i.Node})
			}
		}
	}
	return list
}

// overlays returns the overlays beside a golden case, and the document itself if it is one.
func (p *place) overlays() []*pack.Document {
	if p.kind == "overlay" {
		return []*pack.Document{p.tree}
	}
	if p.kind != "case" {
		return nil
	}
	dir := path.Join(path.Dir(path.Dir(p.doc.name)), "overlays")
	entries, err := fs.ReadDir(p.Files.Tree(), dir)
	if err != nil {
		return nil // there are none
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !e.IsDir() {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	return p.readAll(names)
}

// meant returns what the name at the place stands for: the places that declare it, and
// what it is in words. The setting of an overlay means a value of the pack.
func (p *place) meant() (name, []declaration) {
	if p.node == nil {
		return name{}, nil
	}
	n, ok := named(p.kind, p.node)
	if !ok {
		return name{}, nil
	}
	var list []declaration
	if n.kind == keyedPlace {
		for _, d := range p.packs() {
			if at := d.Root.FindKeyed(n.text); at != nil {
				list = append(list, declaration{n, at, at})
			}
		}
		return n, list
	}
	for _, d := range p.declared() {
		if n.means(d) {
			list = append(list, d)
		}
	}
	return n, list
}

// definition answers textDocument/definition: where the name at a place is declared.
func (s *server) definition(p placeParams) (any, error) {
	at, err := s.placeOf(p)
	if err != nil || at == nil {
		return nil, err
	}
	defer at.close()
	_, list := at.meant()
	locations := []Location{}
	for _, d := range list {
		in := d.at.Document()
		span := newText(string(in.Source)).span(d.at.Start, d.at.End, s.units)
		locations = append(locations, Location{URI: at.uri(in.File), Range: span})
	}
	return locations, nil
}

// completion answers textDocument/completion: the names that are possible at a place.
func (s *server) completion(p placeParams) (any, error) {
	items := []completionItem{}
	at, err := s.placeOf(p)
	if err != nil || at == nil {
		return items, err
	}
	defer at.close()
	pointer, start, end := at.slot()
	if pointer == "" {
		return items, nil
	}
	edit := at.doc.span(start, end, s.units)
	for _, c := range at.offered(pointer) {
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

// slot returns the pointer of the value that can be at the place, and the range it would take; "" for none.
func (p *place) slot() (pointer string, start, end int) {
	if p.node == nil {
		return "", 0, 0
	}
	pointer, start, end = p.node.Pointer(), p.offset, p.offset
	switch {
	case p.node.Kind == pack.Array:
		before := strings.TrimRight(p.doc.src[p.node.Start:p.offset], " \t\r\n")
		if !strings.HasSuffix(before, "[") && !strings.HasSuffix(before, ",") {
			return "", 0, 0
		}
		pointer += "/0"
	case p.node.Kind == pack.String:
		start, end = p.node.Start, p.node.End
	case p.node.Kind != pack.Null:
		return "", 0, 0
	case strings.TrimSpace(p.doc.src[p.node.Start:p.node.End]) != "": // a null, or a part of a word
		start, end = p.node.Start, p.node.End
	}
	return pointer, start, end
}

// offered returns what can be at a pointer of the document: the names of a kind, or the words of a
// closed set.
func (p *place) offered(pointer string) []candidate {
	if kind, ok := sortAt(references[p.kind], pointer); ok {
		return p.candidates(kind)
	}
	return closed(p.kind, pointer)
}

type candidate struct{ text, detail string }

// candidates returns the names of a kind that can be intended at the place, each once, sorted.
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
			if in := pack.TextOf(p.node.Parent.Get("adapter_id")); in == "" || in == d.in {
				add(d.text, d)
			}
		case s == capability && d.kind == capability:
			add(d.in+"."+d.text, d)
		case s == packID && d.kind == packID:
			add(d.text+"@"+pack.TextOf(d.at.Parent.Get("pack_version")), d)
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

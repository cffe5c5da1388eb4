package lsp

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// place is where the user stands in a document: the repository around it, what the
// document is, and the value there.
type place struct {
	*view
	doc    *document
	kind   string
	tree   *pack.Document // nil where nothing could be made out
	offset int
	node   *pack.Node // nil where the place is in no value
}

// placeOf opens the repository at a place of an open document; nil for a document that
// is not open, or of no repository. The caller closes it.
func (s *server) placeOf(p placeParams) (*place, error) {
	s.lock.Lock()
	d := s.open[keyOf(p.TextDocument.URI)]
	s.lock.Unlock()
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

// packs returns the packs that the document belongs to, as far as they can be read. A
// catalog is no pack's own.
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
	var docs []*pack.Document
	for _, name := range names {
		if d := p.read(name, p.text(name).src); d != nil {
			docs = append(docs, d)
		}
	}
	return docs
}

// declared returns the names that can be intended at the place: those of its packs, of
// the catalogs, and of the overlays beside it. An intent that no catalog lists is
// declared by the rules that apply to it.
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
	var docs []*pack.Document
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".json") || e.IsDir() {
			continue
		}
		if d := p.read(name, p.text(name).src); d != nil {
			docs = append(docs, d)
		}
	}
	return docs
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

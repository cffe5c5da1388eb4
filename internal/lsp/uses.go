package lsp

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

type referenceParams struct {
	placeParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// references answers textDocument/references: every place that names what the name at a place stands for,
// in the packs that the document belongs to, in the files beside them, and in the catalogs.
func (s *server) references(p referenceParams) (any, error) {
	locations := []Location{}
	at, err := s.placeOf(p.placeParams)
	if err != nil || at == nil {
		return locations, err
	}
	defer at.close()
	_, list := at.meant()
	if len(list) == 0 {
		return locations, nil
	}
	docs, err := at.family()
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		kind, src := at.view.kind(d.File), newText(string(d.Source))
		walk(d.Root, func(n *pack.Node) {
			if at.uses(kind, n, list, p.Context.IncludeDeclaration) {
				locations = append(locations, Location{URI: at.uri(d.File), Range: src.span(n.Start, n.End, s.units)})
			}
		})
	}
	return locations, nil
}

// uses reports whether a value names one of some declarations, or is one where those count too. The path of
// an overlay's setting uses what it leads into.
func (p *place) uses(kind string, n *pack.Node, list []declaration, too bool) bool {
	one, ok := named(kind, n)
	if !ok {
		return false
	}
	return slices.ContainsFunc(list, func(d declaration) bool {
		switch {
		case d.at.Document().File == n.Document().File && d.at.Start == n.Start:
			return too
		case one.kind == keyedPlace:
			at := d.whole.Document().Root.FindKeyed(one.text)
			return at != nil && d.kind != packID && d.kind != environment && at.Start >= d.whole.Start && at.End <= d.whole.End
		}
		return one.means(d)
	})
}

// family returns the packs that the document belongs to, or all for a catalog, the files beside them, and
// the catalogs.
func (p *place) family() ([]*pack.Document, error) {
	names, err := p.packsOf(p.doc.name)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Clone(names) {
		for _, folder := range []string{".", "golden", "overlays", "replay", "scorecards"} {
			dir := path.Join(path.Dir(name), folder)
			entries, err := fs.ReadDir(p.Files.Tree(), dir)
			if err != nil {
				continue // it has none
			}
			for _, e := range entries {
				if one := path.Join(dir, e.Name()); strings.HasSuffix(one, ".json") && !e.IsDir() && p.view.kind(one) != "" && p.view.kind(one) != "pack" {
					names = append(names, one)
				}
			}
		}
	}
	for _, e := range p.Environments {
		names = append(names, path.Clean(e.Document.File))
	}
	slices.Sort(names)
	return p.readAll(slices.Compact(names)), nil
}

// walk calls do for a value and all in it.
func walk(n *pack.Node, do func(*pack.Node)) {
	if n == nil {
		return
	}
	do(n)
	for _, m := range n.Members {
		walk(m.Value, do)
	}
	for _, item := range n.Items {
		walk(item, do)
	}
}

type symbol struct {
	Name      string   `json:"name"`
	Detail    string   `json:"detail,omitempty"`
	Kind      int      `json:"kind"`
	Range     Range    `json:"range"`
	Selection Range    `json:"selectionRange"`
	Children  []symbol `json:"children,omitempty"`
}

// The kinds of symbols: a member of a document, and a name that it declares.
const (
	propertySymbol = 7
	constantSymbol = 14
)

// symbols answers textDocument/documentSymbol: the members of a document, and below each the names that are
// declared in it.
func (s *server) symbols(p struct {
	TextDocument documentID `json:"textDocument"`
}) (any, error) {
	all := []symbol{}
	at, err := s.placeOf(placeParams{TextDocument: p.TextDocument})
	if err != nil || at == nil {
		return all, err
	}
	defer at.close()
	if at.tree == nil {
		return all, nil
	}
	names := declared(at.kind, at.tree)
	for _, m := range at.tree.Root.Members {
		if m.Value == nil {
			continue
		}
		one := symbol{Name: m.Name, Kind: propertySymbol, Range: at.doc.span(m.Start, m.Value.End, s.units), Selection: at.doc.span(m.Start, m.End, s.units)}
		for _, d := range names {
			if d.text != "" && d.at != m.Value && d.at.Start >= m.Value.Start && d.at.End <= m.Value.End {
				one.Children = append(one.Children, symbol{
					Name: d.text, Detail: string(d.kind), Kind: constantSymbol,
					Range: at.doc.span(d.whole.Start, d.whole.End, s.units), Selection: at.doc.span(d.at.Start, d.at.End, s.units),
				})
			}
		}
		all = append(all, one)
	}
	return all, nil
}

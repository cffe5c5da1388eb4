package lsp

import "github.com/contextosai/packgate/pack"

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
		locations = append(locations, at.nodeLocation(d.at, s.units))
	}
	return locations, nil
}

// nodeLocation returns where a value stands.
func (v *view) nodeLocation(n *pack.Node, units encoding) Location {
	d := n.Document()
	return Location{URI: v.uri(d.File), Range: newText(string(d.Source)).span(n.Start, n.End, units)}
}

package lsp

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// schemaName returns the name of the schema of a kind of file; "" for none.
func schemaName(kind string) string {
	switch kind {
	case "":
		return ""
	case "pack":
		return "context-pack"
	case "snapshot":
		return "compiled-context"
	}
	return kind
}

// closedSet returns the texts that a value can be by the schema of the file, with what it says of the
// value; none where they are not a closed set. The contract leaves the words for an approval mode to its
// text, so that packgate's own list stands for it.
func closedSet(kind, pointer string) (values []string, description string) {
	description, values = schemas.Described(schemaName(kind), pointer)
	if len(values) == 0 && strings.HasSuffix(pointer, "/approval_mode") && description != "" {
		for _, mode := range pack.ApprovalModes() {
			values = append(values, string(mode))
		}
	}
	return values, description
}

// closed returns the texts of a closed set that can be at a pointer of a file of some kind.
func closed(kind, pointer string) (list []candidate) {
	values, description := closedSet(kind, pointer)
	for _, value := range values {
		list = append(list, candidate{value, description})
	}
	return list
}

// memberAt returns the member in whose name an offset lies; nil for none.
func memberAt(n *pack.Node, offset int) *pack.Member {
	if n == nil || offset < n.Start || offset > n.End {
		return nil
	}
	for i := range n.Members {
		m := &n.Members[i]
		if offset >= m.Start && offset <= m.End {
			return m
		}
		if found := memberAt(m.Value, offset); found != nil {
			return found
		}
	}
	for _, item := range n.Items {
		if found := memberAt(item, offset); found != nil {
			return found
		}
	}
	return nil
}

// memberPage adds what the schema says of the member whose name is at the place, and returns its range.
func (p *place) memberPage(to *page, units encoding) *Range {
	if p.tree == nil {
		return nil
	}
	m := memberAt(p.tree.Root, p.offset)
	if m == nil || m.Value == nil {
		return nil
	}
	values, description := closedSet(p.kind, m.Value.Pointer())
	if description == "" {
		return nil
	}
	if to.markdown {
		to.add("**%s** %s", strings.NewReplacer("*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(m.Name), description)
	} else {
		to.add("%s: %s", m.Name, description)
	}
	if len(values) > 0 {
		to.add("One of %s.", strings.Join(values, ", "))
	}
	r := p.doc.span(m.Start, m.End, units)
	return &r
}

// mostNear is for how many findings of a range the nearest name is looked for.
const mostNear = 200

// nearNames are the quick fixes of findings about names that nothing declares: the name that is nearest to
// each, of those that can be there. The document is read once for all of them.
func (s *server) nearNames(p codeActionParams, wanted []found) (actions []CodeAction, err error) {
	at, err := s.placeOf(placeParams{TextDocument: p.TextDocument, Position: p.Range.Start})
	if err != nil || at == nil {
		return nil, err
	}
	defer at.close()
	for _, f := range wanted[:min(len(wanted), mostNear)] {
		action, ok := at.nearest(s, f)
		if ok && !slices.ContainsFunc(actions, func(other CodeAction) bool { return other.Title == action.Title }) {
			actions = append(actions, action)
		}
	}
	return actions, nil
}

// nearest returns the quick fix of a finding whose place is a name that nothing declares.
func (p *place) nearest(s *server, f found) (CodeAction, bool) {
	if p.tree == nil || f.Fix != nil {
		return CodeAction{}, false
	}
	p.node = p.tree.Root.Find(f.Location.Pointer)
	if p.node == nil || p.node.Kind != pack.String || p.node.Start != f.Location.Start.Offset {
		return CodeAction{}, false
	}
	n, ok := named(p.kind, p.node)
	if _, declared := p.meant(); !ok || len(declared) > 0 {
		return CodeAction{}, false
	}
	var known []string
	for _, c := range p.candidates(n.kind) {
		known = append(known, c.text)
	}
	near := schemas.Nearest(p.node.Text, known)
	if near == "" {
		return CodeAction{}, false
	}
	src := p.doc.src[:p.node.Start] + pack.CompactJSON(near) + p.doc.src[p.node.End:]
	return CodeAction{
		Title: "change it to " + near, Kind: quickFix, Diagnostics: []Diagnostic{f.diagnostic}, Edit: s.edit(p.doc, src),
	}, true
}

package pack

// KeyedForm returns the value of a whole document in the form in which two
// versions are compared: every array whose items have names in keyed paths is
// an object of those names, all else is as in Any. The index leads from keyed
// paths to the values that stand there. Formatting, member order and the order
// of named items do not show in the form; the order of all other arrays does.
func (d *Document) KeyedForm() (form any, index *PathIndex) {
	if d.Root == nil {
		return nil, new(PathIndex)
	}
	b := formBuilder{d.names()}
	return b.form(d.Root, contract), &PathIndex{d.Root, b.names, map[*Node]map[string]placed{}}
}

type formBuilder struct {
	names map[*Node][]string
}

func (b *formBuilder) form(n *Node, s *shape) any {
	switch n.Kind {
	case Array:
		return b.array(n, s)
	case Object:
		m := make(map[string]any, len(n.Members))
		b.members(n, s, m)
		if s.listed() {
			// An object where an array of named items belongs must not look
			// like one.
			return []any{m}
		}
		return m
	}
	return n.Any()
}

func (b *formBuilder) array(n *Node, s *shape) any {
	if !s.listed() {
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = b.form(item, nil)
		}
		return items
	}
	m := make(map[string]any, len(n.Items))
	for i, name := range b.names[n] {
		m[name] = b.form(n.Items[i], s.item)
	}
	return m
}

func (b *formBuilder) members(n *Node, s *shape, into map[string]any) {
	for _, m := range n.Members {
		inner := s.member(m.Name)
		if inner.elided() && m.Value.Kind == Object && len(m.Value.Members) > 0 {
			b.elided(m, inner, into)
			continue
		}
		into[m.Name] = b.form(m.Value, inner)
	}
}

// elided adds the members of a value that paths leave out to the object around
// it, except those that the object has itself.
func (b *formBuilder) elided(m Member, s *shape, into map[string]any) {
	outer := map[string]bool{}
	for _, neighbour := range m.Value.Parent.Members {
		outer[neighbour.Name] = true
	}
	kept := map[string]any{}
	for _, inner := range m.Value.Members {
		target := into
		if outer[inner.Name] {
			target = kept
		}
		target[inner.Name] = b.form(inner.Value, s.member(inner.Name))
	}
	if len(kept) > 0 {
		into[m.Name] = kept
	}
}

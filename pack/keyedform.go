package pack

import "sync"

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
	return b.form(d.Root, contract), d.index()
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

// PathIndex leads from keyed paths to the values of one document. It remembers
// what it has looked up, so that many lookups in a wide document cost little
// each; it holds no paths, since those of all values together can be far larger
// than the document.
type PathIndex struct {
	root  *Node
	names map[*Node][]string
	lock  sync.Mutex
	below map[*Node]map[string]placed // of objects and of arrays with names
}

// placed is a value with its shape.
type placed struct {
	node  *Node
	shape *shape
}

// Find returns the value that a keyed path names, or nil. A path that KeyedPath
// gives for no value names none.
func (x *PathIndex) Find(path string) *Node { return x.find(path, true) }

// find is Find, which is strict, or takes paths that lead through what they could
// leave out.
func (x *PathIndex) find(path string, strict bool) *Node {
	segments, ok := SplitPointer(path)
	if !ok || x.root == nil {
		return nil
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	at := placed{x.root, contract}
	var outer map[string]placed // the table that at was taken from
	for _, segment := range segments {
		var next placed
		switch {
		case at.node.Kind == Object:
			table := x.members(at)
			next = table[segment]
			if strict && at.shape.elided() && outer[segment].node == next.node {
				return nil // its path does not lead through here
			}
			outer = table
		case at.shape.listed():
			next, outer = x.items(at)[segment], nil
		default:
			next, outer = placed{node: at.node.child(segment)}, nil
		}
		if next.node == nil {
			return nil
		}
		at = next
	}
	return at.node
}

// members returns the values one segment below an object: its members, and those
// of a member that paths leave out. Of duplicates the last one counts.
func (x *PathIndex) members(at placed) map[string]placed {
	if table, ok := x.below[at.node]; ok {
		return table
	}
	table := make(map[string]placed, len(at.node.Members))
	add := func(object *Node, s *shape) {
		for i := len(object.Members) - 1; i >= 0; i-- {
			m := object.Members[i]
			if _, taken := table[m.Name]; !taken {
				table[m.Name] = placed{m.Value, s.member(m.Name)}
			}
		}
	}
	add(at.node, at.shape)
	for _, m := range at.node.Members {
		if inner := at.shape.member(m.Name); inner.elided() && m.Value.Kind == Object {
			add(m.Value, inner)
		}
	}
	x.below[at.node] = table
	return table
}

// items returns the items of an array whose items have names.
func (x *PathIndex) items(at placed) map[string]placed {
	if table, ok := x.below[at.node]; ok {
		return table
	}
	names := x.names[at.node]
	table := make(map[string]placed, len(names))
	for i, name := range names {
		table[name] = placed{at.node.Items[i], at.shape.item}
	}
	x.below[at.node] = table
	return table
}

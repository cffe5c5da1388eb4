package pack

// PathIndex leads from keyed paths to the values of one document. It remembers
// what it has looked up, so that many lookups in a wide document cost little
// each; it holds no paths, since those of all values together can be far larger
// than the document. It is for one goroutine.
type PathIndex struct {
	root  *Node
	names map[*Node][]string
	below map[*Node]map[string]placed // of objects and of arrays with names
}

// placed is a value with its shape.
type placed struct {
	node  *Node
	shape *shape
}

// Find returns the value that a keyed path names, or nil. A path that KeyedPath
// gives for no value names none.
func (x *PathIndex) Find(path string) *Node {
	segments, ok := SplitPointer(path)
	if !ok || x.root == nil {
		return nil
	}
	at := placed{x.root, contract}
	var outer map[string]placed // the table that at was taken from
	for _, segment := range segments {
		var next placed
		switch {
		case at.node.Kind == Object:
			table := x.members(at)
			next = table[segment]
			if at.shape.elided() && outer[segment].node == next.node {
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

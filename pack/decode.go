package pack

import (
	"reflect"
	"strings"
)

// Decode reads an object into a struct made of Field, List, Dict, *Node and
// structs that embed Part, by the names in the json tags. Members of the wrong
// type leave their field with OK false; nothing fails, because the schema gate
// reports types and every other rule is to see what can be read.
func Decode(n *Node, into any) {
	decodeStruct(n, reflect.ValueOf(into).Elem())
}

// New returns the typed pack over a document's root, or nil where the document
// could not be read or its root is no object.
func New(d *Document) *Pack {
	if d.Root == nil || d.Root.Kind != Object {
		return nil
	}
	p := new(Pack)
	Decode(d.Root, p)
	return p
}

// decoder is what knows itself how to read a node.
type decoder interface{ decode(n *Node) }

func (f *Field[T]) decode(n *Node) {
	f.Node = n
	switch v := any(&f.Value).(type) {
	case *string:
		if f.OK = n.Kind == String; f.OK {
			*v = n.Text
		}
	case *float64:
		if f.OK = n.Kind == Number; f.OK {
			*v = n.Number
		}
	case *bool:
		if f.OK = n.Kind == Bool; f.OK {
			*v = n.Bool
		}
	}
}

func (l *List[T]) decode(n *Node) {
	l.Node, l.OK = n, n.Kind == Array
	l.Items = make([]T, len(n.Items))
	for i, item := range n.Items {
		decodeValue(item, reflect.ValueOf(&l.Items[i]).Elem())
	}
}

func (d *Dict[T]) decode(n *Node) {
	d.Node, d.OK = n, n.Kind == Object
	d.Entries = make([]Entry[T], len(n.Members))
	for i, m := range n.Members {
		d.Entries[i].Name = m.Name
		decodeValue(m.Value, reflect.ValueOf(&d.Entries[i].Value).Elem())
	}
}

var nodeType = reflect.TypeFor[*Node]()

func decodeValue(n *Node, v reflect.Value) {
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(n))
		return
	}
	if d, ok := v.Addr().Interface().(decoder); ok {
		d.decode(n)
		return
	}
	decodeStruct(n, v)
}

func decodeStruct(n *Node, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			v.Field(i).Set(reflect.ValueOf(Part{Node: n}))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if m := n.Get(name); m != nil {
			decodeValue(m, v.Field(i))
		}
	}
}

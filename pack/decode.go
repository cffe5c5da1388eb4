package pack

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Decode reads an object into a struct made of Field, List, Dict, *Node and
// structs that embed Part, by the names in the json tags. Members of the wrong
// type leave their field with OK false; nothing fails, because the schema gate
// reports types and every other rule is to see what can be read.
//
// A Text is the name of something, and so is the member's name in a Dict, unless
// the field is tagged text:"prose". A name with a control character has no place
// where names are printed, compared and joined: it is read like one of the wrong
// type, and is among the faults that are returned, of kind Control.
func Decode(n *Node, into any) []Fault {
	var d decoding
	d.object(n, reflect.ValueOf(into).Elem())
	return d.faults
}

// New returns the typed pack over a document's root, or nil where the document
// could not be read or its root is not an object.
func New(d *Document) *Pack {
	if d.Root == nil || d.Root.Kind != Object {
		return nil
	}
	p := new(Pack)
	p.Faults = Decode(d.Root, p)
	return p
}

// decoding is one run of Decode.
type decoding struct {
	prose  bool // the texts of the member that is read are prose, and no names
	faults []Fault
}

// isName reports whether a text can be a name, and notes a fault at its place where
// it cannot.
func (d *decoding) isName(text string, n *Node, member bool) bool {
	at := strings.IndexFunc(text, isControl)
	if at < 0 {
		return true
	}
	if len(d.faults) == mostFaults {
		return false
	}
	what, location := "this name", n.Location()
	if member {
		what, location = "the member's name", n.NameLocation()
	}
	control := []rune(text[at:])[0]
	d.faults = append(d.faults, Fault{Kind: Control, Location: location,
		Message: fmt.Sprintf("%s holds a control character, U+%04X: %s", what, control, quote(text)),
		Hint:    "delete the control character, or choose another name"})
	return false
}

// isControl reports whether a character is a control of Unicode (category Cc), or
// separates lines as one does.
func isControl(c rune) bool { return unicode.Is(unicode.Cc, c) || c == '\u2028' || c == '\u2029' }

// decoder is what knows itself how to read a node.
type decoder interface {
	decode(n *Node, d *decoding)
}

func (f *Field[T]) decode(n *Node, d *decoding) {
	f.Node = n
	switch v := any(&f.Value).(type) {
	case *string:
		if f.OK = n.Kind == String && (d.prose || d.isName(n.Text, n, false)); f.OK {
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

func (l *List[T]) decode(n *Node, d *decoding) {
	l.Node, l.OK = n, n.Kind == Array
	l.Items = make([]T, len(n.Items))
	for i, item := range n.Items {
		d.value(item, reflect.ValueOf(&l.Items[i]).Elem())
	}
}

func (t *Dict[T]) decode(n *Node, d *decoding) {
	t.Node, t.OK = n, n.Kind == Object
	t.Entries = make([]Entry[T], 0, len(n.Members))
	for _, m := range n.Members {
		if !d.isName(m.Name, m.Value, true) {
			t.OK = false
			continue
		}
		t.Entries = append(t.Entries, Entry[T]{Name: m.Name})
		d.value(m.Value, reflect.ValueOf(&t.Entries[len(t.Entries)-1].Value).Elem())
	}
}

var nodeType = reflect.TypeFor[*Node]()

func (d *decoding) value(n *Node, v reflect.Value) {
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(n))
		return
	}
	if own, ok := v.Addr().Interface().(decoder); ok {
		own.decode(n, d)
		return
	}
	d.object(n, v)
}

func (d *decoding) object(n *Node, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		field := t.Field(i)
		name := field.Tag.Get("json")
		if name == "-" {
			continue
		}
		if field.Anonymous {
			v.Field(i).Set(reflect.ValueOf(Part{Node: n}))
			continue
		}
		if m := n.Get(name); m != nil {
			d.prose = field.Tag.Get("text") == "prose"
			d.value(m, v.Field(i))
		}
	}
}

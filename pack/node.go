package pack

import (
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
)

// Kind is the type of a JSON value.
type Kind uint8

// The JSON types (RFC 8259, section 3), true and false as one.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the type's name with its article, as messages use it: "a
// string", "an object", "null".
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is one value of a document. Start and End are byte offsets, half-open.
// Which of the other fields count depends on Kind.
type Node struct {
	Kind       Kind
	Bool       bool
	Start, End int
	Text       string  // the decoded string, or the literal of a number
	Number     float64 // the number; always finite
	Members    []Member
	Items      []*Node

	// Parent is the object or array that holds the value, nil for the root, and
	// Index its place in the parent's Members or Items.
	Parent *Node
	Index  int

	doc *Document // set on the root alone
}

// Member is one name and value of an object, in document order. Start and End
// are the byte offsets of the name with its quotes.
type Member struct {
	Name       string
	Start, End int
	Value      *Node
}

// Get returns the value of the object's member of that name, or nil where n is
// no object or has no such member. Of duplicates the last one counts, as in
// most JSON readers.
func (n *Node) Get(name string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// Root returns the root of the document that n belongs to.
func (n *Node) Root() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// Document returns the document that n was read from.
func (n *Node) Document() *Document { return n.Root().doc }

// Name returns the member name that n is under, and whether it stands
// under one (items and the root do not).
func (n *Node) Name() (name string, ok bool) {
	if n.Parent == nil || n.Parent.Kind != Object {
		return "", false
	}
	return n.Parent.Members[n.Index].Name, true
}

// Pointer returns the JSON Pointer (RFC 6901) of the value; "" for the root.
func (n *Node) Pointer() string {
	pointer := ""
	for ; n.Parent != nil; n = n.Parent {
		segment, ok := n.Name()
		if !ok {
			segment = strconv.Itoa(n.Index)
		}
		pointer = "/" + EscapeSegment(segment) + pointer
	}
	return pointer
}

// Any returns the value as encoding/json would decode it into an any:
// map[string]any, []any, string, float64, bool or nil.
func (n *Node) Any() any {
	switch n.Kind {
	case Object:
		m := make(map[string]any, len(n.Members))
		for _, member := range n.Members {
			m[member.Name] = member.Value.Any()
		}
		return m
	case Array:
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Any()
		}
		return items
	case String:
		return n.Text
	case Number:
		return n.Number
	case Bool:
		return n.Bool
	}
	return nil
}

// TextOf returns the text of a string, "" for any other value and for nil.
func TextOf(n *Node) string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Raw returns the value's text as it is in the document.
func (n *Node) Raw() string { return string(n.Document().Source[n.Start:n.End]) }

// Location returns where the value stands.
func (n *Node) Location() finding.Location { return n.locate(n.Start, n.End) }

// NameLocation returns where the name of the value's member stands, and the
// value's own place where it has no name.
func (n *Node) NameLocation() finding.Location {
	if n.Parent == nil || n.Parent.Kind != Object {
		return n.Location()
	}
	m := n.Parent.Members[n.Index]
	return n.locate(m.Start, m.End)
}

func (n *Node) locate(start, end int) finding.Location {
	d := n.Document()
	return finding.Location{
		File:     d.File,
		Revision: d.Revision,
		Start:    d.Position(start),
		End:      d.Position(end),
		Pointer:  n.Pointer(),
		Path:     n.KeyedPath(),
	}
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")
var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// EscapeSegment escapes one segment of a pointer or keyed path (RFC 6901,
// section 3): ~ becomes ~0 and / becomes ~1.
func EscapeSegment(s string) string { return pointerEscaper.Replace(s) }

// SplitPointer returns the unescaped segments of a pointer or keyed path. ok is
// false where it is neither empty nor begins with a slash.
func SplitPointer(p string) (segments []string, ok bool) {
	if p == "" {
		return nil, true
	}
	if p[0] != '/' {
		return nil, false
	}
	segments = strings.Split(p[1:], "/")
	for i, s := range segments {
		if strings.Contains(s, "~") {
			segments[i] = pointerUnescaper.Replace(s)
		}
	}
	return segments, true
}

// JoinPointer returns the pointer or keyed path of segments.
func JoinPointer(segments []string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(EscapeSegment(s))
	}
	return b.String()
}

// Find returns the value below n that a JSON Pointer names, or nil.
func (n *Node) Find(pointer string) *Node {
	segments, ok := SplitPointer(pointer)
	if !ok {
		return nil
	}
	for _, s := range segments {
		if n = n.child(s); n == nil {
			return nil
		}
	}
	return n
}

// child returns the member or item that one pointer segment names, or nil.
func (n *Node) child(segment string) *Node {
	if n.Kind == Array {
		i, err := strconv.Atoi(segment)
		if err != nil || i < 0 || i >= len(n.Items) || strconv.Itoa(i) != segment {
			return nil
		}
		return n.Items[i]
	}
	return n.Get(segment)
}

package jsonlogic

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Expr is a compiled expression. It never changes and may be used by several
// goroutines at once.
type Expr struct {
	source    *pack.Node
	root      *node
	variables []Variable
	result    *Result // of an expression that reads nothing
}

// Variable is one place at which an expression reads data, by "var" or as a key
// of "missing" or "missing_some".
type Variable struct {
	Path   string     // dotted, such as "request.context.amount"; "" is the whole item
	Node   *pack.Node // the literal path
	Scoped bool       // read from the item of an iterator and not from the context
}

// Problem is one way in which an expression is outside the profile (SCH011).
type Problem struct {
	Node    *pack.Node // the value at fault
	Message string     // what is there and what was wanted
	Hint    string     // what to do; may be empty
}

// node is one operation, list or constant of the compiled tree. Which of the
// fields from value on count depends on op.
type node struct {
	op     opcode
	name   string     // the operator as written, "" for constants and lists
	source *pack.Node // where it stands
	args   []*node    // operands; for opVar the default, if there is one
	key    Key        // of what is written: operator, paths and operands; not of constants

	constant bool // value is what it evaluates to, always
	value    any
	pure     bool // reads nothing; noted of operands while they are compiled

	path  path   // opVar
	label string // opVar: what messages call it

	keys []key // opMissing, opMissingSome: the keys, if all are plain literals

	members []any            // opIn: the list to search, if it is a literal of scalars
	index   map[any]struct{} // opIn: the same, where it is long

	// variable is the path of the first variable that the value depends on.
	variable string
}

func constantNode(source *pack.Node, v any) *node {
	return &node{op: opConstant, source: source, constant: true, value: v}
}

// operation returns the node of an operation on operands that have their keys.
func operation(op opcode, name string, source *pack.Node, args ...*node) *node {
	n := &node{op: op, name: name, source: source, args: args, variable: firstVariable(args)}
	n.identify()
	return n
}

// key is one literal key of "missing": the value that is reported back and the
// path it names.
type key struct {
	value any
	path  path
}

// Node returns the value that the expression was compiled from.
func (x *Expr) Node() *pack.Node { return x.source }

// Variables returns every place at which the expression reads data, in the
// order of the document. A path that is read twice is listed twice.
func (x *Expr) Variables() []Variable { return slices.Clone(x.variables) }

// Reads returns the paths that the expression reads of a request, each once, in
// the order in which they are first read.
func (x *Expr) Reads() []string {
	var paths []string
	seen := map[string]bool{}
	for _, v := range x.variables {
		if !v.Scoped && !seen[v.Path] {
			seen[v.Path] = true
			paths = append(paths, v.Path)
		}
	}
	return paths
}

// Key identifies a condition by its JSON value. The keys of two conditions are
// equal exactly if their values are, where 1, 1.0 and 1e0 are one number and two
// strings are equal if their characters are, however they are escaped. A key is a
// SHA-256 digest of a form in which every part states its type and its length, so
// that no choice of names makes two conditions share one.
type Key [sha256.Size]byte

// KeyOf returns the key of a condition that need not be compiled. Of an object
// with several members, which no condition has, the order counts too. A nil node
// has the zero key.
func KeyOf(n *pack.Node) Key {
	if n == nil {
		return Key{}
	}
	return sha256.Sum256(appendValue(nil, n))
}

// appendValue appends a JSON value so that no form is the beginning of another.
func appendValue(b []byte, n *pack.Node) []byte {
	if scalar(n) {
		return appendScalar(b, n.Any())
	}
	b = append(b, byte(n.Kind))
	switch n.Kind {
	case pack.Array:
		b = binary.AppendUvarint(b, uint64(len(n.Items)))
		for _, item := range n.Items {
			b = appendValue(b, item)
		}
	case pack.Object:
		b = binary.AppendUvarint(b, uint64(len(n.Members)))
		for i := range n.Members {
			b = appendValue(appendText(b, n.Members[i].Name), n.Members[i].Value)
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// identify gives an operation its key, which is that of its operator, its paths
// and the keys of its operands: two operations share one exactly if they are
// written the same, wherever they stand.
func (n *node) identify() {
	var room [256]byte
	b := append(room[:0], byte(n.op))
	if n.op == opVar {
		b = appendText(b, n.path.text)
	}
	b = binary.AppendUvarint(b, uint64(len(n.args)))
	for _, arg := range n.args {
		if arg.op == opConstant {
			b = appendScalar(append(b, 0), arg.value)
		} else {
			b = append(append(b, 1), arg.key[:]...)
		}
	}
	if n.args == nil {
		for i := range n.keys {
			b = appendText(b, n.keys[i].path.text)
		}
	}
	n.key = sha256.Sum256(b)
}

// appendScalar appends a scalar so that no form is the beginning of another.
func appendScalar(b []byte, v any) []byte {
	switch t := v.(type) {
	case bool:
		return append(b, byte(pack.Bool), byte(btoi(t)))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, byte(pack.Number)), math.Float64bits(t+0)) // -0 is 0
	case string:
		return appendText(append(b, byte(pack.String)), t)
	}
	return append(b, byte(pack.Null))
}

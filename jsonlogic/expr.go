package jsonlogic

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Expr is a compiled expression. It never changes and may be used by several
// goroutines at once.
type Expr struct {
	source    *pack.Node
	key       Key
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

// constantNode returns the node of a scalar.
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

// sortVariables puts variables into document order.
func sortVariables(variables []Variable) {
	slices.SortStableFunc(variables, func(a, b Variable) int { return cmp.Compare(a.Node.Start, b.Node.Start) })
}

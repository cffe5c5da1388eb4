package jsonlogic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/contextosai/packgate/pack"
)

// Bounds of one expression. Depth counts operators and literal lists, size
// counts expressions; the scalars of a literal list are free, for long lists of
// codes are common and cost nothing to search.
const (
	maxDepth = 64
	maxNodes = 10_000
	// indexFrom is the length from which a hash index of a literal list is faster
	// than looking through it.
	indexFrom = 16
)

// watched is called with every expression that is compiled; nil for no function.
var watched atomic.Pointer[func(*pack.Node)]

// Watch has a function told of every expression that is compiled until stop is called.
// It measures what a run does; the function may be called by several goroutines.
func Watch(f func(*pack.Node)) (stop func()) {
	watched.Store(&f)
	return func() { watched.Store(nil) }
}

// Compile checks an expression against the JsonLogic profile and compiles it.
// It returns every problem, in document order; the expression is nil exactly if
// there are any. A nil node has one problem, without a place.
//
// Parts that read nothing are evaluated here and not again, within bounds of their
// own; what exceeds them is unknown.
func Compile(n *pack.Node) (*Expr, []Problem) { return (*Budget)(nil).Compile(n) }

// Compile is the function Compile on the account, which counts the steps of
// evaluating constant parts. What it does not suffice for is unknown, so that the
// expression should not be kept where Err says that the account has ended.
func (b *Budget) Compile(n *pack.Node) (*Expr, []Problem) {
	if n == nil {
		return nil, []Problem{{Message: "the expression is missing", Hint: "write a JsonLogic expression, or true"}}
	}
	if f := watched.Load(); f != nil {
		(*f)(n)
	}
	c := &compiler{constants: newEvaluation(b, maxConstantSteps)}
	root := c.expression(n, 1, scope{})
	if len(c.problems) > 0 {
		slices.SortStableFunc(c.problems, func(a, b Problem) int { return cmp.Compare(a.Node.Start, b.Node.Start) })
		return nil, c.problems
	}
	slices.SortStableFunc(c.variables, func(a, b Variable) int { return cmp.Compare(a.Node.Start, b.Node.Start) })
	x := &Expr{source: n, root: root, variables: c.variables}
	if c.finish(root) {
		c.fold(root)
		result := x.Eval(nil)
		x.result = &result
	}
	c.constants.close()
	return x, nil
}

type compiler struct {
	problems  []Problem
	variables []Variable
	constants evaluation // of the parts that read nothing
	nodes     int
	tooDeep   bool // said already
	tooLarge  bool // said already
}

// report notes a problem and returns a placeholder, so that compiling goes on
// and finds the others.
func (c *compiler) report(n *pack.Node, hint, format string, args ...any) *node {
	c.problems = append(c.problems, Problem{Node: n, Message: fmt.Sprintf(format, args...), Hint: hint})
	return &node{source: n}
}

// once reports that an expression is too large, the first time.
func (c *compiler) once(said *bool, n *pack.Node, message string) *node {
	if *said {
		return &node{source: n}
	}
	*said = true
	return c.report(n, "split the rule", "%s", message)
}

// scope is where the variables of an expression come from: the context, or the
// item of an iterator over a list that depends on the variable of that path.
type scope struct {
	item bool
	list string
}

func (c *compiler) expression(n *pack.Node, depth int, in scope) *node {
	if c.nodes++; c.nodes > maxNodes {
		return c.once(&c.tooLarge, n, fmt.Sprintf("the expression has more than %d operators and operands", maxNodes))
	}
	if scalar(n) {
		return constantNode(n, n.Any())
	}
	if depth > maxDepth {
		return c.once(&c.tooDeep, n, fmt.Sprintf("the expression is nested deeper than %d levels", maxDepth))
	}
	if n.Kind == pack.Array {
		return c.list(n, depth, in)
	}
	return c.operation(n, depth, in)
}

// list compiles a literal list. Its scalars do not count as nodes.
func (c *compiler) list(n *pack.Node, depth int, in scope) *node {
	list := &node{op: opList, source: n, args: make([]*node, 0, len(n.Items))}
	for _, item := range n.Items {
		if scalar(item) {
			list.args = append(list.args, constantNode(item, item.Any()))
			continue
		}
		list.args = append(list.args, c.expression(item, depth+1, in))
	}
	list.variable = firstVariable(list.args)
	return list
}

func scalar(n *pack.Node) bool { return n.Kind != pack.Array && n.Kind != pack.Object }

// operation compiles an object, which is an operator with its operands.
func (c *compiler) operation(n *pack.Node, depth int, in scope) *node {
	switch len(n.Members) {
	case 1:
	case 0:
		return c.report(n, `write an operation such as {"var": "request.intent"}`, "an object without members, wanted one operator")
	default:
		return c.report(n, `combine several operations with "and" or "or"`, "an object with %d members, wanted one operator", len(n.Members))
	}
	name, operands := n.Members[0].Name, Operands(n.Members[0].Value)
	op, known := profile[name]
	if !known {
		c.operands(operands, depth, in)
		return c.unknownOperator(n, name)
	}
	if len(operands) < op.least || op.most != unlimited && len(operands) > op.most {
		c.report(n, "", "operator %q has %s, wanted %s", name, pack.Counted(len(operands), "operand"), op.wanted())
		c.operands(operands, depth, in)
		return &node{source: n}
	}
	result := &node{op: op.code, name: name, source: n}
	switch {
	case op.code == opVar:
		c.variable(result, operands, depth, in)
		return result
	case op.code.iterates():
		list := c.expression(operands[0], depth+1, in)
		items := scope{item: true, list: list.variable}
		result.args = []*node{list, c.expression(operands[1], depth+1, items)}
		if op.code == opReduce {
			result.args = append(result.args, c.expression(operands[2], depth+1, in))
		}
	default:
		result.args = c.operands(operands, depth, in)
	}
	result.variable = firstVariable(result.args)
	switch op.code {
	case opMissing, opMissingSome:
		c.missing(result, operands, in)
	case opIn:
		result.indexMembers()
	}
	return result
}

// Operands returns the operands of an operator; one may stand bare.
func Operands(value *pack.Node) []*pack.Node {
	if value.Kind == pack.Array {
		return value.Items
	}
	return []*pack.Node{value}
}

func (c *compiler) operands(operands []*pack.Node, depth int, in scope) []*node {
	args := make([]*node, len(operands))
	for i, operand := range operands {
		args[i] = c.expression(operand, depth+1, in)
	}
	return args
}

// maxShown bounds how much of an unknown name a message repeats.
const maxShown = 32

func (c *compiler) unknownOperator(n *pack.Node, name string) *node {
	hint := "use one of " + strings.Join(slices.Sorted(maps.Keys(profile)), " ")
	if nearest := nearestOperator(name); nearest != "" {
		hint = fmt.Sprintf("write %q", nearest)
	}
	shown := []rune(name)
	if len(shown) > maxShown {
		shown = append(shown[:maxShown], '…')
	}
	return c.report(n, hint, "unknown operator %q, wanted one of the JsonLogic profile", string(shown))
}

// firstVariable returns the first variable that one of several values depends
// on, "" if none does.
func firstVariable(args []*node) string {
	for _, arg := range args {
		if arg.variable != "" {
			return arg.variable
		}
	}
	return ""
}

// indexMembers prepares a search in a literal list of scalars.
func (n *node) indexMembers() {
	list := n.args[1]
	if list.op != opList {
		return
	}
	members := make([]any, 0, len(list.args))
	for _, item := range list.args {
		if item.op != opConstant {
			return
		}
		members = append(members, item.value)
	}
	n.members = members
	if len(members) < indexFrom {
		return
	}
	n.index = make(map[any]struct{}, len(members))
	for _, member := range members {
		n.index[member] = struct{}{}
	}
}

// Bounds of the constant parts of one expression: the steps of evaluating them, and
// how large a value may be, in items and in pieces of text.
const (
	maxConstantSteps = 100_000
	maxConstantSize  = 100_000
)

// finish goes through an expression that was just compiled. It gives each operation
// its key, and evaluates the parts that read nothing, once and for all. It reports
// whether the expression reads nothing.
func (c *compiler) finish(n *node) bool {
	if n.constant {
		return true
	}
	reads := n.op == opVar || n.op == opMissing || n.op == opMissingSome
	for i, arg := range n.args {
		arg.pure = c.finish(arg)
		// The body of an iterator reads items, which are constant where the list is.
		reads = reads || !arg.pure && !(n.op.iterates() && i == 1)
	}
	n.identify()
	if reads {
		for _, arg := range n.args {
			if arg.pure {
				c.fold(arg)
			}
		}
	}
	return !reads
}

// fold evaluates a part that reads nothing. What takes too many steps or is too
// large is unknown.
func (c *compiler) fold(n *node) {
	if n.constant {
		return
	}
	v := c.constants.eval(n, nil)
	if c.constants.spent() {
		v = c.constants.exhausted(n)
	}
	size := maxConstantSize
	if !small(v, &size) {
		v = n.undecided(-1, "the constant has more than %d items", maxConstantSize)
	}
	n.constant, n.value = true, v
}

// small says whether a value has no more parts than so many, and takes them off.
func small(v any, parts *int) bool {
	*parts--
	switch t := v.(type) {
	case string:
		*parts -= len(t) / bytesPerStep
	case []any:
		for i := 0; i < len(t) && *parts >= 0; i++ {
			small(t[i], parts)
		}
	case map[string]any:
		for _, member := range t {
			if *parts < 0 || !small(member, parts) {
				break
			}
		}
	}
	return *parts >= 0
}

package jsonlogic

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
)

// maxIndexPath is the largest number that a path may be; beyond it a number's
// text is no longer what was written.
const maxIndexPath = 1 << 53

// variable compiles "var": a literal path and an optional default.
func (c *compiler) variable(result *node, operands []*pack.Node, depth int, in scope) {
	if len(operands) == 2 {
		result.args = []*node{c.expression(operands[1], depth+1, in)}
	}
	// The path is an operand like any other to the size of the expression.
	c.nodes++
	literal := operands[0]
	text, ok := pathText(literal)
	switch {
	case !ok && scalar(literal):
		c.report(literal, `write a path such as "request.intent"`, "the path of \"var\" is %s, wanted a string", literal.Kind)
		return
	case !ok:
		c.report(literal, `write the path out, and choose between variables with "if"`, "the path of \"var\" is computed, wanted a literal string")
		return
	case text == "" && !in.item:
		c.report(literal, `write a path such as "request.intent"`, "the path of \"var\" is empty, wanted the name of a variable")
		return
	case c.badPath(literal, `the path of "var"`, text):
		return
	}
	result.path = parsePath(text)
	result.variable = text
	result.label = label(text, in)
	if text == "" {
		result.variable = in.list
	}
	c.variables = append(c.variables, Variable{Path: text, Node: literal, Scoped: in.item})
}

// badPath reports a path that names nothing of a request: with characters that
// cannot be seen, or deeper than requests are nested.
func (c *compiler) badPath(n *pack.Node, what, text string) bool {
	if at := strings.IndexFunc(text, unicode.IsControl); at >= 0 {
		r, _ := utf8.DecodeRuneInString(text[at:])
		c.report(n, "write the name without it", "%s has the control character %U, wanted names that can be read", what, r)
		return true
	}
	if names := strings.Count(text, ".") + 1; names > maxDepth {
		c.report(n, "", "%s has %d names, wanted at most %d", what, names, maxDepth)
		return true
	}
	return false
}

// label is what messages call a variable.
func label(path string, in scope) string {
	name := fmt.Sprintf("variable %q", path)
	if !in.item {
		return name
	}
	of := ""
	if in.list != "" {
		of = fmt.Sprintf(" of %q", in.list)
	}
	if path == "" {
		return "an item" + of
	}
	return name + " of an item" + of
}

// pathText returns the path that a literal stands for: a string, or a whole
// number, which is the index of an item.
func pathText(n *pack.Node) (string, bool) {
	switch {
	case n.Kind == pack.String:
		return n.Text, true
	case n.Kind == pack.Number && n.Number >= 0 && n.Number <= maxIndexPath && n.Number == math.Trunc(n.Number):
		return strconv.FormatFloat(n.Number, 'f', -1, 64), true
	}
	return "", false
}

// missing checks the keys of "missing" and "missing_some", notes them as
// variables, and prepares those that are plain literals.
func (c *compiler) missing(result *node, operands []*pack.Node, in scope) {
	if result.op == opMissingSome {
		if operands[1].Kind != pack.Array && operands[1].Kind != pack.Object {
			c.report(operands[1], "write the keys as a list", "the keys of %q are %s, wanted a list", result.name, operands[1].Kind)
			return
		}
		operands = operands[1:]
	}
	before := len(c.variables)
	for _, operand := range operands {
		c.key(result.name, operand, in)
	}
	if len(c.variables) > before && result.variable == "" {
		result.variable = c.variables[before].Path
	}
	if len(operands) == 1 && operands[0].Kind == pack.Array {
		operands = operands[0].Items
	}
	result.keys = plainKeys(operands)
}

// key checks one key, or one expression that gives keys. What is read has to be
// known without evaluation, so keys are literal wherever they can come from:
// lists, "merge", the branches of "if", and "missing" itself, whose own keys
// are checked where it is compiled.
func (c *compiler) key(operator string, n *pack.Node, in scope) {
	if text, ok := pathText(n); ok {
		if text == "" {
			c.report(n, `write a path such as "request.intent"`, "a key of %q is empty, wanted the name of a variable", operator)
			return
		}
		if !c.badPath(n, fmt.Sprintf("a key of %q", operator), text) {
			c.variables = append(c.variables, Variable{Path: text, Node: n, Scoped: in.item})
		}
		return
	}
	if n.Kind == pack.Array {
		c.keys(operator, n.Items, in)
		return
	}
	if n.Kind == pack.Object && len(n.Members) == 1 {
		operands := Operands(n.Members[0].Value)
		switch profile[n.Members[0].Name].code {
		case opMissing, opMissingSome:
			return
		case opMerge:
			c.keys(operator, operands, in)
			return
		case opIf:
			c.keys(operator, branches(operands), in)
			return
		}
	}
	if scalar(n) {
		c.report(n, `write a path such as "request.intent"`, "a key of %q is %s, wanted a string", operator, n.Kind)
		return
	}
	c.report(n, "write the keys out", "a key of %q is computed, wanted a literal string", operator)
}

func (c *compiler) keys(operator string, nodes []*pack.Node, in scope) {
	for _, n := range nodes {
		c.key(operator, n, in)
	}
}

// branches returns those operands of "if" that can be its value.
func branches(operands []*pack.Node) []*pack.Node {
	var values []*pack.Node
	for i, operand := range operands {
		if i%2 == 1 || i == len(operands)-1 {
			values = append(values, operand)
		}
	}
	return values
}

// plainKeys returns the keys if all of them are literals, else nil.
func plainKeys(nodes []*pack.Node) []key {
	keys := make([]key, 0, len(nodes))
	for _, n := range nodes {
		text, ok := pathText(n)
		if !ok {
			return nil
		}
		keys = append(keys, key{value: n.Any(), path: parsePath(text)})
	}
	return keys
}

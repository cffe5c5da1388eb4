package jsonlogic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// IsTruth reports whether the term is about an expression that is true or false by itself.
func (t Term) IsTruth() bool { return t.Path == "" && t.subject.isTruth() }

// Free reports whether the term is about an expression that proofs do not follow.
func (t Term) Free() bool { return t.Path == "" }

// Written returns the expression that the term is about as JsonLogic. Where the term is that a
// comparison is false, it is the comparison that is true then, and negated is false.
// Names gives the variables of the request other names.
func (t Term) Written(names func(path string) string) (n *pack.Node, negated bool) {
	s := *t.subject
	negated = t.IsTruth() && t.Values.False && !t.Values.True && !t.Values.Unknown
	opposites := map[opcode]opcode{opEqual: opNotEqual, opSame: opNotSame, opLess: opGreaterEqual, opLessEqual: opGreater, opGreater: opLessEqual, opGreaterEqual: opLess}
	if opposite, ok := opposites[s.op]; ok && negated && len(s.args) == 2 {
		s.op, negated = opposite, false
	}
	d, _ := pack.Read("condition", []byte(pack.CompactJSON(s.written(names, false))), pack.DefaultLimits())
	return d.Root, negated
}

// written returns an expression as decoded JSON.
func (n *node) written(names func(string) string, scoped bool) any {
	switch n.op {
	case opConstant:
		return n.value
	case opVar:
		path := n.path.text
		if !scoped {
			path = names(path)
		}
		if len(n.args) == 0 {
			return map[string]any{"var": path}
		}
		return map[string]any{"var": []any{path, n.args[0].written(names, scoped)}}
	}
	var operands []any
	for i, arg := range n.args {
		operands = append(operands, arg.written(names, scoped || n.op.iterates() && i > 0))
	}
	if n.args == nil {
		for _, k := range n.keys {
			operands = append(operands, names(k.path.text))
		}
	}
	if n.op == opList {
		return slices.Concat([]any{}, operands)
	}
	return map[string]any{n.op.name(): operands}
}

// name returns the operator as the profile names it.
func (c opcode) name() string {
	for name, o := range profile {
		if o.code == c && name != "?:" {
			return name
		}
	}
	return ""
}

// In reports whether one of the expressions has the expression that the term is about.
func (t Term) In(exprs []*Expr) bool {
	for _, x := range exprs {
		found := false
		x.root.walk(func(n *node) bool {
			same, _ := n.alike()
			found = found || n.key == t.subject.key || same.key == t.subject.key
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// String writes the cube so that two are written alike only if they say the same.
func (c Cube) String() string {
	var parts []string
	for _, t := range c.Terms {
		about := t.Path
		if t.Free() {
			about = pack.CompactJSON(t.subject.written(func(path string) string { return path }, false))
		}
		parts = append(parts, fmt.Sprintf("%q %v", about, t.Values))
	}
	return strings.Join(parts, " and ")
}

package jsonlogic

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
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
	c.keys(result.name, operands, in)
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
func branches[T any](operands []T) (values []T) {
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

// path is a variable's path: the text as it is written, and the same split at its
// dots. An empty path is the whole data.
type path struct {
	text  string
	steps []segment
}

// segment is one step of a path. Index is the item that it names in a list, -1
// if it names none.
type segment struct {
	name      string
	index     int
	inherited inheritance
}

// inheritance says on which values the reference finds a member of JavaScript
// itself under a name, where the data has none.
type inheritance uint8

const (
	ofNothing inheritance = iota
	ofScalars             // strings, numbers, booleans or lists have it
	ofAll                 // objects have it too
)

// inherited names the members that JavaScript's own values have (ECMAScript
// 2024, with the extensions of browsers).
const (
	inheritedByAll = " __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ " +
		"constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf "
	inheritedByScalars = " anchor at big blink bold charAt charCodeAt codePointAt concat copyWithin endsWith " +
		"entries every fill filter find findIndex findLast findLastIndex fixed flat flatMap fontcolor " +
		"fontsize forEach includes indexOf isWellFormed italics join keys lastIndexOf link localeCompare " +
		"map match matchAll normalize padEnd padStart pop push reduce reduceRight repeat replace " +
		"replaceAll reverse search shift slice small some sort splice split startsWith strike sub substr " +
		"substring sup toExponential toFixed toLocaleLowerCase toLocaleUpperCase toLowerCase toPrecision " +
		"toReversed toSorted toSpliced toUpperCase toWellFormed trim trimEnd trimLeft trimRight trimStart " +
		"unshift values with "
)

// inheritances are looked up for each name in each path, which is why they are a
// table.
var inheritances = sync.OnceValue(func() map[string]inheritance {
	table := map[string]inheritance{}
	for name := range strings.FieldsSeq(inheritedByScalars) {
		table[name] = ofScalars
	}
	for name := range strings.FieldsSeq(inheritedByAll) {
		table[name] = ofAll
	}
	return table
})

// parsePath splits a path as the reference does; "" is the whole data.
func parsePath(text string) path {
	p := path{text: text}
	if text == "" {
		return p
	}
	p.steps = make([]segment, 0, strings.Count(text, ".")+1)
	for name := range strings.SplitSeq(text, ".") {
		p.steps = append(p.steps, segment{name: name, index: parseIndex(name), inherited: inheritances()[name]})
	}
	return p
}

// parseIndex returns the index that a name is, -1 if it is none: digits without
// leading zeros, as JavaScript reads them.
func parseIndex(name string) int {
	index, err := strconv.Atoi(name)
	if err != nil || index < 0 || len(name) > 9 || strconv.Itoa(index) != name {
		return -1
	}
	return index
}

// outcome says what became of a lookup.
type outcome uint8

const (
	found outcome = iota
	absent
	undefinable // there, but nothing that JSON can hold: see the reason
)

// lookup follows a path through data. A value of null is found at the end of a
// path and absent in the middle of it.
func (p path) lookup(data any) (any, outcome) {
	for i := range p.steps {
		at := &p.steps[i]
		switch t := data.(type) {
		case map[string]any:
			v, ok := t[at.name]
			if !ok {
				return nil, at.missingIn(ofAll)
			}
			data = v
		case nil:
			return nil, absent
		case *step:
			v, ok := t.member(at.name)
			if !ok {
				return nil, at.missingIn(ofAll)
			}
			data = v
		case *unknown:
			// Of a part of what is unknown, not even the truth is known.
			return &unknown{cause: t.cause}, found
		default:
			v, o := at.in(data)
			if o != found {
				return nil, o
			}
			data = v
		}
	}
	return data, found
}

// missingIn is the outcome for a name that a value does not have as its own.
func (s *segment) missingIn(least inheritance) outcome {
	if s.inherited >= least {
		return undefinable
	}
	return absent
}

// in takes the step into a list or a scalar.
func (s *segment) in(data any) (any, outcome) {
	switch t := data.(type) {
	case []any:
		if s.index >= 0 && s.index < len(t) {
			return t[s.index], found
		}
		if s.name == "length" {
			return float64(len(t)), found
		}
	case string:
		if s.name == "length" {
			return float64(utf16Length(t)), found
		}
		if s.index >= 0 {
			return unitAt(t, s.index)
		}
	case bool, float64:
	default:
		return nil, undefinable
	}
	return nil, s.missingIn(ofScalars)
}

// unitAt returns one UTF-16 code unit of a text. Half of a character is nothing
// that a Go string could hold.
func unitAt(text string, index int) (any, outcome) {
	for _, r := range text {
		width := utf16.RuneLen(r)
		switch {
		case index == 0 && width == 1:
			return string(r), found
		case index < width:
			return nil, undefinable
		}
		index -= width
	}
	return nil, absent
}

// utf16Length is the length of a text in UTF-16 code units, as JavaScript
// counts.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// step is the data of a reduction's body: the object with the members current
// and accumulator, without the cost of one.
type step struct {
	current, accumulator any
	whole                map[string]any // the object, once somebody asked for it
}

func (s *step) member(name string) (any, bool) {
	switch name {
	case "current":
		return s.current, true
	case "accumulator":
		return s.accumulator, true
	}
	return nil, false
}

// object returns the data as an object, the same one each time.
func (s *step) object() map[string]any {
	if s.whole == nil {
		s.whole = map[string]any{"current": s.current, "accumulator": s.accumulator}
	}
	return s.whole
}

package rulebook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Bounds of one printed condition: a longer or deeper one ends in "…", so that the
// line stays readable.
const (
	mostOperations = 200
	mostDepth      = 64
	mostListed     = 8   // items of a list of scalars
	mostShown      = 120 // characters of one value
)

// Condition returns a JsonLogic expression in one line as people write
// conditions: comparisons and connectives between their operands, everything
// else as a function. It takes any value, even one that is not JsonLogic, and nil.
// Strings are quoted as in JSON; the caller escapes the line for the place where it
// shows it.
func Condition(n *pack.Node) string {
	if n == nil {
		return "…"
	}
	p := &printer{left: mostOperations}
	text, _ := p.print(n, 0, "")
	return text
}

// The binding of an operator, from loose to tight. An operand that binds less
// than its place asks for is in parentheses.
const (
	bindsChoice = iota
	bindsOr
	bindsAnd
	bindsNot
	bindsComparison
	bindsSum
	bindsProduct
	bindsTight
)

// infix lists the operators that are written between their operands, with their words
// and bindings. Nothing writes to it.
var infix = map[string]struct {
	word  string
	binds int
	most  int // operands; 0 for any number
}{
	"or": {"or", bindsOr, 0}, "and": {"and", bindsAnd, 0},
	"==": {"==", bindsComparison, 2}, "!=": {"!=", bindsComparison, 2},
	"===": {"===", bindsComparison, 2}, "!==": {"!==", bindsComparison, 2},
	">": {">", bindsComparison, 2}, ">=": {">=", bindsComparison, 2},
	"<": {"<", bindsComparison, 3}, "<=": {"<=", bindsComparison, 3},
	"in": {"in", bindsComparison, 2},
	"+":  {"+", bindsSum, 0}, "-": {"-", bindsSum, 2},
	"*": {"*", bindsProduct, 0}, "/": {"/", bindsProduct, 2}, "%": {"%", bindsProduct, 2},
}

// plain matches names that need no quotes, and reserved are names that would be
// read as something else.
var (
	plain    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$`) })
	reserved = map[string]bool{
		"and": true, "or": true, "not": true, "in": true, "if": true, "then": true, "else": true,
		"true": true, "false": true, "null": true, "item": true,
	}
)

type printer struct{ left int }

// print returns the text of a value and how it binds. Item is what is before
// the variables of a list's items, "" outside of iterators.
func (p *printer) print(n *pack.Node, depth int, item string) (string, int) {
	if p.left--; p.left < 0 || depth > mostDepth {
		return "…", bindsTight
	}
	switch n.Kind {
	case pack.Array:
		return p.list(n, depth, item), bindsTight
	case pack.Object:
		if len(n.Members) == 1 {
			return p.operation(n.Members[0].Name, jsonlogic.Operands(n.Members[0].Value), depth, item)
		}
		return literal(n.Any()), bindsTight
	case pack.Number:
		if strings.HasPrefix(n.Text, "-") {
			return clip(n.Text), bindsProduct
		}
		return clip(n.Text), bindsTight
	}
	return literal(n.Any()), bindsTight
}

func (p *printer) operation(name string, operands []*pack.Node, depth int, item string) (string, int) {
	if name == "var" && len(operands) > 0 && operands[0].Kind != pack.Object && operands[0].Kind != pack.Array {
		return p.variable(operands, depth, item), bindsTight
	}
	if (name == "and" || name == "or") && len(operands) == 1 {
		return p.print(operands[0], depth+1, item)
	}
	if o, ok := infix[name]; ok && len(operands) > 1 && (o.most == 0 || len(operands) <= o.most) {
		return p.between(o.word, o.binds, operands, depth, item), o.binds
	}
	switch {
	case name == "!" && len(operands) == 1:
		return "not " + p.operand(operands[0], bindsTight, depth, item), bindsNot
	case name == "-" && len(operands) == 1:
		return "-" + p.operand(operands[0], bindsTight, depth, item), bindsProduct
	case (name == "if" || name == "?:") && len(operands) > 1:
		return p.choice(operands, depth, item), bindsChoice
	}
	return p.function(name, operands, depth, item), bindsTight
}

// operand prints a value for a place that wants at least that binding.
func (p *printer) operand(n *pack.Node, least, depth int, item string) string {
	text, binds := p.print(n, depth+1, item)
	if binds < least {
		return "(" + text + ")"
	}
	return text
}

// between puts an operator between its operands. Connectives, sums and products
// may hold their own kind to the left without parentheses.
func (p *printer) between(word string, binds int, operands []*pack.Node, depth int, item string) string {
	parts := make([]string, 0, len(operands))
	for i, n := range operands {
		least := binds + 1
		if i == 0 && binds != bindsComparison || binds <= bindsAnd {
			least = binds
		}
		if p.left <= 0 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, p.operand(n, least, depth, item))
	}
	return strings.Join(parts, " "+word+" ")
}

func (p *printer) choice(operands []*pack.Node, depth int, item string) string {
	var b strings.Builder
	for len(operands) > 1 {
		fmt.Fprintf(&b, "if %s then %s else ", p.operand(operands[0], bindsOr, depth, item), p.operand(operands[1], bindsOr, depth, item))
		if operands = operands[2:]; p.left <= 0 {
			return b.String() + "…"
		}
	}
	if len(operands) == 0 {
		return b.String() + "null"
	}
	return b.String() + p.operand(operands[0], bindsOr, depth, item)
}

// function writes an operator before its operands, as all do that have no
// better form. The body of an iterator reads the variables of an item.
func (p *printer) function(name string, operands []*pack.Node, depth int, item string) string {
	shown := name
	if !plain().MatchString(name) {
		shown = literal(name)
	}
	if name == "!!" {
		shown = "truthy"
	}
	var parts []string
	for i, n := range operands {
		if p.left <= 0 {
			parts = append(parts, "…")
			break
		}
		of := item
		if i == 1 && slices.Contains([]string{"map", "filter", "all", "none", "some"}, name) {
			of = "item"
		}
		text, _ := p.print(n, depth+1, of)
		parts = append(parts, text)
	}
	return shown + "(" + strings.Join(parts, ", ") + ")"
}

func (p *printer) variable(operands []*pack.Node, depth int, item string) string {
	path := literal(operands[0].Any())
	if operands[0].Kind == pack.String {
		path = variable(operands[0].Text, item)
	}
	if len(operands) == 1 {
		return path
	}
	text, _ := p.print(operands[1], depth+1, item)
	return "default(" + path + ", " + text + ")"
}

// variable returns the name of a variable, in quotes where it cannot be read as one.
func variable(path, item string) string {
	first, _, _ := strings.Cut(path, ".")
	switch {
	case item != "" && path == "":
		return item
	case item != "" && plain().MatchString(path):
		return item + "." + path
	case item == "" && plain().MatchString(path) && !reserved[first]:
		return path
	}
	return "var(" + strings.TrimPrefix(item+", ", ", ") + literal(path) + ")"
}

func (p *printer) list(n *pack.Node, depth int, item string) string {
	parts := make([]string, 0, min(len(n.Items), mostListed))
	for i, each := range n.Items {
		if i == mostListed && len(n.Items) > mostListed+1 {
			parts = append(parts, fmt.Sprintf("… %d more", len(n.Items)-i))
			break
		}
		text, _ := p.print(each, depth+1, item)
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// literal writes a value as JSON, cut where it is long.
func literal(v any) string { return clip(pack.CompactJSON(v)) }

func clip(text string) string { return pack.Clip(text, mostShown) }

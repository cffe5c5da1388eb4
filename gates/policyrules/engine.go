package policyrules

import (
	"fmt"
	"math"
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	diegoholiveira "github.com/diegoholiveira/jsonlogic/v3"
)

// The other engine evaluates what data holds as if it were a rule, recurses as
// deep as that leads, and has no bound on its work. A stack that overflows ends
// the process and cannot be recovered from. So it only sees conditions that are
// in the profile, whose depth the compiler of package jsonlogic bounds, and data
// that holds nothing like an operation, and only within the work estimated here.
const (
	engineWork   = 20_000_000 // of one check, in values looked at or about as much
	engineEach   = 2_000_000  // of one evaluation
	bytesPerUnit = 16
)

// engineOperators are the names that the other engine takes for operations.
const engineOperators = " and or filter map reduce all none some in missing missing_some var set cat substr merge " +
	"if ?: max min + - * / % abs ! !! === !== < <= > >= == != contains_all contains_any contains_none "

// size is how many values some data has, and the length of its longest list and text.
type size struct{ values, list, text int }

func measure(v any) (s size) {
	each(v, func(v any) {
		s.values++
		switch t := v.(type) {
		case string:
			s.text = max(s.text, len(t))
		case []any:
			s.list = max(s.list, len(t))
		}
	})
	return s
}

// each visits a value and all below it.
func each(v any, visit func(any)) {
	visit(v)
	switch t := v.(type) {
	case []any:
		for _, item := range t {
			each(item, visit)
		}
	case map[string]any:
		for _, item := range t {
			each(item, visit)
		}
	}
}

// hazard says why the other engine must not see some data, "" where it may.
func hazard(v any) (reason string) {
	each(v, func(v any) {
		object, _ := v.(map[string]any)
		for name := range object {
			if len(object) == 1 && in(engineOperators, name) {
				reason = "the case holds an object that the engine would run as an operation"
			}
		}
	})
	return reason
}

// effort is what the other engine's work on a condition depends on.
type effort struct {
	rule any // the condition, as the engine takes it
	size
	nesting int
	grows   bool
}

func effortOf(condition *pack.Node) *effort {
	e := &effort{rule: condition.Any()}
	e.size = measure(e.rule)
	e.nesting, e.grows = iterators(condition, false)
	return e
}

// refusal says why the other engine is not asked, "" where it is: then its work is taken off left.
func refusal(rule *effort, s *sample, left *int) string {
	work := float64(rule.values + s.size.values)
	work *= 1 + float64(max(rule.text, s.size.text))/bytesPerUnit
	longest := float64(1 + max(rule.list, s.size.list))
	if rule.grows {
		return "a value that grows with each item of a list has no bound in the engine"
	}
	work *= math.Pow(longest, float64(rule.nesting))
	switch {
	case work > engineEach:
		return "the engine might take too long"
	case work > float64(*left):
		return "the engine's share of the time is used up"
	}
	*left -= int(work)
	return ""
}

// iterators returns how deep iterators are nested in a condition, and whether
// the body of a reduce builds texts or lists, which may double with each item.
// A merge makes lists longer than any that is written, and counts as an iterator.
func iterators(n *pack.Node, reducing bool) (depth int, grows bool) {
	below := func(n *pack.Node, own int, reducing bool) {
		d, g := iterators(n, reducing)
		depth, grows = max(depth, own+d), grows || g
	}
	for _, item := range n.Items {
		below(item, 0, reducing)
	}
	for _, m := range n.Members {
		own := 0
		if in(" map filter all none some merge reduce ", m.Name) {
			own = 1
		}
		grows = grows || reducing && (m.Name == "cat" || m.Name == "merge")
		below(m.Value, own, reducing || m.Name == "reduce")
	}
	return depth, grows
}

// opinion is what the other engine says: a value, or that it failed.
type opinion struct {
	value any
	fails string // why it failed, "" where it gave a value
}

// askEngine evaluates a condition with the other engine, which changes neither it nor the data. It never registers an
// operator there, for those hold for the whole process.
func askEngine(condition any, data map[string]any) (o opinion) {
	defer func() {
		if r := recover(); r != nil {
			o = opinion{fails: fmt.Sprint(r)}
		}
	}()
	value, err := diegoholiveira.ApplyInterface(condition, data)
	if err != nil {
		return opinion{fails: err.Error()}
	}
	return opinion{value: value}
}

// truth is how the other engine takes a value in its own "if".
func (o opinion) truth() jsonlogic.Truth {
	truthy := true
	switch t := o.value.(type) {
	case nil:
		truthy = false
	case bool:
		truthy = t
	case float64:
		truthy = t != 0 && !math.IsNaN(t)
	case string:
		truthy = t != ""
	case []any:
		truthy = len(t) > 0
	case map[string]any:
		truthy = len(t) > 0
	}
	if truthy {
		return jsonlogic.True
	}
	return jsonlogic.False
}

// String says the opinion as the end of a sentence about the engine.
func (o opinion) String() string {
	if o.fails != "" {
		return "fails"
	}
	return "takes it for " + o.truth().String()
}

// blame finds the innermost operation on which the engines differ, and says what it does.
func blame(condition *pack.Node, data map[string]any) (*pack.Node, string) {
	for _, child := range operations(condition, data) {
		if differ(child, data) {
			return blame(child, data)
		}
	}
	if condition.Kind != pack.Object {
		return condition, "it is no operation"
	}
	name := condition.Members[0].Name
	var operands []string
	for _, n := range jsonlogic.Operands(condition.Members[0].Value) {
		operands = append(operands, operandWords(n, data))
	}
	ours, _ := jsonlogic.Compile(condition)
	theirs := askEngine(condition.Any(), data)
	says := "gives " + shown(theirs.value)
	if theirs.fails != "" {
		says = "fails with " + gate.Quote(theirs.fails)
	}
	return condition, fmt.Sprintf("%q over %s is %s, and the engine %s",
		name, series(few(operands)), shown(ours.Eval(data).Value), says)
}

// operations returns the operations directly below a value that read the same
// data (the body of an iterator reads its items) and that evaluation reaches.
func operations(n *pack.Node, data map[string]any) []*pack.Node {
	operands := n.Items
	if n.Kind == pack.Object {
		operands = reached(n.Members[0].Name, jsonlogic.Operands(n.Members[0].Value), data)
	}
	var all []*pack.Node
	for _, operand := range operands {
		switch operand.Kind {
		case pack.Object:
			all = append(all, operand)
		case pack.Array:
			all = append(all, operations(operand, data)...)
		}
	}
	return all
}

// reached returns the operands that an operation looks at.
func reached(operator string, operands []*pack.Node, data map[string]any) []*pack.Node {
	truth := func(n *pack.Node) jsonlogic.Truth {
		if e, _ := jsonlogic.Compile(n); e != nil {
			return e.Eval(data).Truth
		}
		return jsonlogic.Unknown
	}
	switch operator {
	case "map", "filter", "all", "none", "some", "reduce":
		return operands[:1]
	case "and", "or":
		deciding := jsonlogic.False
		if operator == "or" {
			deciding = jsonlogic.True
		}
		if i := slices.IndexFunc(operands, func(n *pack.Node) bool { return truth(n) == deciding }); i >= 0 {
			return operands[:i+1]
		}
	case "if", "?:":
		var seen []*pack.Node
		for i := 0; i < len(operands)-1; i += 2 {
			seen = append(seen, operands[i])
			if truth(operands[i]) == jsonlogic.True {
				return append(seen, operands[i+1])
			}
		}
		if len(operands)%2 == 1 {
			seen = append(seen, operands[len(operands)-1])
		}
		return seen
	}
	return operands
}

// differ reports whether the engines give different values where ours is definite.
func differ(n *pack.Node, data map[string]any) bool {
	e, problems := jsonlogic.Compile(n)
	if len(problems) > 0 {
		return false
	}
	ours := e.Eval(data)
	if ours.Cause != nil {
		return false
	}
	theirs := askEngine(n.Any(), data)
	return theirs.fails != "" || shown(theirs.value) != shown(ours.Value)
}

// operandWords says what an operand is in a case.
func operandWords(n *pack.Node, data map[string]any) string {
	if n.Kind == pack.Object && len(n.Members) == 1 && n.Members[0].Name == "var" {
		if path := jsonlogic.Operands(n.Members[0].Value)[0]; path.Kind == pack.String {
			v, ok := jsonlogic.Lookup(data, path.Text)
			if !ok {
				return short(path.Text) + " (missing)"
			}
			return short(path.Text) + " (" + shown(v) + ")"
		}
	}
	return shown(n.Any())
}

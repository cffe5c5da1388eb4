package flips

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// changed is what of the conditions of two packs is not the same in both.
type changed struct {
	base, head map[string]condition // all of them, by rule and gate
	variables  []string             // that any condition of either pack reads, sorted
	intents    []string             // for which a condition changed, sorted
	byIntent   map[string]bounds    // "" for conditions that count for every intent
}

// bounds are thresholds by variable.
type bounds map[string]*threshold

// condition is the condition of a rule or a gate, with all that it decides.
type condition struct {
	intent string // "" for one that counts for every intent
	says   []*pack.Node
	expr   *jsonlogic.Expr
}

// same reports whether two conditions decide the same.
func (c condition) same(other condition) bool {
	return slices.EqualFunc(c.says, other.says, func(a, b *pack.Node) bool {
		if a == nil || b == nil {
			return a == b
		}
		return a.Raw() == b.Raw() || pack.CompactJSON(a.Any()) == pack.CompactJSON(b.Any())
	})
}

// changedConditions compares the rules and gates of two packs. All that a
// condition decides counts, and not its own text alone: where an outcome changed,
// requests part at its threshold as well.
func changedConditions(base, head *pack.Pack) *changed {
	c := &changed{base: conditionsOf(base), head: conditionsOf(head), byIntent: map[string]bounds{}}
	read := map[string]bool{}
	for _, sides := range [][2]map[string]condition{{c.base, c.head}, {c.head, c.base}} {
		for name, mine := range sides[0] {
			for _, path := range mine.expr.Reads() {
				read[path] = true
			}
			if other, there := sides[1][name]; !there || !mine.same(other) {
				c.add(mine)
			}
		}
	}
	c.variables = slices.Sorted(maps.Keys(read))
	c.findIntents(base, head)
	return c
}

// add takes the thresholds of a condition in.
func (c *changed) add(from condition) {
	if c.byIntent[from.intent] == nil {
		c.byIntent[from.intent] = bounds{}
	}
	c.byIntent[from.intent].gather(from.expr)
}

// findIntents finds the intents for which a condition changed: all of them where
// it counts for all.
func (c *changed) findIntents(packs ...*pack.Pack) {
	intents := map[string]bool{}
	for intent := range c.byIntent {
		intents[intent] = true
	}
	if intents[""] {
		for _, p := range packs {
			for _, intent := range p.Intents() {
				intents[intent.Value] = true
			}
		}
	}
	delete(intents, "")
	c.intents = slices.Sorted(maps.Keys(intents))
}

// conditionsOf returns the conditions of a pack by rule and gate. What is not
// compiled, such as a rationale, does not count.
func conditionsOf(p *pack.Pack) map[string]condition {
	all := map[string]condition{}
	for r := range p.EachRule() {
		expr, _ := jsonlogic.Compile(r.If)
		if expr == nil {
			continue // the compiler refuses the pack
		}
		all["rule "+r.RuleID.Value] = condition{r.AppliesTo.Intent.Value, []*pack.Node{
			r.If, r.Then.Node, r.Else.Node, r.AppliesTo.Node, r.DecisionBinding.Node, r.NonEnforcing.Node,
		}, expr}
	}
	for _, g := range p.PolicyLayer.ApprovalGates.Items {
		expr, _ := jsonlogic.Compile(g.When)
		if expr == nil {
			continue
		}
		says := []*pack.Node{g.When}
		for _, permission := range p.ToolingLayer.Permissions.Items {
			if id := permission.RequiresApprovalGate; id.OK && id.Value == g.GateID.Value {
				says = append(says, permission.Node)
			}
		}
		all["gate "+g.GateID.Value] = condition{"", says, expr}
	}
	return all
}

// threshold is a variable with the constants that changed conditions compare it
// with.
type threshold struct {
	path     string
	numbers  map[float64]bool
	texts    map[string]bool
	booleans bool
}

// gather takes in what an expression compares its variables with: the constants
// beside the variable in the operations around it.
func (b bounds) gather(e *jsonlogic.Expr) {
	for _, v := range e.Variables() {
		if v.Scoped {
			continue
		}
		t := b[v.Path]
		if t == nil {
			t = &threshold{path: v.Path, numbers: map[float64]bool{}, texts: map[string]bool{}}
			b[v.Path] = t
		}
		compared := false
		for n := v.Node.Parent; n != nil && n != e.Node().Parent; n = n.Parent {
			if name, ok := n.Name(); ok && compares(name) {
				for _, operand := range n.Items {
					compared = t.constant(operand) || compared
				}
			}
		}
		t.booleans = t.booleans || !compared // it is asked for its truth, or whether it is there
	}
}

// compares reports whether an operator compares its operands with one another.
func compares(operator string) bool {
	return slices.Contains([]string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "in"}, operator)
}

// constant takes in a constant, or those of a list, and reports whether it is one.
func (t *threshold) constant(n *pack.Node) bool {
	switch n.Kind {
	case pack.Number:
		t.numbers[n.Number] = true
	case pack.String:
		t.texts[n.Text] = true
	case pack.Bool:
		t.booleans = true
	case pack.Array:
		found := false
		for _, item := range n.Items {
			found = t.constant(item) || found
		}
		return found
	default:
		return false
	}
	return true
}

// thresholds returns the variables whose thresholds changed for an intent, sorted.
func (c *changed) thresholds(intent string) []*threshold {
	merged := bounds{}
	for _, of := range []string{"", intent} {
		for path, t := range c.byIntent[of] {
			into := merged[path]
			if into == nil {
				into = &threshold{path: path, numbers: map[float64]bool{}, texts: map[string]bool{}}
				merged[path] = into
			}
			maps.Copy(into.numbers, t.numbers)
			maps.Copy(into.texts, t.texts)
			into.booleans = into.booleans || t.booleans
		}
	}
	var list []*threshold
	for _, path := range slices.Sorted(maps.Keys(merged)) {
		list = append(list, merged[path])
	}
	return list
}

// mostConstants bounds the constants of one variable that are looked at.
const mostConstants = 40

// values returns what a variable is set to: around each number, each text and one
// that is none of them, both booleans, and a value of the wrong type for each.
// Skipped is how many constants are beyond the bound.
func (t *threshold) values() (values []any, skipped int) {
	numbers, texts := slices.Sorted(maps.Keys(t.numbers)), slices.Sorted(maps.Keys(t.texts))
	skipped = max(0, len(numbers)-mostConstants) + max(0, len(texts)-mostConstants)
	numbers, texts = numbers[:min(len(numbers), mostConstants)], texts[:min(len(texts), mostConstants)]
	for _, n := range numbers {
		values = append(values, n-1, n, n+1)
	}
	for _, s := range texts {
		values = append(values, s)
	}
	switch {
	case len(texts) > 0:
		values = append(values, other(t.texts), 1.0)
	case len(numbers) > 0:
		values = append(values, pack.CompactJSON(numbers[0]))
	}
	if t.booleans {
		values = append(values, true, false, "true")
	}
	return distinct(values), skipped
}

// other returns a text that is none of the given ones.
func other(texts map[string]bool) string {
	text := "other"
	for texts[text] {
		text += "_"
	}
	return text
}

// distinct removes values that are there already. They are scalars.
func distinct(values []any) []any {
	seen := map[any]bool{}
	return slices.DeleteFunc(values, func(v any) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// vary returns a request with each boundary value of the variable, and without it.
func (t *threshold) vary(b candidate, values []any) []candidate {
	path := strings.Split(t.path, ".")
	around := b
	around.at = t.path
	missing := around
	missing.data, missing.missing = jsonlogic.Unset(b.data, path), true
	out := []candidate{missing}
	for _, v := range values {
		c := around
		c.data, c.value = jsonlogic.Set(b.data, path, v), v
		if policy.Outside(c.data) == "" { // a request can have it
			out = append(out, c)
		}
	}
	return out
}

// beyond says that constants were not looked at.
func beyond(path string, skipped int) string {
	return fmt.Sprintf("%d constants of %s were not looked at, only the first %d are", skipped, path, mostConstants)
}

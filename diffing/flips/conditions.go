package flips

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// changed is what of the conditions of two packs is not the same in both.
type changed struct {
	variables []string // that any condition of either pack reads, sorted
	intents   []string // for which a condition changed, sorted
	always    bounds   // of conditions that count for every intent
	byIntent  map[string]bounds
}

// bounds are thresholds by variable.
type bounds map[string]*threshold

// owner is the rule or the gate of which a condition is.
type owner struct {
	gate bool
	id   string
}

// statement is all that a rule or a gate decides: its condition, and the values
// beside it.
type statement struct {
	when   *policy.Condition
	rule   *policy.Rule // nil for a gate
	beside []jsonlogic.Key
}

// changedConditions compares the rules and gates of two packs. All that a
// condition decides counts, and not its own text alone: where an outcome changed,
// requests part at its threshold as well.
func changedConditions(base, head *policy.Model) *changed {
	c := &changed{always: bounds{}, byIntent: map[string]bounds{}}
	for _, m := range []*policy.Model{base, head} {
		for _, condition := range m.Conditions {
			c.variables = append(c.variables, condition.Expr.Reads()...)
		}
	}
	slices.Sort(c.variables)
	c.variables = slices.Compact(c.variables)
	was, is := statements(base), statements(head)
	for _, sides := range [][2]map[owner]statement{{was, is}, {is, was}} {
		for of, mine := range sides[0] {
			other, there := sides[1][of]
			if !there || mine.when.Key != other.when.Key || !slices.Equal(mine.beside, other.beside) {
				c.add(mine)
			}
		}
	}
	intents := slices.Collect(maps.Keys(c.byIntent))
	if len(c.always) > 0 {
		intents = slices.Concat(intents, base.Intents, head.Intents)
	}
	slices.Sort(intents)
	c.intents = slices.Compact(intents)
	return c
}

// add takes the thresholds of a condition in.
func (c *changed) add(s statement) {
	into := c.always
	if s.rule != nil && s.rule.AppliesTo.Intent.OK {
		intent := s.rule.AppliesTo.Intent.Value
		if c.byIntent[intent] == nil {
			c.byIntent[intent] = bounds{}
		}
		into = c.byIntent[intent]
	}
	into.gather(s.when.Expr)
}

// statements returns what the rules and gates of a pack decide. What is not
// compiled, such as a rationale, does not count.
func statements(m *policy.Model) map[owner]statement {
	all := map[owner]statement{}
	for _, r := range m.Rules {
		w := r.Rule
		all[owner{id: r.RuleID.Value}] = statement{r.When, r, keys(w.Then.Node, w.Else.Node, w.AppliesTo.Node, w.DecisionBinding.Node, w.NonEnforcing.Node)}
	}
	for _, g := range m.Guards {
		all[owner{id: g.RuleID.Value}] = statement{when: g.When}
	}
	for _, g := range m.Gates {
		s := statement{when: g.When}
		for _, t := range m.Tools {
			for _, p := range t.Permissions {
				if p.RequiresApprovalGate.Value == g.ID {
					s.beside = append(s.beside, keys(p.Node)...)
				}
			}
		}
		all[owner{true, g.ID}] = s
	}
	return all
}

// keys returns the keys of values, the zero one for what is not there.
func keys(values ...*pack.Node) []jsonlogic.Key {
	list := make([]jsonlogic.Key, len(values))
	for i, n := range values {
		if n != nil {
			list[i] = jsonlogic.KeyOf(n)
		}
	}
	return list
}

// threshold is a variable with the constants that changed conditions compare it
// with.
type threshold struct {
	path     string
	numbers  map[float64]bool
	texts    map[string]bool
	booleans bool
}

// of returns the threshold of a variable.
func (b bounds) of(path string) *threshold {
	if b[path] == nil {
		b[path] = &threshold{path: path, numbers: map[float64]bool{}, texts: map[string]bool{}}
	}
	return b[path]
}

// comparisons are the operators that compare their operands with one another.
var comparisons = []string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "in"}

// gather takes in what an expression compares its variables with: the constants
// beside the variable in the operations around it.
func (b bounds) gather(e *jsonlogic.Expr) {
	for _, v := range e.Variables() {
		if v.Scoped {
			continue
		}
		t := b.of(v.Path)
		compared := false
		for n := v.Node.Parent; n != nil && n != e.Node().Parent; n = n.Parent {
			if name, ok := n.Name(); ok && slices.Contains(comparisons, name) {
				for _, operand := range n.Items {
					compared = t.constant(operand) || compared
				}
			}
		}
		t.booleans = t.booleans || !compared // it is asked for its truth, or whether it is there
	}
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
	for _, some := range []bounds{c.always, c.byIntent[intent]} {
		for path, t := range some {
			into := merged.of(path)
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

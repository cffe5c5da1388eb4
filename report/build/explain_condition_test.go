package build

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// conditionOf returns a random condition over three variables.
func conditionOf(r *rand.Rand, depth int) any {
	leaf := func() any {
		name := []string{"a", "b", "c"}[r.IntN(3)]
		return []any{
			map[string]any{">": []any{map[string]any{"var": name}, r.IntN(4)}},
			map[string]any{"==": []any{map[string]any{"var": name}, r.IntN(4)}},
			map[string]any{"!": []any{map[string]any{"var": name}}},
			map[string]any{"missing": []any{name}},
			map[string]any{"var": name},
			r.IntN(2) == 0,
		}[r.IntN(6)]
	}
	if depth == 0 || r.IntN(4) == 0 {
		return leaf()
	}
	switch operator := []string{"and", "or", "!"}[r.IntN(3)]; operator {
	case "!":
		return map[string]any{"!": conditionOf(r, depth-1)}
	default:
		var operands []any
		for range 1 + r.IntN(3) {
			operands = append(operands, conditionOf(r, depth-1))
		}
		return map[string]any{operator: operands}
	}
}

// The grounds of a condition have the truth that is said, and they settle it:
// whatever the rest of the condition says, its truth stays.
func TestGroundsSettle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parsed := func(v any) *pack.Node {
		d, _ := pack.Read("x.json", []byte(pack.CompactJSON(v)), pack.DefaultLimits())
		return d.Root
	}
	tried := 0
	for range 3000 {
		condition := conditionOf(r, 3)
		data := map[string]any{"a": float64(r.IntN(4)), "b": float64(r.IntN(4))}
		if r.IntN(2) == 0 {
			data["c"] = float64(r.IntN(4))
		}
		n := parsed(condition)
		truth := truthFor(n, data)
		x := &explainer{data: data}
		why := x.condition(n, truth, nil)
		if len(why.Grounds) == 0 || why.More && len(why.Grounds) < mostGrounds {
			t.Fatalf("%s has the grounds %+v", why.Words, why)
		}
		if truth == jsonlogic.Unknown || why.More {
			continue
		}
		tried++
		settled := map[int]jsonlogic.Truth{}
		for _, g := range why.Grounds {
			settled[g.Place.Column] = map[string]jsonlogic.Truth{"true": jsonlogic.True, "false": jsonlogic.False, "unknown": jsonlogic.Unknown}[g.Truth]
		}
		for _, rest := range []jsonlogic.Truth{jsonlogic.True, jsonlogic.False, jsonlogic.Unknown} {
			if got := truthWith(n, settled, rest); got != truth {
				t.Fatalf("%s is %s because of %+v, and %s where the rest is %s", why.Words, truth, why.Grounds, got, rest)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d conditions were settled", tried)
	}
}

// truthWith evaluates a condition by Kleene's tables, with the truth of its
// comparisons given by their columns, and that of the others by rest.
func truthWith(n *pack.Node, settled map[int]jsonlogic.Truth, rest jsonlogic.Truth) jsonlogic.Truth {
	operator, operands := connective(n)
	switch operator {
	case "":
		if truth, ok := settled[n.Location().Start.Column]; ok {
			return truth
		}
		return rest
	case "!":
		return truthWith(operands[0], settled, rest).Not()
	}
	deciding := jsonlogic.False
	if operator == "or" {
		deciding = jsonlogic.True
	}
	var found []jsonlogic.Truth
	for _, operand := range operands {
		found = append(found, truthWith(operand, settled, rest))
	}
	switch {
	case slices.Contains(found, deciding):
		return deciding
	case slices.Contains(found, jsonlogic.Unknown):
		return jsonlogic.Unknown
	}
	return deciding.Not()
}

// A condition that is made to be long is explained in part, and says so.
func TestLongConditions(t *testing.T) {
	for name, operand := range map[string]string{
		"many": `{"==": [{"var": "a"}, 1]}`,
		"deep": `{"!": {"and": [{"!": {"or": [{"var": "a"}, {"var": "b"}, {"var": "c"}]}}, true]}}`,
	} {
		src := `{"or": [` + strings.Repeat(operand+",", 300) + "false]}"
		d, _ := pack.Read("x.json", []byte(src), pack.DefaultLimits())
		x := &explainer{data: map[string]any{}}
		truth := truthFor(d.Root, x.data)
		if truth == jsonlogic.Unknown {
			t.Fatalf("%s: the condition is unknown", name)
		}
		why := x.condition(d.Root, truth, nil)
		if len(why.Grounds) != mostGrounds || !why.More {
			t.Errorf("%s: %d grounds, more %v", name, len(why.Grounds), why.More)
		}
	}
	d, _ := pack.Read("x.json", []byte(`{"missing": ["a","b","c","d","e","f","g","h","i","j"]}`), pack.DefaultLimits())
	why := (&explainer{}).condition(d.Root, jsonlogic.True, nil)
	if len(why.Grounds[0].Values) != mostReadings || !why.More {
		t.Errorf("%+v", why)
	}
}

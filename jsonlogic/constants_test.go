package jsonlogic

import (
	"fmt"
	"strings"
	"testing"
)

// TestConstantsAreEvaluatedOnce: what reads nothing takes its steps when it is
// compiled, and none in evaluations and proofs.
func TestConstantsAreEvaluatedOnce(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 200), ",") + "]"
	sum := `{"reduce": [` + list + `, {"+": [{"var": "current"}, {"var": "accumulator"}]}, 0]}`
	for _, rule := range []string{
		`{"==": [` + sum + `, 200]}`,
		`{"and": [{">": [` + sum + `, 100]}, {"==": [{"var": "x"}, ` + sum + `]}]}`,
		`{"some": [{"var": "x"}, {"==": [{"var": ""}, ` + sum + `]}]}`,
		`{"if": [{"var": "x"}, ` + sum + `, {"map": [` + list + `, ` + sum + `]}]}`,
	} {
		var x *Expr
		made := spent(func(b *Budget) { x, _ = b.Compile(read(t, rule)) })
		eval := spent(func(b *Budget) { x.EvalWithin(b, map[string]any{"x": 200.0}) })
		proof := spent(func(b *Budget) { Solver{Budget: b}.Solve(IsUnknown(x)) })
		if made < 400 || eval > 210 || proof > 2_000 {
			t.Errorf("%.60s…: %d steps to compile, %d to evaluate, %d to prove", rule, made, eval, proof)
		}
	}
}

// TestConstantBounds: constants that take long, or are large, are unknown, and what
// does not depend on them is not.
func TestConstantBounds(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + "]"
	for about, constant := range map[string]string{
		"long":      `{"map": [` + list + `, {"map": [` + list + `, {"map": [` + list + `, 1]}]}]}`,
		"large":     `{"reduce": [` + list + `, [{"var": "accumulator"}, {"var": "accumulator"}], 1]}`,
		"long text": `{"reduce": [[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20], {"cat": [{"var": "accumulator"}, {"var": "accumulator"}]}, "xxxxxxxx"]}`,
	} {
		for rule, want := range map[string]Truth{
			`{"in": [{"var": "x"}, %s]}`:                      Unknown,
			`{"or": [{"in": [{"var": "x"}, %s]}, true]}`:      True,
			`{"if": [{"var": "x"}, {"!!": 1}, {"!": %s}]}`:    True,
			`{"and": [{"in": [{"var": "x"}, %s]}, false]}`:    False,
			`{"some": [[1], {"in": [{"var": ""}, %s]}]}`:      Unknown,
			`{"and": [{"in": [{"var": "y"}, %[1]s]}, %[1]s]}`: Unknown,
		} {
			x := compile(t, fmt.Sprintf(rule, constant))
			got := x.Eval(map[string]any{"x": "text"})
			if got.Truth != want {
				t.Errorf("%s, %.40s…: got %v (%v), want %v", about, rule, got.Truth, got.Cause, want)
			}
			if took := spent(func(b *Budget) { x.EvalWithin(b, map[string]any{"x": "text"}) }); took > 100 {
				t.Errorf("%s, %.40s…: evaluation takes %d steps", about, rule, took)
			}
		}
	}
}

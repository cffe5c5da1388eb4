package jsonlogic

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// bounded makes random conditions over one variable: comparisons with constants,
// combined in any way.
func (m maker) bounded(depth, most int) any {
	x := map[string]any{"var": "x"}
	c := func() float64 { return float64(m.IntN(2*most)-most) / oneOf(m, 1.0, 1, 1, 2) }
	if depth > 0 && m.IntN(5) > 0 {
		parts := []any{}
		for range 1 + m.IntN(4) {
			parts = append(parts, m.bounded(depth-1, most))
		}
		switch m.IntN(5) {
		case 0:
			return op("!", parts[0])
		case 1, 2:
			return op("or", parts...)
		case 3:
			return op("if", parts[0], parts[len(parts)-1], parts[len(parts)/2])
		}
		return op("and", parts...)
	}
	switch m.IntN(10) {
	case 0:
		return op(oneOf(m, "==", "!=", "===", "!=="), x, c())
	case 1:
		return op(oneOf(m, "<", "<="), c(), x, c())
	case 2:
		return op("in", x, []any{c(), c(), c(), "a"})
	case 3:
		return oneOf[any](m, x, op("missing", "x"), op("===", x, "a"), op("==", x, nil), op("in", c(), x))
	}
	return op(oneOf(m, "<", "<=", ">", ">="), oneOf(m, []any{x, c()}, []any{c(), x})...)
}

// points are values of which one is in every region that constants of that size
// tell apart.
func points(most int) []any {
	all := []any{absentValue{}, nil, true, false, "", "a", "b", []any{}, []any{"z"}, map[string]any{}}
	for i := -4 * (most + 1); i <= 4*(most+1); i++ {
		all = append(all, float64(i)/4)
	}
	for i := -2 * most; i < 2*most; i++ {
		all = append(all, []any{float64(i) / 2}, math.Nextafter(float64(i)/2, 1e9), math.Nextafter(float64(i)/2, -1e9))
	}
	return append(all, math.MaxFloat64, -math.MaxFloat64)
}

// TestIntervals: what is asked of one variable is always decided, and as brute force
// over all regions decides it.
func TestIntervals(t *testing.T) {
	t.Parallel()
	m := newMaker(11, false)
	verdicts := [3]int{}
	for round := range 1500 {
		most := []int{2, 6, 20}[m.IntN(3)]
		a, b := compile(t, source(t, m.bounded(m.IntN(5), most))), compile(t, source(t, m.bounded(m.IntN(4), most)))
		f := All(IsTrue(a), Not(IsTrue(b)))
		if round%3 == 0 {
			f = Any(All(IsUnknown(a), IsFalse(b)), All(IsFalse(a), IsUnknown(b)))
		}
		got := Solve(f)
		verdicts[got.Verdict]++
		holds := slices.ContainsFunc(points(most), func(v any) bool {
			if k := kindOf(v); len(got.Assumed) > 0 && (k == kindArray || k == kindObject) {
				return false
			}
			data := map[string]any{"x": v}
			if v == (absentValue{}) {
				data = map[string]any{}
			}
			return f.Holds(data)
		})
		if got.Verdict == Undecided || holds != (got.Verdict == Satisfiable) {
			t.Fatalf("%s and %s: %s, by brute force %t", show(a.source.Any()), show(b.source.Any()), describe(t, got), holds)
		}
	}
	if verdicts[Satisfiable] < 300 || verdicts[Unsatisfiable] < 300 {
		t.Errorf("%v: the test has lost its power", verdicts)
	}
}

// chained makes a random monotone chain over a variable.
func (m maker) chained(depth int) any {
	if depth == 0 {
		return oneOf[any](m, map[string]any{"var": "x"}, map[string]any{"var": "x"}, op("var", "x", 3))
	}
	inner, c := m.chained(depth-1), oneOf[any](m, 1, 2, -1, -3, 0.1, 7, 1e-300, 1e300, -1e308, 100, 0, 1.2)
	switch m.IntN(8) {
	case 0:
		return op("-", inner)
	case 1:
		return op("-", oneOf(m, []any{inner, c}, []any{c, inner})...)
	case 2:
		return op("*", inner, c)
	case 3:
		return op("/", inner, oneOf[any](m, 2, -3, 0.1, 1e-10))
	case 4:
		return op(oneOf(m, "min", "max"), c, inner, 50)
	case 5:
		return op("+", inner, inner)
	}
	return op("+", oneOf(m, []any{inner, c}, []any{c, inner, 5})...)
}

// TestChains: monotone arithmetic on one variable is always decided, where 0 is not
// too large for it already. No number found by sampling refutes a proof, not even the
// numbers next to where truth changes.
func TestChains(t *testing.T) {
	t.Parallel()
	m := newMaker(12, false)
	verdicts := [3]int{}
	for range 1200 {
		var texts []string
		var parts []Formula
		huge := false
		for range 1 + m.IntN(3) {
			g, c := m.chained(1+m.IntN(3)), oneOf[any](m, 0, 1, -2.5, 50, 120, 3000, 1e300)
			condition := op(oneOf(m, "<", "<=", ">", ">=", "==", "!="), oneOf(m, []any{g, c}, []any{c, g})...)
			if m.IntN(6) == 0 {
				condition = op("<=", c, g, oneOf[any](m, 100, 5000))
			}
			texts = append(texts, source(t, condition))
			x := compile(t, texts[len(texts)-1])
			huge = huge || x.Eval(map[string]any{"x": 0.0}).Truth == Unknown
			parts = append(parts, oneOf(m, IsTrue(x), IsFalse(x), Not(IsTrue(x)), IsUnknown(x)))
		}
		f := All(parts...)
		got := Solve(f)
		verdicts[got.Verdict]++
		if got.Verdict == Undecided && !huge {
			t.Fatalf("%s: %s", texts, got.Reason)
		}
		if got.Verdict != Unsatisfiable {
			continue
		}
		p := newProver(f, newBudget(nil, DefaultSteps))
		p.answer()
		samples := []float64{0, math.MaxFloat64, -math.MaxFloat64}
		for range 100 {
			samples = append(samples, math.Ldexp(m.Float64()-0.5, m.IntN(2000)-1000), float64(m.IntN(20000)-10000)/4)
		}
		for _, l := range p.terms[0].leaves {
			for _, f := range l.places {
				samples = append(samples, f, math.Nextafter(f, 1e308), math.Nextafter(f, -1e308))
			}
		}
		for _, v := range samples {
			if f.Holds(map[string]any{"x": v}) {
				t.Fatalf("%s: said to be unsatisfiable, and holds for %v", texts, v)
			}
		}
		if f.Holds(map[string]any{}) {
			t.Fatalf("%s: said to be unsatisfiable, and holds for nothing", texts)
		}
	}
	if verdicts[Satisfiable] < 200 || verdicts[Unsatisfiable] < 200 || verdicts[Undecided] > 100 {
		t.Errorf("%v: the test has lost its power", verdicts)
	}
}

// TestBisect: the rank of numbers keeps their order, and every first number is found.
func TestBisect(t *testing.T) {
	numbers := []float64{-math.MaxFloat64, -1e10, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 0.1, 1, 5000, math.MaxFloat64}
	for i, f := range numbers {
		if ranked(rank(f)) != f || i > 0 && rank(numbers[i-1]) >= rank(f) {
			t.Errorf("rank %d of %v", rank(f), f)
		}
		if i > 0 {
			if got := bisect(numbers[0], math.MaxFloat64, func(v float64) bool { return v >= f }); got != f {
				t.Errorf("found %v, want %v", got, f)
			}
		}
	}
}

// limits are so many conditions v > 0, v > 1 ... of one variable.
func limits(t *testing.T, count int, format string) []*Expr {
	var all []*Expr
	for i := range count {
		all = append(all, compile(t, strings.ReplaceAll(format, "#", fmt.Sprint(i))))
	}
	return all
}

// TestChainsOfLimits: the questions about hundreds of limits of one variable are all
// decided, in steps that grow with the number of limits and not with its square.
func TestChainsOfLimits(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]Verdict{
		`{">": [{"var": "v"}, #]}`: Unsatisfiable,
		`{"and": [{">=": [{"var": "v"}, #]}, {"==": [{"var": "k"}, "a"]}]}`: Unsatisfiable,
		`{"<": [#, {"var": "v"}, 1000]}`:                                    Unsatisfiable,
		`{">": [{"+": [{"var": "v"}, 1]}, #]}`:                              Unsatisfiable,
		`{"==": [{"var": "v"}, #]}`:                                         Satisfiable,
		`{"or": [{"==": [{"var": "v"}, #]}, {">": [{"var": "w"}, #]}]}`:     Satisfiable,
	} {
		cost := func(count int) int {
			rules := limits(t, count, format)
			most := 0
			for i := 1; i < count; i += count / 40 {
				var parts []Formula
				for k := range i {
					parts = append(parts, Not(IsTrue(rules[k])))
				}
				for k := i + 1; k < count; k++ {
					parts = append(parts, Not(IsUnknown(rules[k])))
				}
				most = max(most, spent(func(b *Budget) {
					if a := (Solver{Budget: b}).Solve(All(append(parts, IsTrue(rules[i]))...)); a.Verdict != want {
						t.Fatalf("%s, rule %d of %d: %s", format, i, count, describe(t, a))
					}
				}))
			}
			return most
		}
		few, many := cost(100), cost(400)
		t.Logf("%s: %d steps for 100, %d for 400", format, few, many)
		if many > 8*few || many > 500_000 {
			t.Errorf("%s: 100 limits take %d steps, and 400 take %d", format, few, many)
		}
	}
}

// TestComparedVariables: a comparison of two variables makes no claim undecided whose
// truth does not depend on it: not where the variables are read nowhere else, and not
// where it only has to be known.
func TestComparedVariables(t *testing.T) {
	t.Parallel()
	m := newMaker(13, false)
	undecided, asked := 0, 0
	for range 1500 {
		f := IsTrue(compile(t, source(t, m.condition(m.IntN(4)))))
		free := compile(t, source(t, op(oneOf(m, "<", "<=", ">", ">=", "==", "!=", "===", "!=="), map[string]any{"var": "e"}, map[string]any{"var": "f"})))
		without := Solve(f)
		for about, stated := range map[string]Formula{"true": IsTrue(free), "false": IsFalse(free), "known": Not(IsUnknown(free)), "anything": Any(IsUnknown(free), Not(IsUnknown(free)))} {
			if with := Solve(All(f, stated)); with.Verdict != without.Verdict {
				t.Fatalf("%s of %s, and that %s is %s: %s", without.Verdict, show(f.of.expr.source.Any()), show(free.source.Any()), about, describe(t, with))
			}
		}
		a, b := oneOf(m, gridVariables...), oneOf(m, gridVariables...)
		known := compile(t, source(t, op(oneOf(m, "<", "==", ">="), map[string]any{"var": a}, map[string]any{"var": b})))
		if asked++; Solve(All(f, Not(IsUnknown(known)))).Verdict == Undecided {
			undecided++
		}
	}
	if undecided > asked/200 {
		t.Errorf("%d of %d claims are undecided because two variables are compared", undecided, asked)
	}
}

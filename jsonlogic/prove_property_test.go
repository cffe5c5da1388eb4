package jsonlogic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The property tests compare proofs with brute force: conditions over three
// variables, evaluated over a grid of requests.
const (
	conditions   = 22_000 // of the complete fragment
	wildOnes     = 6_000  // beyond it
	gridSample   = 150    // requests looked at for a claim
	fullGridEach = 200    // every so many conditions, all requests
)

var gridVariables = []string{"a", "b.c", "d"}

// gridValues are one value at least of each kind of region that the generator's
// constants cut; absent is a variable that is not there.
func gridValues() []any {
	return []any{
		absentValue{}, nil, true, false, -5.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 3000.0,
		"", "x", "y", "zz", "3", "0", "xy", " odd\x00 ",
		[]any{}, []any{nil}, []any{"x"}, []any{"x", "y", 1.0}, []any{1.0}, []any{[]any{}}, []any{map[string]any{"x": 1.0}},
		map[string]any{}, map[string]any{"x": 1.0},
	}
}

type absentValue struct{}

func request(values [3]any) map[string]any {
	data := map[string]any{}
	for i, v := range values {
		if _, absent := v.(absentValue); absent {
			continue
		}
		if gridVariables[i] == "b.c" {
			data["b"] = map[string]any{"c": v}
		} else {
			data[gridVariables[i]] = v
		}
	}
	return data
}

// maker makes random conditions.
type maker struct {
	*rand.Rand
	wild bool // also what is not followed
}

func newMaker(seed uint64, wild bool) maker { return maker{rand.New(rand.NewPCG(seed, 1)), wild} }

func op(name string, operands ...any) any { return map[string]any{name: operands} }

func oneOf[T any](m maker, values ...T) T { return values[m.IntN(len(values))] }

func (m maker) number() any { return oneOf[any](m, -1, 0, 1, 2, 3, 2.5, 3) }

func (m maker) text() any { return oneOf[any](m, "x", "y", "", "3") }

func (m maker) constant() any {
	return oneOf(m, m.number(), m.number(), m.text(), m.text(), true, false, nil)
}

func (m maker) variable() any {
	path := oneOf(m, gridVariables...)
	if m.IntN(8) == 0 {
		return op("var", path, m.constant())
	}
	return map[string]any{"var": path}
}

func (m maker) several(make func() any) []any {
	list := []any{}
	for range m.IntN(4) {
		list = append(list, make())
	}
	return list
}

// value is an operand whose options are simple.
func (m maker) value(depth int) any {
	if depth == 0 {
		return m.variable()
	}
	switch m.IntN(12) {
	case 0:
		return op("if", m.condition(depth-1), m.constant(), m.variable())
	case 1:
		return op(oneOf(m, "and", "or"), m.variable(), m.constant())
	case 2:
		return op("!!", m.condition(depth-1))
	case 3:
		return m.constant()
	}
	return m.variable()
}

// comparison has one variable at most in each way to its value.
func (m maker) comparison(depth int) any {
	a, b := m.value(depth), m.constant()
	if m.IntN(3) == 0 {
		a, b = b, a
	}
	switch m.IntN(7) {
	case 0, 1:
		return op(oneOf(m, "==", "!=", "===", "!=="), a, b)
	case 2:
		return op(oneOf(m, "==", "!=", "===", "!=="), op(oneOf(m, "!", "!!"), m.condition(max(depth-1, 0))), oneOf(m, true, false))
	case 3:
		bounds := []any{m.number(), m.value(depth), m.number()}
		return op(oneOf(m, "<", "<="), bounds...)
	case 4:
		return op("in", m.value(depth), m.several(m.constant))
	}
	if m.IntN(2) == 0 {
		return op(oneOf(m, "<", "<=", ">", ">="), m.value(depth), m.number())
	}
	return op(oneOf(m, "<", "<=", ">", ">="), m.number(), m.value(depth))
}

func (m maker) condition(depth int) any {
	if m.wild && m.IntN(5) == 0 {
		return m.unfollowed()
	}
	if depth == 0 {
		switch m.IntN(14) {
		case 0:
			return m.variable()
		case 1:
			return op("!", m.variable())
		case 2:
			return op("missing", any(oneOf(m, gridVariables...)))
		case 3:
			return op("in", m.constant(), map[string]any{"var": oneOf(m, gridVariables...)})
		case 4:
			return m.emptyList()
		case 5:
			outer := map[string]any{"var": "b"} // what "b.c" is read from
			return oneOf(m, op("==", outer, m.constant()), op("!", outer), op("missing", "b"), op("===", outer, m.constant()))
		}
		return m.comparison(0)
	}
	switch m.IntN(12) {
	case 0, 1, 2:
		return op("and", append(m.several(func() any { return m.condition(depth - 1) }), m.condition(depth-1))...)
	case 3, 4:
		return op("or", append(m.several(func() any { return m.condition(depth - 1) }), m.condition(depth-1))...)
	case 5, 6:
		return op(oneOf(m, "!", "!", "!!"), m.condition(depth-1))
	case 7:
		return op("if", m.condition(depth-1), m.condition(depth-1), m.condition(depth-1))
	case 8:
		return op("if", m.condition(depth-1), m.condition(depth-1), m.condition(depth-1), m.constant())
	case 9:
		return op("missing_some", m.IntN(4), []any{"a", "b.c", oneOf(m, "d", "a")})
	}
	return m.comparison(depth)
}

// emptyList is true of an empty list and of no scalar.
func (m maker) emptyList() any {
	v := map[string]any{"var": oneOf(m, gridVariables...)}
	return op("and", op("!", v), op("!", op("missing", v["var"])), op("!==", v, 0), op("!==", v, false))
}

// unfollowed is a condition that the proof takes as it is.
func (m maker) unfollowed() any {
	a, b := m.variable(), m.variable()
	item := map[string]any{"var": ""}
	return oneOf(m,
		op(oneOf(m, "==", "===", "<", "in"), a, b),
		op(">", op(oneOf(m, "+", "-", "*", "min"), a, oneOf(m, b, m.number())), m.number()),
		op("==", op("cat", a, oneOf(m, b, m.text())), m.text()),
		op("===", op("substr", a, 0, 1), "x"),
		op(oneOf(m, "some", "all", "none"), a, op("==", item, m.constant())),
		op("in", m.text(), "xy"), op("in", a, "xyx"), op("in", "x", a),
		op("==", op("reduce", a, op("+", map[string]any{"var": "current"}, map[string]any{"var": "accumulator"}), 0), m.number()),
		op("!!", op("filter", a, op(">", item, 1))), op("!", op("merge", a, b)), op("===", op("merge", a, b), []any{}),
		op("==", map[string]any{"var": "b"}, m.constant()), op("!", map[string]any{"var": "b"}),
		op("==", map[string]any{"var": oneOf(m, "a.length", "d.0", "a.constructor", "d.x")}, m.constant()),
		op("missing", op("if", a, []any{"a"}, []any{"d", "b.c"})), op("in", a, []any{m.variable(), m.constant()}), op("<", m.number(), a, b),
		op("in", []any{}, a), op("===", a, []any{}), op("%", a, 2), op("==", op("some", []any{1, 2}, op("<", item, m.number())), true),
	)
}

func source(t testing.TB, condition any) string {
	t.Helper()
	text, err := json.Marshal(condition)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// grid looks for a request for which a formula holds, where the assumed variables
// are scalars: in a sample of the grid or all of it.
type grid struct {
	values []any
	sample int
}

func (g grid) model(r *rand.Rand, f Formula, assumed []string, all bool) map[string]any {
	try := func(at [3]int) map[string]any {
		var values [3]any
		for i, k := range at {
			values[i] = g.values[k]
			if k := kindOf(values[i]); (k == kindArray || k == kindObject) && slices.Contains(assumed, gridVariables[i]) {
				return nil
			}
		}
		if data := request(values); f.Holds(data) {
			return data
		}
		return nil
	}
	n := len(g.values)
	if all {
		for i := range n * n * n {
			if data := try([3]int{i % n, i / n % n, i / n / n}); data != nil {
				return data
			}
		}
		return nil
	}
	for range g.sample {
		if data := try([3]int{r.IntN(n), r.IntN(n), r.IntN(n)}); data != nil {
			return data
		}
	}
	return nil
}

// tally counts what came of the formulas of a test.
type tally struct {
	verdicts [3]int
	assumed  int
	wrong    int
	example  string
}

func (y tally) String() string {
	return fmt.Sprintf("%d satisfiable, %d unsatisfiable (%d with assumptions), %d undecided, %d false claims",
		y.verdicts[Satisfiable], y.verdicts[Unsatisfiable], y.assumed, y.verdicts[Undecided], y.wrong)
}

// statementOf turns two conditions into one of the questions that are asked.
func (m maker) statementOf(a, b *Expr) (Formula, string) {
	switch m.IntN(6) {
	case 0:
		return IsTrue(a), "true"
	case 1:
		return All(IsTrue(a), IsTrue(b)), "both"
	case 2:
		return All(IsTrue(a), Not(IsTrue(b))), "implies"
	case 3:
		return All(IsUnknown(a), Any(IsFalse(b), Is("d", "x"), Is("a", nil))), "unknown"
	case 4:
		return All(IsFalse(a), Not(Any(IsUnknown(b), Is("b.c", 3.0)))), "false"
	}
	return All(Not(IsTrue(a)), Not(IsFalse(a)), Any(IsTrue(b), IsFalse(b))), "neither"
}

// check answers so many formulas, the prover changed by a function, and holds
// the answers against the grid. It ends with the first that is wrong.
func check(t testing.TB, m maker, count, sample int, change func(*prover)) tally {
	var y tally
	g := grid{gridValues(), sample}
	// A search in a variable, wherever it stands, makes it one that may be a list.
	searched := All()
	for _, path := range gridVariables {
		search := compile(t, source(t, op("in", "nothing", map[string]any{"var": path})))
		searched = All(searched, Any(IsTrue(search), All()))
	}
	for i := 0; i < count && y.wrong == 0; i++ {
		a, b := source(t, m.condition(m.IntN(4))), source(t, m.condition(m.IntN(3)))
		f, question := m.statementOf(compile(t, a), compile(t, b))
		p := newProver(f, newBudget(nil, DefaultSteps))
		change(p)
		answer, done := p.answer()
		if !done {
			answer = Answer{Reason: "budget"}
		}
		y.verdicts[answer.Verdict]++
		say := func(what string, data any) {
			y.wrong++
			y.example = fmt.Sprintf("%s of %s and %s: %s, data %s, %+v", question, a, b, what, show(data), answer)
		}
		switch answer.Verdict {
		case Satisfiable:
			if !f.Holds(answer.Witness) {
				say("the witness is none", answer.Witness)
			}
		case Unsatisfiable:
			if len(answer.Assumed) > 0 {
				y.assumed++
			}
			if data := g.model(m.Rand, f, answer.Assumed, i%fullGridEach == 0); data != nil {
				say("there is a model", data)
			}
			if len(answer.Assumed) > 0 && Solve(All(f, searched)).Verdict == Unsatisfiable {
				say("assumed without need", nil)
			}
		case Undecided:
			if y.example == "" && !m.wild {
				y.example = fmt.Sprintf("%s of %s and %s: undecided, %s", question, a, b, answer.Reason)
			}
		}
	}
	return y
}

// TestProofs: over the fragment of comparisons, equality, searches in lists,
// presence and connectives, every question is answered, and no answer is wrong.
func TestProofs(t *testing.T) {
	t.Parallel()
	y := check(t, newMaker(1, false), conditions, gridSample, func(*prover) {})
	t.Log(y)
	if y.wrong > 0 || y.verdicts[Undecided] > 0 {
		t.Error(y.example)
	}
	if least := conditions / 10; y.verdicts[Satisfiable] < least || y.verdicts[Unsatisfiable] < least || y.assumed == 0 {
		t.Errorf("%v: the test has lost its power", y)
	}
}

// TestWildProofs: with operations that are not followed, no answer is wrong.
func TestWildProofs(t *testing.T) {
	t.Parallel()
	y := check(t, newMaker(2, true), wildOnes, gridSample, func(*prover) {})
	t.Log(y)
	if y.wrong > 0 {
		t.Error(y.example)
	}
	if decided := y.verdicts[Satisfiable] + y.verdicts[Unsatisfiable]; decided < wildOnes*8/10 {
		t.Errorf("%v: want eight of ten decided", y)
	}
}

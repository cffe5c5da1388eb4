package jsonlogic

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/hang"
)

// rules are so many conditions as the rules of a pack have: an intent, a limit,
// and some of a handful of variables.
func rules(t testing.TB, count int) []*Expr {
	r := rand.New(rand.NewPCG(7, 7))
	var made []*Expr
	for range count {
		limit := 1000 * (1 + r.IntN(6))
		parts := []string{
			`{"==": [{"var": "request.intent"}, "refund"]}`,
			fmt.Sprintf(`{"%s": [{"var": "request.context.amount"}, %d]}`, []string{">", "<=", ">="}[r.IntN(3)], limit),
		}
		switch r.IntN(5) {
		case 0:
			parts = append(parts, `{"in": [{"var": "request.context.country"}, ["CH", "DE", "AT"]]}`)
		case 1:
			parts = append(parts, `{"!": {"==": [{"var": "user.role"}, "admin"]}}`)
		case 2:
			parts = append(parts, fmt.Sprintf(`{"<": [0, {"var": "user.tenure_days"}, %d]}`, 30*(1+r.IntN(4))))
		case 3:
			parts = append(parts, `{"or": [{"var": "user.verified"}, {"in": ["vip", {"var": "user.tags"}]}]}`)
		}
		made = append(made, compile(t, `{"and": [`+strings.Join(parts, ", ")+`]}`))
	}
	return made
}

// uncovered asks whether a rule fires where none of the others does.
func uncovered(rules []*Expr, at int) Formula {
	parts := []Formula{Is("request.intent", "refund"), IsTrue(rules[at])}
	for i, other := range rules {
		if i != at {
			parts = append(parts, Not(IsTrue(other)))
		}
	}
	return All(parts...)
}

// BenchmarkSolve measures one question over twenty rules, from the conditions to
// the witness or the proof.
func BenchmarkSolve(b *testing.B) {
	twenty := rules(b, 20)
	verdicts := [3]int{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		verdicts[Solve(uncovered(twenty, i%len(twenty))).Verdict]++
	}
	if verdicts[Undecided] > 0 {
		b.Fatalf("verdicts %v", verdicts)
	}
}

// BenchmarkSolvePair measures the question whether two rules overlap.
func BenchmarkSolvePair(b *testing.B) {
	twenty := rules(b, 20)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Solve(All(Is("request.intent", "refund"), IsTrue(twenty[i%20]), IsTrue(twenty[i/20%20])))
	}
}

// BenchmarkSolveMany measures one question over two hundred rules.
func BenchmarkSolveMany(b *testing.B) {
	many := rules(b, 200)
	for i := 0; b.Loop(); i++ {
		Solve(uncovered(many, i%len(many)))
	}
}

// TestProofBounds: what is large is answered or given up, in time.
func TestProofBounds(t *testing.T) {
	codes := func(prefix string) string {
		var b strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&b, "%q, ", fmt.Sprint(prefix, i))
		}
		return "[" + strings.TrimSuffix(b.String(), ", ") + "]"
	}
	times := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.Join(parts, ", ")
	}
	// No more pigeons than holes, said of more pigeons.
	var pigeons []string
	for i := range 11 {
		pigeons = append(pigeons, `{"or": [`+times(10, fmt.Sprintf(`{"var": "p%d_#"}`, i))+`]}`)
		for k := range i {
			pigeons = append(pigeons, `{"!": {"or": [`+times(10, fmt.Sprintf(`{"and": [{"var": "p%d_#"}, {"var": "p%d_#"}]}`, i, k))+`]}}`)
		}
	}
	for _, c := range []struct {
		about, rule string
		want        []Verdict
	}{
		{"64 levels", nested(maxDepth), []Verdict{Satisfiable}},
		{"levels of and and or", strings.Repeat(`{"and": [{"or": [{"var": "a"}, `, 31) + `{"var": "b"}` + strings.Repeat(`]}, {"var": "c"}]}`, 31), []Verdict{Satisfiable}},
		{"levels of equality", strings.Repeat(`{"==": [true, {"!=": [false, `, 31) + `{"var": "b"}` + strings.Repeat(`]}]}`, 31), []Verdict{Satisfiable}},
		{"levels of if", strings.Repeat(`{"==": [1, {"if": [{"var": "a"}, {"var": "b"}, `, 31) + `{"var": "c"}` + strings.Repeat(`]}]}`, 31), []Verdict{Satisfiable, Undecided}},
		{"5,000 nodes", `{"or": [` + times(1250, `{"==": [{"var": "x"}, "s#"]}`) + `]}`, []Verdict{Satisfiable}},
		{"5,000 nodes, numbers", `{"and": [` + times(1250, `{"!=": [{"var": "x"}, #]}`) + `, {"<": [{"var": "x"}, 1250]}, {">": [{"var": "x"}, 0]}]}`, []Verdict{Satisfiable, Undecided}},
		{"5,000 nodes, order", `{"and": [` + times(1250, `{">": [{"var": "x"}, #]}`) + `]}`, []Verdict{Satisfiable, Undecided}},
		{"5,000 variables", `{"and": [` + times(2400, `{"var": "x#"}`) + `]}`, []Verdict{Satisfiable, Undecided}},
		{"10,000 codes", `{"and": [{"in": [{"var": "x"}, ` + codes("a") + `]}, {"in": [{"var": "x"}, ` + codes("b") + `]}]}`, []Verdict{Unsatisfiable}},
		{"10,000 codes, not", `{"and": [{"!": {"in": [{"var": "x"}, ` + codes("a") + `]}}, {"var": "x"}]}`, []Verdict{Satisfiable}},
		{"sums", `{"and": [` + times(400, `{">": [{"+": [{"var": "x#"}, {"var": "y#"}]}, #]}`) + `]}`, []Verdict{Satisfiable, Undecided}},
		{"some of many", `{"missing_some": [500, [` + times(1000, `"k#"`) + `]]}`, []Verdict{Satisfiable, Undecided}},
		{"patterns", `{"in": [{"var": "x"}, "` + strings.Repeat("(a+)+", 5000) + `"]}`, []Verdict{Satisfiable}},
		{"pigeons", `{"and": [` + strings.Join(pigeons, ", ") + `]}`, []Verdict{Unsatisfiable, Undecided}},
	} {
		x := compile(t, c.rule)
		hang.Within(t, c.about, func() {
			for _, f := range []Formula{IsTrue(x), All(Not(IsTrue(x)), Not(IsFalse(x)), Not(IsUnknown(x)))} {
				if got := Solve(f); f.of.form == says && !slices.Contains(c.want, got.Verdict) {
					t.Errorf("%s: %s, want one of %v", c.about, describe(t, got), c.want)
				} else if got.Verdict == Satisfiable && !f.Holds(got.Witness) {
					t.Errorf("%s: the witness is none", c.about)
				}
			}
		})
	}
}

// TestFiftyRules: the questions about fifty rules are all decided.
func TestFiftyRules(t *testing.T) {
	fifty := rules(t, 50)
	hang.Within(t, "solving", func() {
		for i := range fifty {
			if got := Solve(uncovered(fifty, i)); got.Verdict == Undecided {
				t.Errorf("rule %d: %s", i, got.Reason)
			}
		}
	})
}

// TestBudgetOfProofs: a proof that ends for want of steps says so, whatever the
// budget is, and a larger budget never turns an answer into another.
func TestBudgetOfProofs(t *testing.T) {
	f := uncovered(rules(t, 20), 3)
	want := Solve(f)
	given := 0
	for steps := 1; steps < 200_000; steps = steps*5/4 + 1 {
		got := Solver{Steps: steps}.Solve(f)
		if got.Verdict == Undecided {
			given++
			if got.Reason != fmt.Sprintf("not proved within %d steps", steps) {
				t.Fatalf("%d steps: %s", steps, got.Reason)
			}
			continue
		}
		if got.Verdict != want.Verdict {
			t.Fatalf("%d steps: %v, want %v", steps, got, want)
		}
	}
	if given < 10 {
		t.Errorf("%d budgets were too small, want more", given)
	}
}

// FuzzSolve holds what is true of every formula: no panic, a bounded time, the
// same answer twice, a witness that is one, and no claim that the seeds' data
// refutes.
func FuzzSolve(f *testing.F) {
	triples := readTriples(f)
	for i := 0; i+3 < len(triples); i += 23 {
		f.Add(string(triples[i].Rule), string(triples[i+3].Rule), show(triples[i].Data))
	}
	f.Fuzz(func(t *testing.T, first, second, data string) {
		limits := pack.Limits{MaxBytes: 1 << 16, MaxDepth: 200, MaxValues: 20_000}
		var compiled []*Expr
		for _, text := range []string{first, second} {
			doc, _ := pack.Read("rule.json", []byte(text), limits)
			if doc.Root == nil {
				return
			}
			x, _ := Compile(doc.Root)
			if x == nil {
				return
			}
			compiled = append(compiled, x)
		}
		var request any
		if side, faults := pack.Read("data.json", []byte(data), limits); side.Root != nil && len(faults) == 0 {
			request = side.Root.Any()
		}
		a, b := compiled[0], compiled[1]
		solver := Solver{Steps: 300_000}
		for _, formula := range []Formula{
			IsTrue(a), IsUnknown(a), All(IsTrue(a), Not(IsTrue(b))), All(IsFalse(b), Any(IsTrue(a), IsUnknown(a))),
		} {
			hang.Within(t, "solving", func() { checkAnswer(t, solver, formula, request) })
		}
	})
}

func checkAnswer(t *testing.T, solver Solver, f Formula, data any) {
	t.Helper()
	got := solver.Solve(f)
	if again := solver.Solve(f); !reflect.DeepEqual(got, again) {
		t.Fatalf("%+v, then %+v", got, again)
	}
	describe(t, got)
	if got.Verdict == Satisfiable && !f.Holds(got.Witness) {
		t.Fatalf("%s is no witness", show(got.Witness))
	}
	if _, isObject := data.(map[string]any); isObject && got.Verdict == Unsatisfiable && len(got.Assumed) == 0 && f.Holds(data) {
		t.Fatalf("%s is a model, and there is said to be none", show(data))
	}
}

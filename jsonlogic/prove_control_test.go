package jsonlogic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"
)

// TestProofsFindMistakes is the control of TestProofs: regions that are cut
// wrongly lead to false claims, and the test finds them.
func TestProofsFindMistakes(t *testing.T) {
	t.Parallel()
	lose := func(lost func(*region) bool) func(*term) {
		return func(t *term) {
			t.divide()
			t.regions = slices.DeleteFunc(t.regions, func(r region) bool { return lost(&r) })
		}
	}
	for about, cut := range map[string]func(*term){
		"missing":           lose(func(r *region) bool { return r.absent }),
		"null":              lose(func(r *region) bool { return r.value == nil && !r.absent }),
		"false":             lose(func(r *region) bool { return r.value == false }),
		"0":                 lose(func(r *region) bool { return r.value == 0.0 }),
		"a constant number": lose(func(r *region) bool { return r.value == 3.0 }),
		"intervals": lose(func(r *region) bool {
			f, ok := r.value.(float64)
			return ok && f != math.Trunc(f)
		}),
		"large numbers":   lose(func(r *region) bool { return r.value == 4.0 }),
		"the empty text":  lose(func(r *region) bool { return r.value == "" }),
		"a constant text": lose(func(r *region) bool { return r.value == "x" }),
		"other texts":     lose(func(r *region) bool { return r.open }),
		"empty lists":     lose(func(r *region) bool { return kindOf(r.value) == kindArray && truth(r.value) == False }),
		"lists":           lose(func(r *region) bool { return kindOf(r.value) == kindArray && truth(r.value) == True }),
	} {
		y := check(t, newMaker(1, false), conditions, 4*gridSample, func(p *prover) { p.divide, p.memo = cut, nil })
		t.Logf("without %s: found in %v", about, y)
		if y.wrong == 0 {
			t.Errorf("without %s: no false claim was found", about)
		}
	}
}

// TestSearchAgainstGini compares the search with another solver over random
// clauses, with and without assumptions, and holds that a model is the one that
// prefers best in the order.
func TestSearchAgainstGini(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var models, contradictions, cores int
	for range 4000 {
		size := 3 + r.IntN(12)
		s, other := newSearch(), gini.New()
		s.begin(newBudget(nil, 1<<30))
		literals := []literal{}
		for range size {
			literals = append(literals, s.proposition())
		}
		s.order = literals
		pick := func() literal { return literals[r.IntN(size)] ^ literal(r.IntN(2)) }
		var clauses [][]literal
		for range size * (2 + r.IntN(3)) {
			clause := []literal{pick(), pick(), pick()}[:1+min(2, r.IntN(12))]
			clauses = append(clauses, slices.Clone(clause))
			s.add(clause...)
			for _, l := range clause {
				other.Add(foreign(l))
			}
			other.Add(0)
		}
		if r.IntN(2) == 0 {
			s.solve(nil) // what is learnt must not change later answers
		}
		// Once contradicted by itself, the other solver may not be asked again.
		want := other.Solve() == 1
		assumptions := []literal{pick(), pick(), pick()}[:r.IntN(4)]
		if want && len(assumptions) > 0 {
			for _, l := range assumptions {
				other.Assume(foreign(l))
			}
			want = other.Solve() == 1
		}
		got, core, done := s.solve(assumptions)
		if got != want || !done {
			t.Fatalf("%v assuming %v: got %v, want %v", clauses, assumptions, got, want)
		}
		if !got {
			contradictions++
			for _, l := range core {
				if !slices.Contains(assumptions, l) {
					t.Fatalf("%v is no assumption of %v", l, assumptions)
				}
			}
			if len(core) > 0 && len(core) < len(assumptions) {
				cores++
			}
			if again, _, _ := s.solve(core); again {
				t.Fatalf("%v assuming %v: the core %v has a model", clauses, assumptions, core)
			}
			continue
		}
		models++
		preferred(t, s, clauses, assumptions, literals)
	}
	t.Logf("%d models, %d contradictions, %d smaller cores", models, contradictions, cores)
	if models < 1000 || contradictions < 1000 || cores < 10 {
		t.Error("the test has lost its power")
	}
}

func foreign(l literal) z.Lit {
	if l&1 == 1 {
		return z.Var(l.proposition() + 1).Neg()
	}
	return z.Var(l.proposition() + 1).Pos()
}

// preferred compares a model with the best of all, found by trying every one.
func preferred(t *testing.T, s *search, clauses [][]literal, assumptions, order []literal) {
	t.Helper()
	holds := func(bits int, l literal) bool {
		at := slices.Index(order, l&^1)
		return (bits>>(len(order)-1-at)&1 == 1) == (l&1 == 0)
	}
	for bits := 1<<len(order) - 1; bits >= 0; bits-- {
		fails := slices.ContainsFunc(clauses, func(clause []literal) bool {
			return !slices.ContainsFunc(clause, func(l literal) bool { return holds(bits, l) })
		})
		if fails || slices.ContainsFunc(assumptions, func(l literal) bool { return !holds(bits, l) }) {
			continue
		}
		// Assumptions are decided first, so the rest is what the order decides.
		for _, l := range order {
			if s.holds(l) != holds(bits, l) {
				t.Fatalf("%v assuming %v: not the preferred model", clauses, assumptions)
			}
		}
		return
	}
	t.Fatalf("%v assuming %v: there is no model", clauses, assumptions)
}

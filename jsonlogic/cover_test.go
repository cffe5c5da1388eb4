package jsonlogic

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// covered finds the covers of so many formulas and holds them against the grid: what is in a
// cube, and what the formula holds of, but for requests about which nothing is said.
func covered(t testing.TB, m maker, count int) (complete, cubes int) {
	t.Helper()
	g := grid{gridValues(), gridSample}
	for i := range count {
		a, b, c := source(t, m.condition(m.IntN(4))), source(t, m.condition(m.IntN(3))), source(t, m.condition(m.IntN(2)))
		f, question := m.statementOf(compile(t, a), compile(t, b))
		idle, within := Any(), Formula{}
		switch m.IntN(4) {
		case 0:
			idle = All(IsUnknown(compile(t, c)), Not(f))
		case 1:
			within = Not(IsUnknown(compile(t, c)))
		}
		cover := Solver{Within: within}.Cover(f, idle)
		about := fmt.Sprintf("%s of %s and %s, beside %s", question, a, b, c)
		if cover.Complete {
			complete++
		} else if !m.wild {
			t.Fatalf("%s: not complete: %s", about, cover.Reason)
		}
		cubes += len(cover.Cubes)
		holdCover(t, m, g, cover, f, idle, within, about)
		if i%8 == 0 && cover.Complete && !m.wild {
			holdPrime(t, cover, f, idle, within, about)
		}
	}
	return complete, cubes
}

func holdCover(t testing.TB, m maker, g grid, cover Cover, f, idle, within Formula, about string) {
	t.Helper()
	var all []Formula
	for _, c := range cover.Cubes {
		all = append(all, c.Formula())
		if c.Witness != nil && !All(f, within, c.Formula()).Holds(c.Witness) {
			t.Fatalf("%s: %s is no witness of %+v", about, show(c.Witness), c.Terms)
		}
		if c.Witness == nil && !m.wild {
			t.Fatalf("%s: no witness of %+v", about, c.Terms)
		}
	}
	one := Any(all...)
	if data := g.model(m.Rand, All(within, one, Not(f), Not(idle)), nil, false); data != nil {
		t.Fatalf("%s: %s is in a cube of %+v", about, show(data), cover.Cubes)
	}
	if !cover.Complete {
		return
	}
	if data := g.model(m.Rand, All(within, f, Not(one)), nil, false); data != nil {
		t.Fatalf("%s: %s is in no cube of %+v", about, show(data), cover.Cubes)
	}
}

// holdPrime proves that a cover says what it says and no more: both ways, and that it would
// not without one of its cubes or one of their terms.
func holdPrime(t testing.TB, cover Cover, f, idle, within Formula, about string) {
	t.Helper()
	var all []Formula
	for _, c := range cover.Cubes {
		all = append(all, c.Formula())
	}
	s := Solver{Within: within, Lists: append([]string{"b"}, gridVariables...)} // none is taken to be a scalar
	holds := func(f Formula) bool { return s.Solve(f).Verdict != Unsatisfiable }
	if holds(All(Any(all...), Not(f), Not(idle))) || holds(All(f, Not(Any(all...)))) {
		t.Fatalf("%s: not proved to be %+v", about, cover.Cubes)
	}
	for i, c := range cover.Cubes {
		if !holds(All(f, Not(Any(slices.Delete(slices.Clone(all), i, i+1)...)))) {
			t.Fatalf("%s: needless is %+v of %+v", about, c.Terms, cover.Cubes)
		}
		for k := range c.Terms {
			if slices.ContainsFunc(c.Terms, Term.Free) {
				continue // what is found in a list can follow from what is said of the list
			}
			fewer := Cube{Terms: slices.Delete(slices.Clone(c.Terms), k, k+1)}
			if !holds(All(fewer.Formula(), Not(f), Not(idle))) {
				t.Fatalf("%s: needless is %+v of %+v", about, c.Terms[k], c.Terms)
			}
		}
	}
}

// TestCovers: over the fragment that is followed all covers are complete, and exact.
func TestCovers(t *testing.T) {
	t.Parallel()
	const count = 3000
	complete, cubes := covered(t, newMaker(3, false), count)
	t.Logf("%d of %d complete, %d cubes", complete, count, cubes)
	if complete < count || cubes < count*8/10 {
		t.Errorf("%d of %d complete, %d cubes", complete, count, cubes)
	}
}

// TestWildCovers: with operations that are not followed, covers are right as far as they go.
func TestWildCovers(t *testing.T) {
	t.Parallel()
	const count = 1500
	complete, cubes := covered(t, newMaker(4, true), count)
	t.Logf("%d of %d complete, %d cubes", complete, count, cubes)
	if complete < count*7/10 {
		t.Errorf("%d of %d complete", complete, count)
	}
}

// TestCoverWithin: a budget that is too small gives fewer cubes, and never a wrong one.
func TestCoverWithin(t *testing.T) {
	t.Parallel()
	m := newMaker(5, false)
	g := grid{gridValues(), gridSample}
	cut := 0
	for range 600 {
		a, b := source(t, m.condition(3)), source(t, m.condition(3))
		f := All(IsTrue(compile(t, a)), Not(IsTrue(compile(t, b))))
		cover := Solver{Steps: 1 + m.IntN(5000)}.Cover(f, Any())
		if !cover.Complete {
			cut++
		}
		holdCover(t, maker{m.Rand, true}, g, cover, f, Any(), Formula{}, a+" and "+b)
	}
	if cut < 100 {
		t.Errorf("%d covers were cut short", cut)
	}
}

func TestRangeNot(t *testing.T) {
	r := Range{True: true, Numbers: []Interval{{Low: math.Inf(-1), High: 3}, {Low: 3, High: 5, WithHigh: true}}, Texts: []string{"a"}}
	if back := r.Not().Not(); fmt.Sprint(back) != fmt.Sprint(r) {
		t.Errorf("%+v, then %+v, then %+v", r, r.Not(), back)
	}
	if n := r.Not().Numbers; len(n) != 2 || !n[0].IsPoint() || n[0].Low != 3 || n[1].Has(5) || !n[1].Has(5.5) {
		t.Errorf("%+v", n)
	}
}

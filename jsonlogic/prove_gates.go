package jsonlogic

import "slices"

// pair is a truth of three values as two propositions, at most one of which
// holds: that it is true, and that it is false. Neither means unknown.
type pair struct{ t, f literal }

func pairOf(t Truth) pair {
	switch t {
	case True:
		return pair{always, never}
	case False:
		return pair{never, always}
	}
	return pair{never, never}
}

func (x pair) not() pair { return pair{x.f, x.t} }

// gates builds propositions that stand for the conjunction or disjunction of
// others, and gives the search the clauses that say so (Tseitin 1968).
type gates struct {
	search *search
	pairs  map[[2]literal]literal

	inputs, negated, clause []literal // of the gate that is being built
}

// and returns what holds exactly if all of the literals do.
func (g *gates) and(inputs ...literal) literal {
	literals := g.inputs[:0]
	for _, l := range inputs {
		switch l {
		case always:
		case never:
			return never
		default:
			literals = append(literals, l)
		}
	}
	g.inputs = literals
	slices.Sort(literals)
	literals = slices.Compact(literals)
	for i := 1; i < len(literals); i++ {
		// A proposition and its negation are neighbours in the order.
		if literals[i] == literals[i-1].not() {
			return never
		}
	}
	switch len(literals) {
	case 0:
		return always
	case 1:
		return literals[0]
	case 2:
		key := [2]literal(literals)
		if known, ok := g.pairs[key]; ok {
			return known
		}
		made := g.gate(literals)
		g.pairs[key] = made
		return made
	}
	return g.gate(literals)
}

func (g *gates) gate(literals []literal) literal {
	all := g.search.proposition()
	clause := g.clause[:0]
	for _, l := range literals {
		g.search.add(all.not(), l)
		clause = append(clause, l.not())
	}
	g.clause = append(clause, all)
	g.search.add(g.clause...)
	return all
}

// or returns what holds exactly if one of the literals does.
func (g *gates) or(inputs ...literal) literal {
	g.negated = g.negated[:0]
	for _, l := range inputs {
		g.negated = append(g.negated, l.not())
	}
	return g.and(g.negated...).not()
}

func (g *gates) neither(x pair) literal { return g.and(x.t.not(), x.f.not()) }

// conjunction is Kleene's: false if one is, true if all are.
func (g *gates) conjunction(parts []pair) pair {
	t, f := make([]literal, len(parts)), make([]literal, len(parts))
	for i, part := range parts {
		t[i], f[i] = part.t, part.f
	}
	return pair{g.and(t...), g.or(f...)}
}

func (g *gates) disjunction(parts []pair) pair {
	negated := make([]pair, len(parts))
	for i, part := range parts {
		negated[i] = part.not()
	}
	return g.conjunction(negated).not()
}

// choice is what "if" makes of a condition and its two ways: where the condition
// is unknown, what both ways agree on.
func (g *gates) choice(condition, then, otherwise pair) pair {
	one := func(a, b literal) literal {
		return g.or(g.and(condition.t, a), g.and(condition.f, b), g.and(a, b))
	}
	return pair{one(then.t, otherwise.t), one(then.f, otherwise.f)}
}

// atLeast returns that so many of the literals hold.
func (g *gates) atLeast(need int, literals []literal) literal {
	if need > len(literals) {
		return never
	}
	// reached[k] is that k of the literals so far hold.
	reached := make([]literal, max(need, 0)+1)
	for k := range reached {
		reached[k] = never
	}
	reached[0] = always
	for _, l := range literals {
		for k := len(reached) - 1; k > 0 && !g.search.budget.over(); k-- {
			reached[k] = g.or(reached[k], g.and(reached[k-1], l))
		}
	}
	return reached[len(reached)-1]
}

// atMostOne says that no two of the literals hold.
func (g *gates) atMostOne(literals []literal) {
	if len(literals) <= 6 {
		for i, a := range literals {
			for _, b := range literals[:i] {
				g.search.add(a.not(), b.not())
			}
		}
		return
	}
	// passed is that one of those so far holds: linear where the pairs are not.
	passed := literals[0]
	for i, l := range literals[1:] {
		g.search.add(passed.not(), l.not())
		if i == len(literals)-2 {
			return
		}
		further := g.search.proposition()
		g.search.add(passed.not(), further)
		g.search.add(l.not(), further)
		passed = further
	}
}

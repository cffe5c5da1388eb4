package jsonlogic

import "sync"

// A run asks thousands of small questions, each of which needs as much room as the one before.

// provers are those that have come to their end, whose room others use again.
var provers = sync.Pool{New: func() any {
	s := newSearch()
	return &prover{
		search: s, gates: &gates{search: s, pairs: map[[2]literal]literal{}},
		variables: map[string]*term{}, opaques: map[Key]*term{}, leaves: map[leafKey]*leaf{},
		known: map[Key]pair{}, seen: map[*Expr]bool{}, tried: map[*Expr]evaluated{},
	}
}}

// mostMet bounds what a prover may have met of terms, expressions and operations, for its room to be
// used again: to empty a map takes as long as if it were as large as it ever was.
const mostMet = 1 << 10

func newProver(f Formula, b *budget) *prover {
	p := provers.Get().(*prover)
	p.formula, p.budget, p.memo, p.divide = f, b, &shapes, (*term).divide
	p.search.begin(b)
	return p
}

// close lets others use the room of a prover. Neither it nor anything of it may be used
// afterwards; answers have nothing of it, and shapes nothing of what is emptied here.
func (p *prover) close() {
	if len(p.terms)+len(p.seen)+len(p.known) > mostMet || !p.search.empty() {
		return
	}
	for _, t := range p.madeTerms.out() {
		clear(t.leaves)
		clear(t.readers)
		*t = term{leaves: t.leaves[:0], readers: t.readers[:0], families: t.families[:0], classes: t.classes[:0], below: t.below[:0]}
	}
	for _, l := range p.madeLeaves.out() {
		*l = leaf{}
	}
	clear(p.variables)
	clear(p.opaques)
	clear(p.leaves)
	clear(p.known)
	clear(p.seen)
	clear(p.tried)
	clear(p.gates.pairs)
	clear(p.terms)
	clear(p.settings)
	provers.Put(&prover{
		search: p.search, gates: p.gates, terms: p.terms[:0], variables: p.variables, opaques: p.opaques, leaves: p.leaves,
		known: p.known, seen: p.seen, tried: p.tried, settings: p.settings[:0], assumptions: p.assumptions[:0], clause: p.clause[:0],
		madeTerms: p.madeTerms.back(), madeLeaves: p.madeLeaves.back(),
	})
}

// stock hands out values that are made once.
type stock[T any] struct {
	made []*T
	used int
}

// one returns an empty value.
func (s *stock[T]) one() *T {
	if s.used == len(s.made) {
		s.made = append(s.made, new(T))
	}
	s.used++
	return s.made[s.used-1]
}

// out returns the values that were handed out.
func (s *stock[T]) out() []*T { return s.made[:s.used] }

// back returns the stock with all values in it, which are empty again.
func (s stock[T]) back() stock[T] { return stock[T]{made: s.made} }

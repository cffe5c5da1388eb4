package jsonlogic

import "slices"

// literal is a proposition or its negation: twice the number of the proposition,
// plus one for the negation. Proposition 0 is true.
type literal int32

const (
	always literal = 0
	never  literal = 1
)

func (l literal) not() literal { return l ^ 1 }

func (l literal) proposition() int32 { return int32(l >> 1) }

// search decides whether clauses can hold together: conflict-driven clause
// learning with two watched literals (Marques-Silva and Sakallah 1996, Moskewicz
// et al. 2001), and with a fixed order of decisions.
//
// The fixed order is why this is not a library. Every literal on the trail is
// either a decision in its preferred direction, on the first proposition of the
// order that was open, or follows from the clauses and the decisions before it.
// So the first model found is the one that prefers best in that order, which is
// how a witness gets the most natural values without a second search. It also
// makes the result and the number of steps the same on every machine.
type search struct {
	budget  *budget
	clauses [][]literal
	watches [][]int32 // by literal: the clauses that watch it

	value  []int8  // by literal: 1 true, -1 false, 0 open
	level  []int32 // by proposition: the decisions before it
	reason []int32 // by proposition: the clause it follows from, -1 for none

	trail   []literal
	pending int       // the first of the trail whose consequences are not drawn
	levels  []marking // one for each decision

	order    []literal // what to decide, in the preferred direction
	next     int       // where in the order to look for an open one
	seen     []bool    // by proposition, during analysis
	conflict bool      // the clauses contradict each other

	literals arena[literal] // of clauses
	places   arena[int32]   // of watches
}

// arena hands out room for short lists, many of which are made together.
type arena[T any] struct{ free, whole []T }

// roomAtOnce is how much room an arena takes at first, unless more is asked for.
const roomAtOnce = 512

// room returns an empty list with room for so many. What is taken is twice as much each time, so
// that there is enough at once when the room is used again.
func (a *arena[T]) room(count int) []T {
	if len(a.free) < count {
		a.whole = make([]T, max(count, min(max(2*len(a.whole), roomAtOnce), mostRoom)))
		a.free = a.whole
	}
	list := a.free[:0:count]
	a.free = a.free[count:]
	return list
}

// marking is what was there before a decision.
type marking struct{ trail, next int }

func newSearch() *search {
	const few = 64
	return &search{
		clauses: make([][]literal, 0, 2*few), watches: make([][]int32, 0, 2*few), value: make([]int8, 0, 2*few),
		level: make([]int32, 0, few), reason: make([]int32, 0, few), seen: make([]bool, 0, few), trail: make([]literal, 0, few),
	}
}

// begin makes the proposition that is true.
func (s *search) begin(b *budget) {
	s.budget = b
	s.add(s.proposition())
}

// mostRoom bounds what a search may have of propositions and of clauses, for its room to be used again.
const mostRoom = 1 << 12

// empty takes everything out of a search, whose room may be used again. It reports whether that
// is worth it.
func (s *search) empty() bool {
	if cap(s.clauses) > mostRoom || cap(s.value) > mostRoom || len(s.literals.whole) > mostRoom || len(s.places.whole) > mostRoom {
		return false
	}
	clear(s.clauses) // which may be lists of their own
	clear(s.watches)
	*s = search{
		clauses: s.clauses[:0], watches: s.watches[:0], value: s.value[:0], level: s.level[:0], reason: s.reason[:0], trail: s.trail[:0],
		levels: s.levels[:0], order: s.order[:0], seen: s.seen[:0], literals: s.literals.emptied(), places: s.places.emptied(),
	}
	return true
}

// emptied returns an arena that hands out the same room again.
func (a arena[T]) emptied() arena[T] { return arena[T]{a.whole, a.whole} }

// proposition makes a new one and returns its positive literal.
func (s *search) proposition() literal {
	l := literal(len(s.value))
	s.value = append(s.value, 0, 0)
	s.watches = append(s.watches, nil, nil)
	s.level = append(s.level, 0)
	s.reason = append(s.reason, -1)
	s.seen = append(s.seen, false)
	return l
}

// add takes a clause, one of whose literals has to hold. It undoes decisions.
func (s *search) add(clause ...literal) {
	s.undo(0)
	s.budget.spend(1 + len(clause))
	open, at := 0, 0 // how many literals are not decided, and the last of them
	for i, l := range clause {
		switch {
		case s.value[l] > 0:
			return
		case s.value[l] == 0:
			open, at = open+1, i
		}
	}
	switch open {
	case 0:
		s.conflict = true
	case 1:
		s.assign(clause[at], -1)
	default:
		kept := s.literals.room(open)
		for _, l := range clause {
			if s.value[l] == 0 {
				kept = append(kept, l)
			}
		}
		s.attach(kept)
	}
}

func (s *search) attach(clause []literal) int32 {
	at := int32(len(s.clauses))
	s.clauses = append(s.clauses, clause)
	s.watch(clause[0], at)
	s.watch(clause[1], at)
	return at
}

func (s *search) watch(l literal, at int32) {
	if s.watches[l] == nil {
		s.watches[l] = s.places.room(4)
	}
	s.watches[l] = append(s.watches[l], at)
}

func (s *search) assign(l literal, reason int32) {
	s.value[l], s.value[l.not()] = 1, -1
	s.level[l.proposition()] = int32(len(s.levels))
	s.reason[l.proposition()] = reason
	s.trail = append(s.trail, l)
}

func (s *search) undo(decisions int) {
	if len(s.levels) <= decisions {
		return
	}
	before := s.levels[decisions]
	for _, l := range s.trail[before.trail:] {
		s.value[l], s.value[l.not()] = 0, 0
	}
	s.trail, s.levels = s.trail[:before.trail], s.levels[:decisions]
	s.pending, s.next = before.trail, before.next
}

func (s *search) decide(l literal) {
	s.levels = append(s.levels, marking{len(s.trail), s.next})
	if l >= 0 {
		s.assign(l, -1)
	}
}

// propagate draws all consequences. It returns the clause that fails, -1 if
// none does.
func (s *search) propagate() int32 {
	for s.pending < len(s.trail) {
		failed := s.trail[s.pending].not()
		s.pending++
		watching := s.watches[failed]
		s.budget.spend(1 + len(watching))
		kept := watching[:0]
		for i, at := range watching {
			if s.moveWatch(at, failed) {
				continue
			}
			kept = append(kept, at)
			first := s.clauses[at][0]
			if s.value[first] < 0 {
				s.watches[failed] = append(kept, watching[i+1:]...)
				return at
			}
			if s.value[first] == 0 {
				s.assign(first, at)
			}
		}
		s.watches[failed] = kept
	}
	return -1
}

// moveWatch lets a clause watch another literal in place of one that failed, if
// it has one that did not. The other watched literal comes first.
func (s *search) moveWatch(at int32, failed literal) bool {
	clause := s.clauses[at]
	if clause[0] == failed {
		clause[0], clause[1] = clause[1], clause[0]
	}
	if s.value[clause[0]] > 0 {
		return false
	}
	for i := 2; i < len(clause); i++ {
		if s.value[clause[i]] >= 0 {
			s.budget.spend(i >> 2)
			clause[1], clause[i] = clause[i], clause[1]
			s.watch(clause[1], at)
			return true
		}
	}
	s.budget.spend(len(clause) >> 2)
	return false
}

// solve looks for a model in which the assumptions hold too. If there is none,
// it returns those of the assumptions that contradict the clauses together. It
// is not done if the budget ran out.
func (s *search) solve(assumptions []literal) (model bool, core []literal, done bool) {
	s.undo(0)
	for {
		if s.budget.over() {
			return false, nil, false
		}
		if s.conflict {
			return false, nil, true
		}
		if failed := s.propagate(); failed >= 0 {
			if len(s.levels) == 0 {
				s.conflict = true
				continue
			}
			s.learn(failed)
			continue
		}
		if at := len(s.levels); at < len(assumptions) {
			switch l := assumptions[at]; {
			case s.value[l] < 0:
				return false, s.contradicted(l), true
			case s.value[l] > 0:
				s.decide(-1)
			default:
				s.decide(l)
			}
			continue
		}
		for s.next < len(s.order) && s.value[s.order[s.next]] != 0 {
			s.next++
		}
		if s.next == len(s.order) {
			return true, nil, true
		}
		s.decide(s.order[s.next])
	}
}

// learn draws from a failed clause one that the decisions should have respected:
// resolution back to the first literal that alone, at the last level, led to the
// failure. It returns to where the new clause has a consequence.
func (s *search) learn(failed int32) {
	learnt := []literal{never}
	open, at := 0, len(s.trail)
	for reason := failed; ; {
		s.budget.spend(len(s.clauses[reason]))
		for _, l := range s.clauses[reason] {
			v := l.proposition()
			if s.seen[v] || s.level[v] == 0 || s.value[l] > 0 {
				continue
			}
			s.seen[v] = true
			if int(s.level[v]) == len(s.levels) {
				open++
			} else {
				learnt = append(learnt, l)
			}
		}
		for at--; !s.seen[s.trail[at].proposition()]; at-- {
		}
		v := s.trail[at].proposition()
		s.seen[v] = false
		if open--; open == 0 {
			learnt[0] = s.trail[at].not()
			break
		}
		reason = s.reason[v]
	}
	back := 0
	for i, l := range learnt[1:] {
		s.seen[l.proposition()] = false
		if level := int(s.level[l.proposition()]); level > back {
			back = level
			learnt[1], learnt[i+1] = learnt[i+1], learnt[1]
		}
	}
	s.undo(back)
	if len(learnt) == 1 {
		s.assign(learnt[0], -1)
		return
	}
	s.assign(learnt[0], s.attach(learnt))
}

// contradicted returns the assumptions that a failed one contradicts, itself
// included. All decisions are assumptions at this time.
func (s *search) contradicted(failed literal) []literal {
	core := []literal{failed}
	if s.level[failed.proposition()] == 0 {
		return core
	}
	s.seen[failed.proposition()] = true
	for _, l := range slices.Backward(s.trail[s.levels[0].trail:]) {
		v := l.proposition()
		if !s.seen[v] {
			continue
		}
		s.seen[v] = false
		if s.reason[v] < 0 {
			core = append(core, l)
			continue
		}
		for _, other := range s.clauses[s.reason[v]] {
			if s.level[other.proposition()] > 0 && other != l {
				s.seen[other.proposition()] = true
			}
		}
	}
	return core
}

func (s *search) holds(l literal) bool { return s.value[l] > 0 }

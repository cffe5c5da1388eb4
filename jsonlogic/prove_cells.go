package jsonlogic

import "slices"

// The values of a term are told apart in two steps. A cell is all that leaves look at
// but for a few values: nothing, true, a list, all texts, or, of the numbers, one of
// the bands between the places at which the truth of a leaf changes. Within a cell a
// leaf may give something else for single values: a text or a number that it names.
//
// A band is given to the search as order encoding (Tamura et al. 2009): a proposition
// for each place says that the value is a number below it, each implies the next, and
// what a leaf gives between two places is one clause. So unit propagation does the
// arithmetic, and what is known of a leaf takes room for what it names alone, however
// many other leaves there are.

// cell is a set of values that all leaves take to be alike but for those they name.
type cell struct {
	region int // its only region, -1 for numbers and for texts
	kind   kind
	state  int32 // what the leaves give
}

// family is the classes of a band, or of the cells in which all leaves give the same.
type family struct {
	of      int32 // the state of the cells, or -1 less the number of the band
	cell    int   // one of the cells
	guard   literal
	classes []int
}

// mark is that a leaf gives something, after what the leaves before it gave.
type mark struct {
	after int32
	leaf  int32
	gives Truth
}

// marks gives the same number to the same marks, counted from 1.
type marks struct {
	known map[mark]int32
	all   []mark
}

func (m *marks) number(one mark) int32 {
	if id, ok := m.known[one]; ok {
		return id
	}
	m.all = append(m.all, one)
	id := int32(len(m.all))
	m.known[one] = id
	return id
}

// exception is a class in which a leaf does not give what it gives in its cell.
type exception struct {
	class int
	gives Truth
}

// cut makes the cells of a term.
func (t *term) cut() {
	t.cells, t.textCell, t.numberCell = t.cells[:0], -1, -1
	for i := range t.regions {
		r := &t.regions[i]
		switch text, isText := r.value.(string); {
		case kindOf(r.value) == kindNumber:
			if t.numberCell < 0 {
				t.numberCell = len(t.cells)
				t.cells = append(t.cells, cell{region: -1, kind: kindNumber})
			}
			continue
		case isText && text != "":
			if t.textCell < 0 {
				t.textCell = len(t.cells)
				t.cells = append(t.cells, cell{region: -1, kind: kindString})
			}
			continue
		}
		t.cells = append(t.cells, cell{region: i, kind: kindOf(r.value)})
	}
}

// start is what is told apart of a cell before any leaf.
func (t *term) start(c *cell, m *marks) int32 {
	state := int32(0)
	if t.typed {
		state = m.number(mark{leaf: -1, gives: Truth(c.kind)})
	}
	switch {
	case c.region < 0:
	case t.around != nil && t.regions[c.region].absent:
		state = m.number(mark{after: state, leaf: -2})
	case t.outer && c.kind == kindObject:
		state = m.number(mark{after: state, leaf: -3})
	}
	return state
}

// classify joins the regions that no leaf tells apart, so that ten thousand codes
// in one list are one alternative and not as many.
func (p *prover) classify(t *term) {
	m := &marks{known: map[mark]int32{}}
	for k := range t.cells {
		t.cells[k].state = t.start(&t.cells[k], m)
	}
	texts, numbers := map[string]int32{}, map[float64]int32{}
	for i, l := range t.leaves {
		for k := range t.cells {
			t.cells[k].state = m.number(mark{t.cells[k].state, int32(i), l.cells[k]})
		}
		for _, e := range l.named {
			if text, ok := e.value.(string); ok {
				texts[text] = m.number(mark{texts[text], int32(i), e.gives})
			} else {
				numbers[e.value.(float64)] = m.number(mark{numbers[e.value.(float64)], int32(i), e.gives})
			}
		}
		t.cuts = append(t.cuts, l.cuts...)
		p.budget.spend(1 + (len(t.cells)+len(l.named)+len(l.cuts))/itemsPerStep)
	}
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
	p.group(t, func(r *region) (of, exceptions int32) {
		switch v := r.value.(type) {
		case float64:
			if len(t.cuts) == 0 {
				return t.cells[t.numberCell].state, numbers[v]
			}
			return -1 - int32(t.band(v)), numbers[v]
		case string:
			if v != "" {
				return t.cells[t.textCell].state, texts[v]
			}
		}
		return 0, 0
	})
	t.exceptions = make([][]exception, len(t.leaves))
	for at := range t.classes {
		for id := t.classes[at].exceptions; id > 0; id = m.all[id-1].after {
			i := m.all[id-1].leaf
			t.exceptions[i] = append(t.exceptions[i], exception{at, m.all[id-1].gives})
		}
	}
}

func (t *term) band(f float64) int {
	at, exact := slices.BinarySearch(t.cuts, f)
	return at + btoi(exact)
}

// group makes the classes and families of a term, in the order of its regions.
func (p *prover) group(t *term, signature func(*region) (of, exceptions int32)) {
	type sign struct{ of, exceptions int32 }
	known, families := map[sign]int{}, map[int32]int{}
	t.classes, t.families = t.classes[:0], t.families[:0]
	next := 0 // of the cells that are one region
	for i := range t.regions {
		for next < len(t.cells) && t.cells[next].region < 0 {
			next++
		}
		var s sign
		at := next
		if next < len(t.cells) && t.cells[next].region == i {
			s.of = t.cells[next].state
			next++
		} else {
			s.of, s.exceptions = signature(&t.regions[i])
			at = t.numberCell
			if kindOf(t.regions[i].value) == kindString {
				at = t.textCell
			}
		}
		c, ok := known[s]
		if !ok {
			c = len(t.classes)
			known[s] = c
			f, ok := families[s.of]
			if !ok {
				f = len(t.families)
				families[s.of] = f
				t.families = append(t.families, family{of: s.of, cell: at})
			}
			t.families[f].classes = append(t.families[f].classes, c)
			t.classes = append(t.classes, class{family: f, exceptions: s.exceptions})
		}
		t.classes[c].regions = append(t.classes[c].regions, i)
		if p.budget.spend(1); p.budget.over() {
			return
		}
	}
}

// choose gives the classes of a term their propositions, of which one holds.
func (p *prover) choose(t *term) {
	others := t.order(p)
	var guards []literal
	for i := range t.families {
		f := &t.families[i]
		switch {
		case f.of < 0:
			f.guard = t.between(p, f.band(), f.band()+1)
		case others == 1 && t.number != never:
			f.guard = t.number.not()
		default:
			f.guard = p.search.proposition()
			guards = append(guards, f.guard)
		}
		if len(f.classes) == 1 {
			t.classes[f.classes[0]].selector = f.guard
			continue
		}
		some := []literal{f.guard.not()}
		for _, c := range f.classes {
			s := p.search.proposition()
			t.classes[c].selector = s
			p.search.add(s.not(), f.guard)
			some = append(some, s)
		}
		p.search.add(some...)
		p.gates.atMostOne(some[1:])
	}
	if len(guards) > 0 {
		if t.number != never {
			guards = append(guards, t.number)
		}
		p.search.add(guards...)
		p.gates.atMostOne(guards)
	}
}

// order makes the propositions about the places at which the truth of a leaf
// changes, and returns how many families there are that are no bands.
func (t *term) order(p *prover) (others int) {
	t.number, t.below = never, t.below[:0]
	bands := make([]bool, len(t.cuts)+1)
	for i := range t.families {
		if f := &t.families[i]; f.of < 0 {
			bands[f.band()] = true
		} else {
			others++
		}
	}
	if len(t.cuts) == 0 {
		return others
	}
	t.below = append(t.below, never)
	for range t.cuts {
		t.below = append(t.below, p.search.proposition())
	}
	t.number = p.search.proposition()
	t.below = append(t.below, t.number)
	for i := range bands {
		if p.search.add(t.below[i].not(), t.below[i+1]); !bands[i] {
			p.search.add(t.below[i+1].not(), t.below[i]) // no number is in it
		}
	}
	return others
}

// between returns that the value is in one of the bands from one on, up to another
// that is not among them.
func (t *term) between(p *prover, from, to int) literal {
	return p.gates.and(t.below[to], t.below[from].not())
}

func (f *family) band() int { return int(-1 - f.of) }

// define says what a leaf gives in the families, in the bands together where it is
// the same, and in the classes that are its exceptions.
func (p *prover) define(t *term, l *leaf, at int) {
	exceptions := t.exceptions[at]
	for _, e := range exceptions {
		p.says(l, e.gives, t.classes[e.class].selector.not())
	}
	unless := func(within func(*family) bool, literals ...literal) []literal {
		p.clause = append(p.clause[:0], literals...)
		for _, e := range exceptions {
			if c := &t.classes[e.class]; within(&t.families[c.family]) {
				p.clause = append(p.clause, c.selector)
			}
		}
		return p.clause
	}
	for i := range t.families {
		if f := &t.families[i]; f.of >= 0 {
			p.says(l, l.cells[f.cell], unless(func(g *family) bool { return g == f }, f.guard.not())...)
		}
	}
	for i := 0; i <= len(l.cuts) && len(t.cuts) > 0; i++ {
		from, to := 0, len(t.cuts)+1
		if i > 0 {
			from = t.band(l.cuts[i-1])
		}
		if i < len(l.cuts) {
			to = t.band(l.cuts[i])
		}
		within := func(f *family) bool { return f.of < 0 && from <= f.band() && f.band() < to }
		p.says(l, l.pieces[i], unless(within, t.below[to].not(), t.below[from])...)
	}
}

// says adds that a leaf gives something unless one of the literals holds.
func (p *prover) says(l *leaf, gives Truth, unless ...literal) {
	clause := append(p.clause[:0], unless...)
	n := len(clause)
	switch gives {
	case True:
		clause = append(clause, l.result.t)
	case False:
		clause = append(clause, l.result.f)
	case givesEither:
		clause = append(clause, l.result.t, l.result.f)
	default:
		clause = append(clause, l.result.t.not())
		p.search.add(clause...)
		clause[n] = l.result.f.not()
	}
	p.search.add(clause...)
	p.clause = clause
}

package jsonlogic

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// memo keeps how the values of terms are told apart, which formulas over the same
// conditions ask again and again. Answers and the steps that they take are the same with a
// memo and without one. It may be used by several goroutines.
type memo struct {
	mu     sync.RWMutex
	shapes map[Key]*shape
	room   int // what is kept, in regions and outcomes
}

// shapes is what all proofs of a process share.
var shapes memo

// mostKept bounds what a memo keeps, some megabytes. When it is full it begins again.
const mostKept = 1 << 16

// shape is how the values of a term are told apart: all of it follows from what the term
// is and from its leaves in their order. It never changes.
type shape struct {
	constants
	regions              []region
	other                string
	cells                []cell
	textCell, numberCell int
	cuts                 []float64
	families             []family
	classes              []class
	exceptions           [][]exception
	outcomes             []outcomes // by leaf
	steps                int        // that it took to find
}

// outcomes are what a leaf gives for the values of its term.
type outcomes struct {
	cells  []Truth   // by cell of the term
	cuts   []float64 // the first numbers of all pieces but the first
	pieces []Truth   // of the numbers
	named  []named   // the exceptions
	either bool      // it gives either truth somewhere
}

func (m *memo) find(key Key) *shape {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.shapes[key]
}

func (m *memo) keep(key Key, s *shape) {
	size := 10 + len(s.regions) + len(s.texts) + len(s.numbers) + len(s.outcomes)*len(s.cells)
	for i := range s.outcomes {
		size += len(s.outcomes[i].cuts) + len(s.outcomes[i].named)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shapes == nil || m.room+size > mostKept {
		m.shapes, m.room = map[Key]*shape{}, 0
	}
	m.shapes[key] = s
	m.room += size
}

// told reports whether the key of an operation says what its constants are. Of one that was
// worked out the key says how; that it came to something depends on the steps left for it.
func (n *node) told() bool {
	constant := func(arg *node) bool { return arg.op == opConstant }
	if n.constant {
		return constant(n) || n.op == opList && !slices.ContainsFunc(n.args, func(arg *node) bool { return !constant(arg) })
	}
	return !slices.ContainsFunc(n.args, func(arg *node) bool { return !arg.told() })
}

// signature names all that the shape of a term follows from. It is not ok where keys do not
// tell all of it.
func (t *term) signature() (name Key, ok bool) {
	var room [512]byte
	b := room[:0]
	if t.opaque != nil {
		b = append(append(b, 1), t.opaque.key[:]...)
	} else {
		b = appendText(append(b, 0), t.path.text)
	}
	for _, is := range []bool{t.listed, t.outer, t.typed, t.around != nil} {
		b = append(b, byte(btoi(is)))
	}
	for _, l := range t.leaves {
		if l.over != nil && !l.over.told() {
			return name, false
		}
		b = append(append(b, byte(btoi(l.key.absence))), l.key.key[:]...)
	}
	return sha256.Sum256(b), true
}

// shape tells the values of a term apart. It reports whether the budget sufficed.
func (p *prover) shape(t *term) bool {
	key, ok := t.signature()
	if p.memo == nil || !ok {
		return p.distinguish(t)
	}
	if s := p.memo.find(key); s != nil {
		s.give(t)
		p.budget.spend(s.steps)
		return !p.budget.over()
	}
	before := p.budget.spent()
	if !p.distinguish(t) {
		return false
	}
	p.memo.keep(key, shapeOf(t, p.budget.spent()-before))
	return true
}

// distinguish works out how the values of a term are told apart.
func (p *prover) distinguish(t *term) bool {
	t.meet()
	p.divide(t)
	t.cut()
	p.budget.spend(len(t.regions))
	for _, l := range t.leaves {
		if l.evaluate(p.budget); p.budget.over() {
			return false
		}
	}
	p.classify(t)
	return !p.budget.over()
}

// shapeOf returns the shape of a term, before its classes have their propositions.
func shapeOf(t *term, steps int) *shape {
	s := &shape{
		constants: t.constants, regions: t.regions, other: t.other, cells: t.cells, textCell: t.textCell, numberCell: t.numberCell, cuts: t.cuts,
		families: slices.Clone(t.families), classes: slices.Clone(t.classes), exceptions: t.exceptions, steps: steps,
		outcomes: make([]outcomes, len(t.leaves)),
	}
	for i, l := range t.leaves {
		s.outcomes[i] = l.outcomes
	}
	return s
}

// give gives a term its shape.
func (s *shape) give(t *term) {
	t.constants = s.constants
	t.regions, t.other, t.cells, t.textCell, t.numberCell, t.cuts = s.regions, s.other, s.cells, s.textCell, s.numberCell, s.cuts
	t.families, t.classes, t.exceptions = append(t.families[:0], s.families...), append(t.classes[:0], s.classes...), s.exceptions
	for i, l := range t.leaves {
		l.outcomes = s.outcomes[i]
	}
}

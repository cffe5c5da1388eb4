package jsonlogic

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// answers keeps what questions came to: those about a pack are asked again about the pack with
// an overlay, most of them in the same words. An answer and the steps that it takes are the same
// whether it was kept or is found again. It may be used by several goroutines.
type answers struct {
	mu          sync.Mutex
	young, aged map[Key]reply
	room        int // of the young ones, in variables
}

// reply is an answer with the steps that it took.
type reply struct {
	Answer
	steps int
}

// own returns a copy of the answer, which whoever asked may change.
func (r *reply) own() Answer {
	a := r.Answer
	a.Assumed = slices.Clone(a.Assumed)
	if a.Witness != nil {
		a.Witness = fresh(a.Witness).(map[string]any)
	}
	return a
}

// answered is what all proofs of a process share.
var answered answers

const (
	// mostAnswers bounds the young answers, counted in variables that they are about. When there
	// are more they are the aged ones, and those from before are dropped.
	mostAnswers = 1 << 14
	// mostNamed bounds what the key of a question is made of, in bytes.
	mostNamed = 1 << 15
)

func (a *answers) find(key Key) (reply, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, there := a.young[key]; there {
		return one, true
	}
	one, there := a.aged[key]
	return one, there
}

func (a *answers) keep(key Key, one reply, variables int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if size := 1 + variables; a.young == nil || a.room+size > mostAnswers {
		a.young, a.aged, a.room = map[Key]reply{}, a.young, size
	} else {
		a.room += size
	}
	a.young[key] = one
}

// solve decides a formula as Solve does, or says again what it came to.
func (a *answers) solve(s Solver, f Formula) Answer {
	s.Steps = cmp.Or(max(s.Steps, 0), DefaultSteps)
	key, named := s.question(f)
	if one, there := a.find(key); named && there && s.affords(one.steps) {
		s.Budget.Spend(one.steps)
		return one.own()
	}
	r, variables, whole := s.prove(f)
	if named && r.Verdict != Undecided && whole && variables < mostAnswers/4 {
		a.keep(key, reply{r.own(), r.steps}, variables)
	}
	return r.Answer
}

// affords reports whether a proof of so many steps is certain not to run out of them. The account
// gives them in slices, and has to have some left.
func (s Solver) affords(steps int) bool {
	return steps <= s.Steps && s.Budget.Err() == nil && (s.Budget == nil || s.Budget.Left() > steps+2*sliceSteps)
}

// question names all that the answer to a question follows from, where it is found within the
// steps that it may take. It is not ok where keys do not tell all of it, or it is too long.
func (s Solver) question(f Formula) (name Key, ok bool) {
	n := namings.Get().(*naming)
	defer n.close()
	for _, path := range s.Lists {
		n.text = appendText(append(n.text, 1), path)
	}
	n.text = append(n.text, 0)
	if !n.add(f) || !n.add(s.Within) {
		return name, false
	}
	return sha256.Sum256(n.text), true
}

// naming writes formulas so that none is the beginning of another.
type naming struct {
	text  []byte
	exprs []*Expr // that were written
}

// namings are those that have come to their end, whose room others use again.
var namings = sync.Pool{New: func() any { return &naming{} }}

// close returns the room of a naming to the pool; it must not be used afterwards.
func (n *naming) close() {
	clear(n.exprs)
	n.text, n.exprs = n.text[:0], n.exprs[:0]
	namings.Put(n)
}

// add writes a formula, and reports whether that tells all of it. An expression that is there
// twice is one expression to a proof, and two that are written the same are two.
func (n *naming) add(f Formula) bool {
	switch {
	case f.of == nil:
		n.text = append(n.text, 'n')
		return true
	case len(n.text) > mostNamed:
		return false
	case f.of.form == says:
		return n.says(f.of.expr, f.of.truth)
	}
	n.text = binary.AppendUvarint(append(n.text, 'p', byte(f.of.form)), uint64(len(f.of.parts)))
	for _, part := range f.of.parts {
		if !n.add(part) {
			return false
		}
	}
	return true
}

func (n *naming) says(x *Expr, truth Truth) bool {
	for i, before := range n.exprs {
		if before == x {
			n.text = binary.AppendUvarint(append(n.text, 'a', byte(truth)), uint64(i))
			return true
		}
	}
	n.exprs = append(n.exprs, x)
	if !x.root.told() {
		return false
	}
	n.text = append(n.text, 's', byte(truth), byte(btoi(x.result != nil)))
	if x.root.op == opConstant {
		n.text = appendScalar(append(n.text, 0), x.root.value)
	} else {
		n.text = append(append(n.text, 1), x.root.key[:]...)
	}
	return true
}

package jsonlogic

import (
	"bytes"
	"slices"
)

// domains gives every term its regions and says in clauses what they mean for
// the leaves.
func (p *prover) domains() {
	p.relate()
	for _, t := range p.terms {
		if !p.shape(t) {
			return
		}
		p.choose(t)
		for i, l := range t.leaves {
			if p.define(t, l, i); p.budget.over() {
				return
			}
		}
		p.scalar(t)
	}
	for _, t := range p.terms {
		p.nest(t)
		p.relation(t)
	}
	p.prefer()
}

// relate finds the variables that hold lists elsewhere, and those that are read
// from within others. The others hold objects wherever the inner ones are there,
// and so are not taken to be scalars.
func (p *prover) relate() {
	for _, path := range p.lists {
		if t, ok := p.variables[path]; ok {
			t.listed = true
		}
	}
	for _, t := range p.terms {
		if t.opaque == nil {
			continue
		}
		t.operands = p.operands(t.opaque)
		t.typed = len(t.operands) > 0
		for _, o := range t.operands {
			o.typed = true
		}
	}
	type place struct {
		in   int
		name string
	}
	places, holds := map[place]int{}, map[int]*term{}
	for _, note := range []bool{true, false} {
		for _, t := range p.terms {
			at := 0
			for _, step := range t.path.steps {
				if outer := holds[at]; outer != nil && !note {
					outer.listed, outer.outer = true, true
					t.around = append(t.around, outer)
				}
				next, ok := places[place{at, step.name}]
				if !ok {
					next = len(places) + 1
					places[place{at, step.name}] = next
				}
				at = next
			}
			p.budget.spend(len(t.path.steps))
			if note && t.opaque == nil {
				holds[at] = t
			}
		}
	}
}

// selectors returns the propositions of some of the classes.
func (t *term) selectors(of func(*class) bool) []literal {
	found := make([]literal, 0, len(t.classes))
	for i := range t.classes {
		if of(&t.classes[i]) {
			found = append(found, t.classes[i].selector)
		}
	}
	return found
}

// scalar makes the assumption that a variable is a scalar, if it makes a
// difference.
func (p *prover) scalar(t *term) {
	if t.opaque != nil || t.listed {
		return
	}
	others := t.selectors(func(c *class) bool {
		return !slices.ContainsFunc(c.regions, func(i int) bool { return t.regions[i].scalar() })
	})
	if len(others) == 0 {
		return
	}
	t.scalar = p.search.proposition()
	p.assumptions = append(p.assumptions, t.scalar)
	for _, other := range others {
		p.search.add(t.scalar.not(), other.not())
	}
}

// nest says that where an inner variable is there, the ones around it are
// objects. Items and characters are found in lists and texts too, so about those
// nothing is said.
func (p *prover) nest(t *term) {
	if t.around == nil {
		return
	}
	absent := t.selectors(func(c *class) bool { return t.regions[c.regions[0]].absent })
	for _, outer := range t.around {
		if !t.path.steps[len(outer.path.steps)].plain() {
			continue
		}
		object := outer.selectors(func(c *class) bool { return kindOf(outer.regions[c.regions[0]].value) == kindObject })
		p.search.add(append(absent, object...)...)
	}
}

// prefer sets the order of decisions: variables before expressions, each with its
// most natural class first, then what a class leaves open, then the rest.
func (p *prover) prefer() {
	order := p.search.order[:0]
	for _, variables := range []bool{true, false} {
		for _, t := range p.terms {
			if (t.opaque == nil) == variables {
				for i := range t.classes {
					order = append(order, t.classes[i].selector)
				}
			}
		}
	}
	for _, t := range p.terms {
		for _, l := range t.leaves {
			order = append(order, l.result.t.not())
		}
	}
	for l := literal(0); int(l) < len(p.search.value); l += 2 {
		order = append(order, l)
	}
	p.search.order = order
}

// What two variables have to do with each other is not followed, but for their
// types: a comparison is unknown where an operand is missing or of another type, and
// free otherwise. Neither is what comes of a sum, but that it needs numbers.

// operands returns the variables of an expression that is not followed, of which the
// types decide whether it is known: the two that are compared, or all those that
// arithmetic needs to be numbers.
func (p *prover) operands(n *node) []*term {
	var found []*term
	add := func(n *node) bool {
		if n.op != opVar || len(n.args) > 0 {
			return false
		}
		if t := p.variable(n.path); !slices.Contains(found, t) {
			found = append(found, t)
		}
		return true
	}
	switch {
	case n.op.compares():
		for _, arg := range n.args {
			if !arg.constant && !add(arg) {
				return nil
			}
		}
		if len(found) != 2 {
			return nil
		}
	case n.op.calculates():
		n.walk(func(n *node) bool {
			if n.op.calculates() {
				for _, arg := range n.args {
					add(arg)
				}
			}
			return true
		})
	}
	return found
}

// alike returns the comparison that stands for all that ask the same of two values:
// whether one is less than the other, or equal to it; and whether the one that is
// given is its negation.
func (n *node) alike() (same *node, negated bool) {
	if !n.op.compares() || len(n.args) != 2 {
		return n, false
	}
	a, b := n.args[0], n.args[1]
	switch n.op {
	case opGreater:
		return operation(opLess, n.name, n.source, b, a), false
	case opGreaterEqual:
		return operation(opLess, n.name, n.source, a, b), true
	case opLessEqual:
		return operation(opLess, n.name, n.source, b, a), true
	case opNotEqual:
		return operation(opEqual, n.name, n.source, a, b), true
	case opNotSame:
		return operation(opSame, n.name, n.source, a, b), true
	case opEqual, opSame:
		if !a.constant && !b.constant && bytes.Compare(a.key[:], b.key[:]) > 0 {
			return operation(n.op, n.name, n.source, b, a), false
		}
	}
	return n, false
}

// relation says what the types of its operands mean for an expression that is not
// followed.
func (p *prover) relation(t *term) {
	if len(t.operands) == 0 {
		return
	}
	if !t.opaque.op.compares() {
		all := []literal{p.is(t, kindNumber)}
		for _, o := range t.operands {
			p.search.add(all[0].not(), p.is(o, kindNumber))
			all = append(all, p.is(o, kindNumber).not())
		}
		if t.opaque.total() {
			p.search.add(all...)
		}
		return
	}
	for _, l := range t.leaves {
		if !l.asksTruth() {
			continue
		}
		for _, a := range t.operands[0].kinds() {
			for _, b := range t.operands[1].kinds() {
				p.related(t, l, a, b)
			}
		}
	}
}

// related says what a comparison of two variables gives where they are of two types:
// of different types always the same, and else either truth, or unknown.
func (p *prover) related(t *term, l *leaf, a, b *region) {
	k, other := kindOf(a.value), kindOf(b.value)
	if same := t.opaque.op == opSame || t.opaque.op == opNotSame; same && k == other && (k == kindArray || k == kindObject) {
		return
	}
	with := *t.opaque
	with.args = slices.Clone(with.args)
	for i, arg := range with.args {
		if arg.constant {
			continue
		}
		r := a
		if p.variable(arg.path) == t.operands[1] {
			r = b
		}
		with.args[i] = constantNode(nil, r.value)
	}
	gives := truth(p.budget.evaluate(&with, nil))
	if gives != Unknown && k == other && k != kindNull {
		gives = givesEither
	}
	p.says(l, gives, p.is(t.operands[0], k).not(), p.is(t.operands[1], other).not())
}

// total says whether arithmetic on plain operands is a number wherever they are.
func (n *node) total() bool {
	for _, arg := range n.args {
		if _, isNumber := arg.value.(float64); !isNumber && (arg.op != opVar || len(arg.args) > 0) {
			return false
		}
	}
	return n.op == opMin || n.op == opMax || n.op == opModulo && n.args[1].constant && n.args[1].value != 0.0
}

// kinds returns a region of each type that the term can have.
func (t *term) kinds() []*region {
	var found []*region
	var seen [kindUnknown + 1]bool
	for i := range t.regions {
		if k := kindOf(t.regions[i].value); !seen[k] {
			seen[k] = true
			found = append(found, &t.regions[i])
		}
	}
	return found
}

// is returns that a term whose types are told apart is of one.
func (p *prover) is(t *term, k kind) literal {
	if k == kindNumber && t.number != never {
		return t.number
	}
	if known, ok := t.is[k]; ok {
		return known
	}
	if t.is == nil {
		t.is = map[kind]literal{}
	}
	t.is[k] = p.gates.or(t.selectors(func(c *class) bool { return kindOf(t.regions[c.regions[0]].value) == k })...)
	return t.is[k]
}

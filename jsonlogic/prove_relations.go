package jsonlogic

import "slices"

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

// relation says what the types of its operands mean for an expression that is not
// followed.
func (p *prover) relation(t *term) {
	if len(t.operands) == 0 {
		return
	}
	if !t.opaque.op.compares() {
		for _, o := range t.operands {
			p.search.add(p.is(t, kindNumber).not(), p.is(o, kindNumber))
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
	gives := [...]verdict{Unknown: givesUnknown, False: givesFalse, True: givesTrue}[truth(p.value(&with))]
	if gives != givesUnknown && k == other && k != kindNull {
		gives = givesEither
	}
	p.says(l, gives, p.is(t.operands[0], k).not(), p.is(t.operands[1], other).not())
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

package jsonlogic

import "slices"

// domains gives every term its regions and says in clauses what they mean for
// the leaves.
func (p *prover) domains() {
	p.relate()
	for _, t := range p.terms {
		p.divide(t)
		t.cut()
		p.budget.spend(len(t.regions))
		for _, l := range t.leaves {
			if l.evaluate(p.budget); p.budget.over() {
				return
			}
		}
		if p.classify(t); p.budget.over() {
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
	assumed := p.search.proposition()
	p.scalars[assumed] = t
	for _, other := range others {
		p.search.add(assumed.not(), other.not())
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
	var order []literal
	for _, variables := range []bool{true, false} {
		for _, t := range p.terms {
			if (t.opaque == nil) == variables {
				order = append(order, t.selectors(func(*class) bool { return true })...)
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

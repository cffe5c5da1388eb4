package jsonlogic

import "slices"

// domains gives every term its regions and says in clauses what they mean for
// the leaves.
func (p *prover) domains() {
	p.relate()
	for _, t := range p.terms {
		p.divide(t)
		p.budget.spend(len(t.regions))
		for _, l := range t.leaves {
			if l.evaluate(p.budget); p.budget.over() {
				return
			}
		}
		p.classify(t)
		for i, l := range t.leaves {
			p.define(t, l, i)
		}
	}
	for _, t := range p.terms {
		p.nest(t)
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

// classify joins the regions that no leaf tells apart, so that ten thousand codes
// in one list are one alternative and not as many.
func (p *prover) classify(t *term) {
	known := map[string]int{}
	signature := make([]byte, len(t.leaves)+1)
	of, sizes := make([]int, len(t.regions)), []int(nil) // the class of a region, the regions of a class
	for i := range t.regions {
		r := &t.regions[i]
		for k, l := range t.leaves {
			signature[k] = byte(l.values[i])
		}
		signature[len(t.leaves)] = 0
		switch {
		case t.around != nil && r.absent:
			signature[len(t.leaves)] = 1
		case t.outer && kindOf(r.value) == kindObject:
			signature[len(t.leaves)] = 2
		}
		at, ok := known[string(signature)]
		if !ok {
			at = len(sizes)
			known[string(signature)] = at
			sizes = append(sizes, 0)
		}
		of[i] = at
		sizes[at]++
		p.budget.spend(1 + len(signature)/bytesPerStep)
	}
	t.classes = make([]class, len(sizes))
	all := arena[int]{free: make([]int, len(of))}
	for at, size := range sizes {
		t.classes[at] = class{selector: p.search.proposition(), regions: all.room(size)}
	}
	for i, at := range of {
		t.classes[at].regions = append(t.classes[at].regions, i)
	}
	p.gates.exactlyOne(t.selectors(func(*class) bool { return true }))
	p.scalar(t)
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

// define says for which classes a leaf is true, false and unknown. Classes of
// which one is chosen need to be listed for two of the three only; the longest
// list is left out, since equality with a constant is false nearly everywhere.
func (p *prover) define(t *term, l *leaf, at int) {
	gives := func(v verdict) []literal {
		return t.selectors(func(c *class) bool { return l.values[c.regions[0]] == v })
	}
	p.budget.spend(len(t.classes) / itemsPerStep)
	either := gives(givesEither)
	for _, c := range either {
		p.search.add(c.not(), l.result.t, l.result.f)
	}
	open := p.search.proposition()
	p.search.add(l.result.t, l.result.f, open)
	p.search.add(l.result.t.not(), open.not())
	p.search.add(l.result.f.not(), open.not())
	one := []struct {
		is      literal
		certain []literal
		more    []literal
	}{
		{l.result.t, gives(givesTrue), either},
		{l.result.f, gives(givesFalse), either},
		{open, gives(givesUnknown), nil},
	}
	longest := 0
	for i := range one {
		if len(one[i].certain) > len(one[longest].certain) {
			longest = i
		}
	}
	for i, o := range one {
		if i == longest {
			continue
		}
		for _, c := range o.certain {
			p.search.add(c.not(), o.is)
		}
		p.search.add(append(append([]literal{o.is.not()}, o.certain...), o.more...)...)
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

package jsonlogic

import (
	"slices"
)

// leaf is one operation over one term and constants. What it gives is not worked
// out here but asked of the evaluator, with a value of each region in place of
// the term.
type leaf struct {
	term   *term
	node   *node // the operation, over the stand-in; nil for absence
	result pair
	values []verdict // by region of the term

	numbers   []float64           // the constants, sorted
	texts     map[string]struct{} // the constants
	contained []string            // of "in" over the term: the text that is searched for
	within    bool                // "in" of the term in a text
}

// verdict is what a leaf gives in a region.
type verdict uint8

const (
	givesUnknown verdict = iota
	givesFalse
	givesTrue
	givesEither // true for some values of the region and false for others
)

// standIn is the variable that takes the place of a term when its operation is
// evaluated.
const standIn = "value"

func standInPath() path { return path{text: standIn, steps: []segment{{name: standIn, index: -1}}} }

// leaf returns the truth of an operation whose operands are simple: variables
// without defaults, constants, and expressions that are not followed.
func (p *prover) leaf(n *node) pair {
	if p.budget.over() {
		return pair{never, never}
	}
	if n.key == (Key{}) {
		n.identify()
	}
	p.budget.spend(1)
	if known, ok := p.leaves[leafKey{key: n.key}]; ok {
		return known.result
	}
	t, over := p.term(n)
	switch {
	case t == nil && over == nil:
		return pairOf(truth(p.value(n)))
	case t == nil:
		// Several terms: what they have to do with each other is not followed.
		t = p.opaque(n)
		over = operation(opTruth, "!!", nil, n)
		if known, ok := p.leaves[leafKey{key: over.key}]; ok {
			return known.result
		}
	}
	l := &leaf{term: t, node: t.stand(over)}
	l.note(over)
	return p.addLeaf(leafKey{key: over.key}, l)
}

// leafKey identifies a leaf: the operation, or the absence of the variable.
type leafKey struct {
	absence bool
	key     Key
}

// value evaluates an operation over constants.
func (p *prover) value(n *node) any {
	e := newEvaluation(p.budget.account, maxSteps)
	v := e.eval(n, nil)
	p.budget.spend(e.used())
	return v
}

func (p *prover) addLeaf(key leafKey, l *leaf) pair {
	l.result = pair{p.search.proposition(), p.search.proposition()}
	p.search.add(l.result.t.not(), l.result.f.not())
	l.term.leaves = append(l.term.leaves, l)
	p.leaves[key] = l
	return l.result
}

// absence is that a variable is not there at all, so that its default counts.
func (p *prover) absence(n *node) pair {
	key := leafKey{true, bare(n).key}
	if known, ok := p.leaves[key]; ok {
		return known.result
	}
	return p.addLeaf(key, &leaf{term: p.variable(n.path)})
}

// term finds the one term that an operation is over. Without a term the
// operation is over constants, where it returns no operation, or over several.
func (p *prover) term(n *node) (*term, *node) {
	if n.op == opMissing {
		return p.variable(n.keys[0].path), n
	}
	var only *term
	count, plain := 0, true
	for i, arg := range n.args {
		if arg.constant {
			searched := n.op == opIn && i == 1 && n.members != nil
			plain = plain && (arg.op == opConstant || searched)
			continue
		}
		t := p.operand(arg)
		if only != nil && only != t {
			return nil, n
		}
		only = t
		count++
	}
	switch {
	case only == nil:
		return nil, nil
	case count > 1 && (n.op == opIn || only.opaque != nil):
		// Text in itself, list in itself; two lists that are made twice.
		return nil, n
	case only.opaque != nil && (!plain || n.op == opIn && n.args[0].constant):
		// A list that is made anew is no other list, which a stand-in would not
		// show; and its items may be unknown.
		return nil, n
	}
	return only, n
}

func (p *prover) operand(n *node) *term {
	if n.op == opVar && len(n.args) == 0 {
		return p.variable(n.path)
	}
	return p.opaque(n)
}

// stand returns an operation with the stand-in in place of the term.
func (t *term) stand(n *node) *node {
	with := *n
	if n.op == opMissing {
		with.keys = []key{{value: n.keys[0].value, path: standInPath()}}
		return &with
	}
	with.args = slices.Clone(n.args)
	for i, arg := range n.args {
		if !arg.constant {
			with.args[i] = &node{op: opVar, name: "var", path: standInPath(), label: standIn, variable: standIn}
		}
	}
	return &with
}

// note cuts the term's regions at the constants of an operation over it.
func (l *leaf) note(n *node) {
	for i, arg := range n.args {
		if !arg.constant {
			continue
		}
		v := arg.value
		text, isText := v.(string)
		switch {
		case n.op == opIn && i == 0:
			if isText {
				l.contained = append(l.contained, text)
			}
			l.constant(v, false)
			continue
		case n.op == opIn && isText:
			l.within = true
		}
		l.constant(v, true)
	}
	slices.Sort(l.numbers)
	l.numbers = slices.Compact(l.numbers)
}

// constant notes a scalar, or the scalars of a list. The natural types of a term
// are those of what it is compared with.
func (l *leaf) constant(v any, natural bool) {
	switch t := v.(type) {
	case float64:
		l.numbers = append(l.numbers, t)
		l.term.cutNumber(t)
	case string:
		if l.texts == nil {
			l.texts = map[string]struct{}{}
		}
		l.texts[t] = struct{}{}
		l.term.cutText(t)
	case []any:
		for _, item := range t {
			l.constant(item, natural)
		}
		return
	}
	k := kindOf(v)
	scalar := k == kindBool || k == kindNumber || k == kindString
	if natural && scalar && !slices.Contains(l.term.natural, k) {
		l.term.natural = append(l.term.natural, k)
	}
}

// evaluate asks the evaluator what the leaf gives in each region of its term.
//
// One value speaks for its region because every operation that can be a leaf
// only tells apart what the regions tell apart: truthiness, "missing" and absence
// look at the type, 0 and ""; equality and the search in a list of constants look
// at the type and at equality with a constant; order looks at the type and on
// which side of the constants a number is. A list or an object of the request is
// never identical to a constant. The exceptions are searches in the term, or for
// it in a text: there the regions of other texts and of lists with items give
// either truth.
func (l *leaf) evaluate(b *budget) {
	l.values = make([]verdict, len(l.term.regions))
	data := map[string]any{}
	others := givesUnknown
	for i := range l.term.regions {
		r := &l.term.regions[i]
		if r.open {
			others = l.in(r, data, b)
		}
	}
	for i := range l.term.regions {
		r := &l.term.regions[i]
		switch text, isText := r.value.(string); {
		case b.over() || kindOf(r.value) == kindNumber:
		case isText && !l.tells(text):
			l.values[i] = others
		default:
			l.values[i] = l.in(r, data, b)
		}
	}
	// Numbers between two constants of this leaf are all alike to it.
	last, known := -1, givesUnknown
	for _, i := range l.term.ascending {
		at, exact := slices.BinarySearch(l.numbers, l.term.regions[i].value.(float64))
		zero := l.term.regions[i].value == 0.0
		if side := 2*at + btoi(exact); side != last || zero {
			last, known = side, l.in(&l.term.regions[i], data, b)
			if zero {
				last = -1
			}
		}
		l.values[i] = known
	}
	b.spend(len(l.values) / itemsPerStep)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// in is what the leaf gives in one region.
func (l *leaf) in(r *region, data map[string]any, b *budget) verdict {
	if l.node == nil {
		switch {
		case r.undefinable:
			return givesUnknown
		case r.absent:
			return givesTrue
		}
		return givesFalse
	}
	if l.varies(r) {
		return givesEither
	}
	delete(data, standIn)
	if !r.absent {
		data[standIn] = r.value
	}
	e := newEvaluation(b.account, maxSteps)
	t := truth(e.eval(l.node, data))
	b.spend(e.used())
	return [...]verdict{Unknown: givesUnknown, False: givesFalse, True: givesTrue}[t]
}

// tells says whether a leaf may tell a text from those that nobody names.
func (l *leaf) tells(text string) bool {
	_, own := l.texts[text]
	return own || text == "" || l.within || l.contained != nil
}

// asksTruth says whether a leaf is about truthiness.
func (l *leaf) asksTruth() bool { return l.node != nil && l.node.op == opTruth }

// varies says whether a leaf does not give the same in all of a region.
func (l *leaf) varies(r *region) bool {
	if l.node.op != opIn {
		return false
	}
	switch t := r.value.(type) {
	case string:
		// Every text but "" has "" in it.
		return r.open && (l.within || len(l.contained) > 0 && l.contained[0] != "")
	case []any:
		return len(t) > 0 && l.node.args[0].op != opVar
	}
	return false
}

package jsonlogic

import (
	"math"
	"slices"
)

// leaf is one operation over one term and constants. What it gives is not worked
// out here but asked of the evaluator, with values in place of the term.
type leaf struct {
	term   *term
	over   *node // the operation; nil for absence
	node   *node // the same over the stand-in, where it is evaluated
	key    leafKey
	result pair
	outcomes

	numbers   []float64 // the constants, sorted
	follows   bool      // the operation is over a value that follows from the term's
	places    []float64 // where the truth of such a one may change
	texts     []string  // the constants, sorted
	contained []string  // of "in" over the term: the text that is searched for
	within    bool      // "in" of the term in a text
}

// givesEither is that a leaf is true for some values of a region and false for others.
const givesEither = True + 1

// named is a value for which a leaf gives something else than in its cell.
type named struct {
	value any
	gives Truth
}

// standIn is the variable that takes the place of a term when its operation is
// evaluated.
const standIn = "value"

var standInPath = path{text: standIn, steps: []segment{{name: standIn, index: -1}}}

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
		return pairOf(truth(p.budget.evaluate(n, nil)))
	case t == nil && n.op.compares() && len(n.args) == 3:
		low, high := p.leaf(operation(n.op, n.name, n.source, n.args[:2]...)), p.leaf(operation(n.op, n.name, n.source, n.args[1:]...))
		known := p.gates.and(p.gates.or(low.t, low.f), p.gates.or(high.t, high.f))
		return pair{p.gates.and(low.t, high.t), p.gates.and(known, p.gates.or(low.f, high.f))}
	case t == nil:
		if same, negated := n.alike(); negated {
			return p.leaf(same).not()
		} else if same != n {
			return p.leaf(same)
		}
		// Several terms: what they have to do with each other is not followed.
		t = p.opaque(n)
		over = operation(opTruth, "!!", nil, n)
		if known, ok := p.leaves[leafKey{key: over.key}]; ok {
			return known.result
		}
	}
	l := p.madeLeaves.one()
	l.term, l.over = t, over
	p.follow(l, over)
	return p.addLeaf(leafKey{key: over.key}, l)
}

// leafKey identifies a leaf: the operation, or the absence of the variable.
type leafKey struct {
	absence bool
	key     Key
}

func (p *prover) addLeaf(key leafKey, l *leaf) pair {
	l.key = key
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
	l := p.madeLeaves.one()
	l.term = p.variable(n.path)
	return p.addLeaf(key, l)
}

// term finds the one term that an operation is over. Without a term the
// operation is over constants, where it returns no operation, or over several.
func (p *prover) term(n *node) (*term, *node) {
	if n.op == opMissing {
		return p.variable(n.keys[0].path), n
	}
	var only *term
	count, chains, plain := 0, 0, true
	for i, arg := range n.args {
		if arg.constant {
			searched := n.op == opIn && i == 1 && n.members != nil
			plain = plain && (arg.op == opConstant || searched)
			continue
		}
		t, follows := p.operand(arg)
		chains += btoi(follows)
		if only != nil && only != t {
			return nil, n
		}
		only = t
		count++
	}
	switch {
	case only == nil:
		return nil, nil
	case count > 1 && (n.op == opIn || only.opaque != nil || chains > 0):
		// Text in itself, list in itself; two lists that are made twice; two values
		// that follow from one variable.
		return nil, n
	case only.opaque != nil && (!plain || n.op == opIn && n.args[0].constant):
		// A list that is made anew is no other list, which a stand-in would not
		// show; and its items may be unknown.
		return nil, n
	}
	return only, n
}

// operand returns the term of an operand, and whether the operand is a value that
// follows from that of the term.
func (p *prover) operand(n *node) (t *term, follows bool) {
	if n.op == opVar && len(n.args) == 0 {
		return p.variable(n.path), false
	}
	if c, ok := p.chain(n); ok {
		return p.variable(c.at), true
	}
	return p.opaque(n), false
}

// stand returns an operation with the stand-in in place of the term.
func (t *term) stand(n *node) *node {
	with := *n
	if n.op == opMissing {
		with.keys = []key{{value: n.keys[0].value, path: standInPath}}
		return &with
	}
	with.args = slices.Clone(n.args)
	for i, arg := range n.args {
		switch {
		case arg.constant:
		case t.opaque == nil:
			with.args[i] = arg.over()
		default:
			with.args[i] = &node{op: opVar, name: "var", path: standInPath, label: standIn, variable: standIn}
		}
	}
	return &with
}

// follow finds where the truth of an operation changes that is over a value which
// follows from the term's.
func (p *prover) follow(l *leaf, n *node) {
	for _, arg := range n.args {
		if arg.constant || l.term.opaque != nil || arg.op == opVar {
			continue
		}
		var only leaf // whose constants are not those of the term
		only.term = &term{}
		if only.note(n); n.op == opTruth {
			only.numbers = []float64{0}
		}
		c, _ := p.chain(arg)
		l.places = p.changes(arg, c, only.numbers)
		l.follows = true
	}
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
	slices.Sort(l.texts)
	l.texts = slices.Compact(l.texts)
}

// constant notes a scalar, or the scalars of a list. The natural types of a term
// are those of what it is compared with.
func (l *leaf) constant(v any, natural bool) {
	switch t := v.(type) {
	case float64:
		l.numbers = append(l.numbers, t)
		keep(&l.term.numbers, &l.term.hasNum, t)
	case string:
		l.texts = append(l.texts, t)
		keep(&l.term.texts, &l.term.hasText, t)
	case []any:
		for _, item := range t {
			l.constant(item, natural)
		}
		return
	}
	k := kindOf(v)
	scalar := k == kindBool || k == kindNumber || k == kindString
	if natural && scalar {
		l.term.becomes(k)
	}
}

// becomes notes that a type is natural for the term.
func (t *term) becomes(k kind) {
	if !slices.Contains(t.natural, k) {
		t.natural = append(t.natural, k)
	}
}

// evaluate asks the evaluator what the leaf gives in the cells and in the bands of
// its term, and for which values it makes an exception.
//
// One value speaks for all where the operation only tells apart what is told apart
// here: truthiness, "missing" and absence look at the type, 0 and ""; equality and
// the search in a list of constants look at the type and at equality with a constant;
// order looks at the type and on which side of the constants a number is. A list or
// an object of the request is never identical to a constant. The exceptions are
// searches in the term, or for it in a text: there other texts, and lists with items,
// give either truth.
func (l *leaf) evaluate(b *budget) {
	t := l.term
	if l.over != nil {
		l.node = t.stand(l.over)
	}
	data := map[string]any{}
	if t.numberCell >= 0 {
		l.evaluateNumbers(data, b)
	}
	l.cells = make([]Truth, len(t.cells))
	for k := range t.cells {
		c := &t.cells[k]
		switch {
		case k == t.numberCell:
			l.cells[k] = l.pieces[0]
		case k == t.textCell:
			l.cells[k] = l.in(&region{value: t.other, open: true}, data, b)
		default:
			l.cells[k] = l.in(&t.regions[c.region], data, b)
		}
		l.either = l.either || l.cells[k] == givesEither
	}
	if t.textCell < 0 {
		return
	}
	texts := l.texts
	if l.within || l.contained != nil {
		texts = t.texts
	}
	for _, text := range texts {
		if gives := l.in(&region{value: text}, data, b); gives != l.cells[t.textCell] && text != "" {
			l.named = append(l.named, named{text, gives})
		}
		if b.over() {
			return
		}
	}
}

// evaluateNumbers finds where among the numbers the truth changes. A number that is
// alone between two like it is an exception.
func (l *leaf) evaluateNumbers(data map[string]any, b *budget) {
	at := func(f float64) Truth { return l.in(&region{value: f}, data, b) }
	l.pieces = append(l.pieces[:0], at(-math.MaxFloat64))
	for _, place := range l.changes() {
		gives := at(place)
		last := len(l.cuts)
		switch {
		case b.over():
			return
		case gives == l.pieces[last] || place == -math.MaxFloat64:
		case last > 0 && gives == l.pieces[last-1] && above(l.cuts[last-1]) == place:
			l.named = append(l.named, named{l.cuts[last-1], l.pieces[last]})
			l.cuts, l.pieces = l.cuts[:last-1], l.pieces[:last]
		default:
			l.cuts, l.pieces = append(l.cuts, place), append(l.pieces, gives)
		}
	}
}

// changes returns the numbers from which on the truth may be another, sorted: the
// constants and those that follow them.
func (l *leaf) changes() []float64 {
	if l.follows {
		return l.places
	}
	numbers := l.numbers
	if l.asksTruth() {
		numbers = []float64{0}
	}
	places := make([]float64, 0, 2*len(numbers))
	for _, f := range numbers {
		places = append(places, f)
		if next := above(f); !math.IsInf(next, 0) {
			places = append(places, next)
		}
	}
	return slices.Compact(places)
}

func above(f float64) float64 { return math.Nextafter(f, math.Inf(1)) + 0 }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// in is what the leaf gives in one region.
func (l *leaf) in(r *region, data map[string]any, b *budget) Truth {
	if l.node == nil {
		switch {
		case r.undefinable:
			return Unknown
		case r.absent:
			return True
		}
		return False
	}
	if l.varies(r) {
		return givesEither
	}
	delete(data, standIn)
	if !r.absent {
		data[standIn] = r.value
	}
	return truth(b.evaluate(l.node, data))
}

// asksTruth says whether a leaf is about truthiness.
func (l *leaf) asksTruth() bool { return l.over != nil && l.over.op == opTruth }

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
		return len(t) > 0 && l.node.args[0].constant
	}
	return false
}

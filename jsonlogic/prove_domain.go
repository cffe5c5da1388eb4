package jsonlogic

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// term is what a leaf is over: a variable, or an expression that is not followed
// and stands for whatever value it may have.
type term struct {
	path   path    // of a variable
	around []*term // the variables that it is read from within
	opaque *node   // the expression

	leaves  []*leaf
	readers []*Expr // the expressions that read a variable
	listed  bool    // searched or gone through as a list, and so not taken to be a scalar

	constants
	other string // a text that is none of the constants
	outer bool   // another variable is read from within it

	typed    bool             // its types are told apart
	scalar   literal          // it is assumed to be a scalar; always where nothing is assumed
	operands []*term          // of an expression: the variables whose types decide whether it is known
	is       map[kind]literal // by type, where they are told apart

	regions    []region // the most natural first
	cells      []cell
	textCell   int       // the cell of texts, -1 for none
	numberCell int       // the cell of numbers, -1 for none
	cuts       []float64 // the first numbers of all bands but the first
	families   []family
	classes    []class
	exceptions [][]exception // by leaf
	number     literal       // the value is a number; never where there is one band
	below      []literal     // the value is a number before the band
}

// constants are what leaves compare a term with.
type constants struct {
	numbers []float64
	places  []float64 // where the truth of operations on values that follow from it changes
	texts   []string  // in the order in which they are met
	hasText map[string]struct{}
	hasNum  map[float64]struct{}
	natural []kind // the types of the constants, in the order in which they are met
}

// meet notes what the leaves of a term compare it with.
func (t *term) meet() {
	for _, l := range t.leaves {
		if l.follows {
			t.places = append(t.places, l.places...)
			t.becomes(kindNumber)
		} else if l.over != nil {
			l.note(l.over)
		}
	}
}

// region is a set of values that no leaf tells apart, with a value to show for
// it.
type region struct {
	value       any
	absent      bool // the variable is not there; the value is nil
	undefinable bool // the path ends in JavaScript itself
	open        bool // a text that stands for all that are not named
}

// scalar says whether a variable in this region holds a scalar, or nothing.
func (r *region) scalar() bool {
	k := kindOf(r.value)
	return r.undefinable || k != kindArray && k != kindObject
}

// class is a set of regions in which all leaves of the term give the same.
type class struct {
	selector   literal
	regions    []int
	family     int
	exceptions int32 // the mark of the last leaf that gives something else than in the cell
}

// keep notes a value that a term is compared with, once.
func keep[T comparable](list *[]T, known *map[T]struct{}, v T) {
	if *known == nil {
		*known = map[T]struct{}{}
	}
	if _, is := (*known)[v]; !is {
		(*known)[v] = struct{}{}
		*list = append(*list, v)
	}
}

func (p *prover) variable(at path) *term {
	if known, ok := p.variables[at.text]; ok {
		return known
	}
	t := p.madeTerms.one()
	t.path = at
	p.variables[at.text] = t
	p.terms = append(p.terms, t)
	return t
}

// opaque returns the term of an expression that is not followed, the same one for
// the same expression.
func (p *prover) opaque(n *node) *term {
	if known, ok := p.opaques[n.key]; ok {
		return known
	}
	t := p.madeTerms.one()
	t.opaque = n
	p.opaques[n.key] = t
	p.terms = append(p.terms, t)
	return t
}

// survey notes the variables that an expression reads, and which of them hold
// lists by the way they are read.
func (p *prover) survey(x *Expr) {
	reads := func(at path) {
		if t := p.variable(at); len(t.readers) == 0 || t.readers[len(t.readers)-1] != x {
			t.readers = append(t.readers, x)
		}
	}
	x.root.walk(func(n *node) bool {
		p.budget.spend(1)
		if n.op == opVar {
			reads(n.path)
		}
		for i := range n.keys {
			reads(n.keys[i].path)
		}
		p.computed = p.computed || n.keys == nil && (n.op == opMissing || n.op == opMissingSome)
		return !p.budget.over()
	})
	if !p.budget.over() {
		x.root.lists(func(at path) { p.variable(at).listed = true })
	}
}

// walk visits the parts of an expression that are evaluated over the context, and
// so not the bodies of iterators, as long as the visitor says so.
func (n *node) walk(visit func(*node) bool) bool {
	if n.constant {
		return true
	}
	if !visit(n) {
		return false
	}
	for i, arg := range n.args {
		if n.op.iterates() && i == 1 {
			continue
		}
		if !arg.walk(visit) {
			return false
		}
	}
	return true
}

// listPaths visits the variables that a value may be, of an expression that is
// searched or gone through as a list.
func (n *node) listPaths(visit func(path)) {
	args := n.args
	switch n.op {
	case opVar:
		visit(n.path)
	case opMap, opFilter, opReduce:
		args = args[:1]
	case opAnd, opOr:
	case opIf:
		args = branches(args)
	default:
		return
	}
	for _, arg := range args {
		arg.listPaths(visit)
	}
}

// lists visits the variables that an expression searches or goes through as
// lists. A search in a text looks the same.
func (n *node) lists(visit func(path)) {
	n.walk(func(n *node) bool {
		switch {
		case n.op == opIn:
			n.args[1].listPaths(visit)
		case n.op == opMerge:
			for _, arg := range n.args {
				arg.listPaths(visit)
			}
		case n.op.iterates():
			n.args[0].listPaths(visit)
		}
		return true
	})
}

// divide cuts the values of a term into regions.
func (t *term) divide() {
	t.regions = make([]region, 0, 10+2*len(t.numbers)+len(t.texts))
	order := append(make([]kind, 0, len(t.natural)+1), t.natural...)
	if t.listed {
		order = append(order, kindArray)
	}
	if len(order) == 0 && !slices.ContainsFunc(t.leaves, (*leaf).asksTruth) {
		order = append(order, kindString)
	}
	if len(order) == 0 {
		order = append(order, kindBool)
	}
	var taken [kindUnknown + 1]bool
	take := func(kinds ...kind) {
		for _, k := range kinds {
			if !taken[k] {
				taken[k] = true
				t.regions = append(t.regions, t.regionsOf(k)...)
			}
		}
	}
	// Where no natural value will do, nothing explains better than a strange one,
	// and nobody writes a text of nothing where nothing would do.
	take(order...)
	take(kindNull, kindString, kindNumber, kindBool)
	if _, named := t.hasText[""]; !named && (t.opaque == nil || t.opaque.mayBe(kindString)) {
		t.regions = append(t.regions, region{value: ""})
	}
	take(kindArray, kindObject, kindUnknown)
}

// Regions that all terms have alike. What is made of them copies their values.
var (
	nullRegion    = []region{{}}
	noneRegions   = []region{{absent: true}, {}}
	boolRegions   = []region{{value: true}, {value: false}}
	listRegions   = []region{{value: []any{true}}, {value: []any{}}}
	objectRegions = []region{{value: map[string]any{}}}
)

// regionsOf returns the regions of one type, the most natural first, as far as
// the term can be of the type. They are only read.
func (t *term) regionsOf(k kind) []region {
	if t.opaque != nil && !t.opaque.mayBe(k) {
		return nil
	}
	switch k {
	case kindNull:
		if t.opaque != nil {
			return nullRegion
		}
		return noneRegions
	case kindBool:
		return boolRegions
	case kindNumber:
		return t.numberRegions()
	case kindString:
		return t.textRegions()
	case kindArray:
		return listRegions
	case kindObject:
		return objectRegions
	}
	return t.unknownRegions()
}

// unknownRegions are what cannot be told: of an expression, with each truth that
// the operators give to what they leave open; of a variable whose path has a name
// that JavaScript's own values have, that it leads there.
func (t *term) unknownRegions() []region {
	open := &unknown{cause: &Cause{}}
	if t.opaque != nil {
		return []region{{value: open}, {value: &unknown{truth: True, cause: open.cause}}, {value: &unknown{truth: False, cause: open.cause}}}
	}
	for i := range t.path.steps {
		if !t.path.steps[i].plain() {
			return []region{{value: open, undefinable: true}}
		}
	}
	return nil
}

// plain says whether only an object has a member of that name.
func (s *segment) plain() bool {
	return s.index < 0 && s.inherited == ofNothing && s.name != "length"
}

// mayBe says whether an operation can give a value of a type.
func (n *node) mayBe(k kind) bool {
	if k == kindUnknown {
		return true
	}
	switch n.op {
	case opAdd, opSubtract, opMultiply, opDivide, opModulo, opMin, opMax:
		return k == kindNumber
	case opCat, opSubstr:
		return k == kindString
	case opEqual, opNotEqual, opSame, opNotSame, opGreater, opGreaterEqual, opLess, opLessEqual,
		opIn, opAll, opNone, opSome:
		return k == kindBool
	case opList, opMerge, opMap, opFilter, opMissing, opMissingSome:
		return k == kindArray
	}
	return true
}

// textRegions are those named, then all others but "", which truthiness and
// "missing" tell from them even where it is not named.
func (t *term) textRegions() []region {
	regions := make([]region, 0, len(t.texts)+2)
	for _, s := range t.texts {
		regions = append(regions, region{value: s})
	}
	other := "any"
	if len(t.texts) > 0 {
		other = "other"
	}
	for i := 2; ; i++ {
		if _, named := t.hasText[other]; !named {
			break
		}
		other = "other " + strconv.Itoa(i)
	}
	t.other = other
	return append(regions, region{value: other, open: true})
}

// numberRegions are the constants and the intervals between them, cut at 0 for
// truthiness. A constant speaks better for itself than a number next to it.
func (t *term) numberRegions() []region {
	points := append(slices.Concat(t.numbers, t.places), 0)
	slices.Sort(points)
	points = slices.Compact(points)
	values := make([]float64, 0, 2*len(points)+1)
	low := math.Inf(-1)
	for _, point := range points {
		values = appendBetween(values, low, point)
		values = append(values, point)
		low = point
	}
	values = appendBetween(values, low, math.Inf(1))
	slices.Sort(t.places)
	rank := func(f float64) int {
		_, named := t.hasNum[f]
		_, place := slices.BinarySearch(t.places, f)
		switch {
		case named && f >= 0:
			return 0
		case f > 0 && f == math.Trunc(f):
			return 1
		case f == 0:
			return 2
		case f == math.Trunc(f):
			return 3
		case !place:
			return 4
		}
		return 5 // nobody writes the first number that is large enough
	}
	slices.SortStableFunc(values, func(a, b float64) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(math.Abs(a), math.Abs(b)))
	})
	regions := make([]region, len(values))
	for i, f := range values {
		regions[i].value = f
	}
	return regions
}

// appendBetween appends a number strictly between two others, if there is one: a
// whole one next to the bound that is closer to 0, if it fits.
func appendBetween(values []float64, low, high float64) []float64 {
	whole := math.Floor(low) + 1
	if low < 0 {
		whole = math.Ceil(high) - 1
	}
	next := math.Nextafter(low, high)
	if math.IsInf(low, 0) {
		next = math.Nextafter(high, low)
	}
	for _, f := range []float64{whole, low + (high-low)/2, low/2 + high/2, next} {
		if low < f && f < high && !math.IsInf(f, 0) {
			return append(values, f+0)
		}
	}
	return values
}

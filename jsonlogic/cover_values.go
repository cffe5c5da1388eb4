package jsonlogic

import (
	"math"
	"slices"
)

// usage says whether a region of values is in a term of a cube.
type usage uint8

const (
	isOut usage = iota
	mayBeIn
	isIn
)

// together is the usage of regions that no words tell apart; ok is false where one of them
// has to be in and another one out.
func together(a, b usage) (u usage, ok bool) {
	switch {
	case a == isOut || b == isOut:
		return isOut, a != isIn && b != isIn
	case a == isIn || b == isIn:
		return isIn, true
	}
	return mayBeIn, true
}

// sorted are the regions of a subject by what words there are for them.
type sorted struct {
	kinds   [kindsInWords]usage
	has     [kindsInWords]bool // which of them there are
	texts   []textUse
	numbers []numberUse
	told    bool // words tell the regions apart as they are used
}

// The kinds of regions that are neither numbers nor texts with a name.
const (
	inAbsent = iota
	inNull
	inTrue
	inFalse
	inTexts
	inEmpty
	inList
	inObject
	inUnknown
	kindsInWords
)

type textUse struct {
	text string
	use  usage
}

// numberUse is a number or the numbers between two.
type numberUse struct {
	value     float64
	low, high float64 // of those between two, which are not among them
	point     bool
	use       usage
}

// values returns the values of a subject that are in a cube: as few as possible, or as many as
// possible where that is said in fewer words. It is not ok where no words tell them apart.
func (s *subject) values(use []usage) (set Range, ok bool) {
	o := s.sort(use)
	if !o.told {
		return set, false
	}
	few, many := o.set(false), o.set(true)
	if many.words() < few.words() {
		return many, true
	}
	return few, true
}

// sort puts the regions of a subject in order.
func (s *subject) sort(use []usage) *sorted {
	o := &sorted{told: true}
	if s.leaf != nil {
		o.kinds[inTrue], o.kinds[inFalse], o.kinds[inUnknown] = use[0], use[1], use[2]
		return o
	}
	t := s.term
	points := append(slices.Concat(t.numbers, t.places), 0)
	slices.Sort(points)
	points = slices.Compact(points)
	for i := range t.classes {
		for _, at := range t.classes[i].regions {
			o.add(t, &t.regions[at], use[i], points)
		}
	}
	for kind := range o.kinds {
		if !o.has[kind] && !t.opaque.isTruth() {
			o.kinds[kind] = mayBeIn // as there are none
		}
	}
	slices.SortFunc(o.numbers, func(a, b numberUse) int { return compareFloats(a.value, b.value) })
	slices.SortFunc(o.texts, func(a, b textUse) int { return compareTexts(a.text, b.text) })
	return o
}

func (o *sorted) add(t *term, r *region, use usage, points []float64) {
	switch v := r.value.(type) {
	case float64:
		o.numbers = append(o.numbers, numberUseOf(v, points, use))
		return
	case string:
		if !r.open {
			o.texts = append(o.texts, textUse{v, use})
			return
		}
	}
	o.join(t.inWords(r), use)
}

// inWords returns the kind of a region that is neither a number nor a text with a name.
func (t *term) inWords(r *region) int {
	switch v := r.value.(type) {
	case nil:
		switch {
		case r.undefinable:
			return inUnknown
		case r.absent:
			return inAbsent
		}
		return inNull
	case bool:
		if v {
			return inTrue
		}
		return inFalse
	case string:
		return inTexts
	case []any:
		if len(v) == 0 {
			return inEmpty
		}
		return inList
	case *unknown:
		switch {
		case r.undefinable || v.truth == Unknown || !t.opaque.isTruth():
			return inUnknown
		case v.truth == True:
			return inTrue
		}
		return inFalse
	}
	return inObject
}

// join adds a region to others that have the same words.
func (o *sorted) join(kind int, use usage) {
	if o.has[kind] {
		joined, told := together(o.kinds[kind], use)
		use, o.told = joined, o.told && told
	}
	o.has[kind], o.kinds[kind] = true, use
}

// numberUseOf returns the numbers that a region's value stands for.
func numberUseOf(v float64, points []float64, use usage) numberUse {
	at, point := slices.BinarySearch(points, v)
	n := numberUse{value: v, point: point, use: use, low: math.Inf(-1), high: math.Inf(1)}
	if !point {
		if at > 0 {
			n.low = points[at-1]
		}
		if at < len(points) {
			n.high = points[at]
		}
	}
	return n
}

// isTruth says whether an expression is nothing but true or false, where it is known.
func (n *node) isTruth() bool {
	return n != nil && n.mayBe(kindBool) && !n.mayBe(kindNumber) && !n.mayBe(kindString) && !n.mayBe(kindArray)
}

// set returns the values that are in, with all that may be in or with those that must.
func (o *sorted) set(all bool) Range {
	in := func(u usage) bool { return u == isIn || all && u == mayBeIn }
	is := func(kind int) bool { return in(o.kinds[kind]) }
	s := Range{
		Absent: is(inAbsent), Null: is(inNull), True: is(inTrue), False: is(inFalse), OtherTexts: is(inTexts),
		Empty: is(inEmpty), List: is(inList), Object: is(inObject), Unknown: is(inUnknown),
	}
	// Nothing and null are told apart, and lists and objects, only where they have to be.
	s.Absent, s.Null = alike(s.Absent, s.Null, o.kinds[inAbsent], o.kinds[inNull])
	s.List, s.Object = alike(s.List, s.Object, o.kinds[inList], o.kinds[inObject])
	for _, t := range o.texts {
		// Of texts that may be in, those are named that have to be.
		if s.OtherTexts && t.use == isOut || !s.OtherTexts && in(t.use) {
			s.Texts = append(s.Texts, t.text)
		}
	}
	s.Numbers = o.intervals(all)
	return s
}

// alike returns whether two kinds are in, both if one has to be and the other may.
func alike(a, b bool, first, second usage) (bool, bool) {
	if u, ok := together(first, second); ok && u == isIn {
		return true, true
	}
	return a, b
}

// intervals joins neighbouring numbers. What may be in is, where it is beside what has to be.
func (o *sorted) intervals(all bool) (list []Interval) {
	for i := 0; i < len(o.numbers); i++ {
		if o.numbers[i].use == isOut {
			continue
		}
		from, needed := i, all
		for ; i < len(o.numbers) && o.numbers[i].use != isOut; i++ {
			needed = needed || o.numbers[i].use == isIn
		}
		if needed {
			list = append(list, intervalOf(o.numbers[from], o.numbers[i-1]))
		}
	}
	return list
}

func intervalOf(first, last numberUse) Interval {
	i := Interval{Low: first.low, High: last.high}
	if first.point {
		i.Low, i.WithLow = first.value, true
	}
	if last.point {
		i.High, i.WithHigh = last.value, true
	}
	return i.short()
}

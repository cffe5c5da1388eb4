package jsonlogic

import (
	"cmp"
	"math"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Term is one condition of a cube: that a variable, or an expression that is not followed, has
// one of some values.
type Term struct {
	Path   string // of a variable, "" for an expression
	Values Range

	subject *node
}

// Range is a set of values. Nothing that a request can hold is in none of its parts.
type Range struct {
	Absent      bool // nothing
	Null        bool
	True, False bool
	Numbers     []Interval // sorted and apart
	// Texts are the texts in it or, with OtherTexts, those that are not; sorted.
	Texts      []string
	OtherTexts bool
	Empty      bool // a list without items
	List       bool // a list with items
	Object     bool
	Unknown    bool // of an expression: what it comes to is not known
}

// Interval is the numbers from Low to High, which are infinite where there is no bound.
type Interval struct {
	Low, High         float64
	WithLow, WithHigh bool // the bounds are in it
}

func compareFloats(a, b float64) int { return cmp.Compare(a, b) }
func compareTexts(a, b string) int   { return cmp.Compare(a, b) }

// IsPoint reports whether one number is in it alone.
func (i Interval) IsPoint() bool { return i.WithLow && i.WithHigh && i.Low == i.High }

// Has reports whether a number is in it.
func (i Interval) Has(f float64) bool {
	return (f > i.Low || i.WithLow && f == i.Low) && (f < i.High || i.WithHigh && f == i.High)
}

// short returns the same numbers with the bounds that are written shortest: more than 9 is as
// well the first number above it, and up.
func (i Interval) short() Interval {
	if i.IsPoint() {
		return i
	}
	length := func(f float64) int { return len(pack.CompactJSON(f)) }
	other := func(at float64, down bool) (float64, bool) {
		next := above(at)
		if down {
			next = math.Nextafter(at, math.Inf(-1)) + 0
		}
		return next, !math.IsInf(at, 0) && !math.IsInf(next, 0) && length(next) < length(at)
	}
	if next, shorter := other(i.Low, i.WithLow); shorter {
		i.Low, i.WithLow = next, !i.WithLow
	}
	if next, shorter := other(i.High, !i.WithHigh); shorter {
		i.High, i.WithHigh = next, !i.WithHigh
	}
	return i
}

// Not returns all other values.
func (s Range) Not() Range {
	return Range{
		Absent: !s.Absent, Null: !s.Null, True: !s.True, False: !s.False, Numbers: between(s.Numbers),
		Texts: s.Texts, OtherTexts: !s.OtherTexts, Empty: !s.Empty, List: !s.List, Object: !s.Object, Unknown: !s.Unknown,
	}
}

// between returns the numbers that are in none of the intervals.
func between(list []Interval) (rest []Interval) {
	low, with := math.Inf(-1), false
	for _, i := range list {
		if i.Low > low || i.Low == low && with && !i.WithLow {
			rest = append(rest, Interval{Low: low, WithLow: with, High: i.Low, WithHigh: !i.WithLow})
		}
		low, with = i.High, !i.WithHigh
	}
	if !math.IsInf(low, 1) {
		rest = append(rest, Interval{Low: low, WithLow: with, High: math.Inf(1)})
	}
	return rest
}

// Missing reports whether nothing and null are in it, which most conditions take for the same.
func (s Range) Missing() bool { return s.Absent && s.Null }

// AllNumbers reports whether every number is in it.
func (s Range) AllNumbers() bool {
	return len(s.Numbers) == 1 && math.IsInf(s.Numbers[0].Low, -1) && math.IsInf(s.Numbers[0].High, 1)
}

// Falsy reports whether it is what JsonLogic takes for false, and nothing else.
func (s Range) Falsy() bool {
	zero := len(s.Numbers) == 1 && s.Numbers[0].IsPoint() && s.Numbers[0].Low == 0
	empty := !s.OtherTexts && slices.Equal(s.Texts, []string{""}) && s.Empty
	return s.Missing() && s.False && zero && empty && !s.True && !s.List && !s.Object
}

// words is about how much there is to say, so that of two sets the one is taken that is
// said in fewer words. What is not so is harder to read than what is.
func (s Range) words() int {
	return min(2*s.parts(), 2*s.Not().parts()+1)
}

// Negated reports whether it is said in fewer words what is not in it.
func (s Range) Negated() bool { return 2*s.Not().parts()+1 < 2*s.parts() }

func (s Range) parts() int {
	if s.Falsy() {
		return 1
	}
	count := len(s.Numbers) + 2*btoi(s.Unknown) + btoi(s.OtherTexts) + btoi(len(s.Texts) > 0)
	for _, is := range []bool{s.Absent || s.Null, s.True, s.False, s.Empty, s.List || s.Object} {
		count += btoi(is)
	}
	return count
}

// Formula says that the term holds of a request.
func (t Term) Formula() Formula {
	if t.Values.Negated() {
		return Not(t.among(t.Values.Not()))
	}
	return t.among(t.Values)
}

// among says that what the term is about has a value of a set.
func (t Term) among(s Range) Formula {
	n := t.subject
	if n.isTruth() {
		return t.truths(s)
	}
	is := func(v any) Formula {
		return IsTrue(&Expr{root: operation(opSame, "===", nil, n, constantNode(nil, v))})
	}
	var ways []Formula
	if s.Absent || s.Null {
		ways = append(ways, t.isNothing(s))
	}
	if s.True {
		ways = append(ways, is(true))
	}
	if s.False {
		ways = append(ways, is(false))
	}
	for _, i := range s.Numbers {
		ways = append(ways, t.in(i))
	}
	var texts []Formula
	for _, text := range s.Texts {
		texts = append(texts, is(text))
	}
	if s.OtherTexts {
		ways = append(ways, All(t.isText(), Not(Any(texts...))))
	} else {
		ways = append(ways, texts...)
	}
	if s.Empty || s.List || s.Object || s.Unknown {
		ways = append(ways, t.noScalar(s))
	}
	return Any(ways...)
}

// truths is among for an expression that is true or false.
func (t Term) truths(s Range) Formula {
	x := &Expr{root: t.subject}
	var ways []Formula
	for _, way := range []struct {
		in bool
		is Formula
	}{{s.True, IsTrue(x)}, {s.False, IsFalse(x)}, {s.Unknown, IsUnknown(x)}} {
		if way.in {
			ways = append(ways, way.is)
		}
	}
	return Any(ways...)
}

// in says that it is a number of an interval.
func (t Term) in(i Interval) Formula {
	than := func(op opcode, name string, f float64) Formula {
		return IsTrue(&Expr{root: operation(op, name, nil, t.subject, constantNode(nil, f))})
	}
	var parts []Formula
	switch {
	case math.IsInf(i.Low, -1):
	case i.WithLow:
		parts = append(parts, than(opGreaterEqual, ">=", i.Low))
	default:
		parts = append(parts, than(opGreater, ">", i.Low))
	}
	switch {
	case math.IsInf(i.High, 1):
	case i.WithHigh:
		parts = append(parts, than(opLessEqual, "<=", i.High))
	default:
		parts = append(parts, than(opLess, "<", i.High))
	}
	if len(parts) == 0 {
		return t.isNumber()
	}
	return All(parts...)
}

func (t Term) isNumber() Formula {
	return Not(IsUnknown(&Expr{root: operation(opLess, "<", nil, t.subject, constantNode(nil, 0.0))}))
}

// isText says that it is a text: beside those "==" compares nothing with a text but null.
func (t Term) isText() Formula {
	equal := &Expr{root: operation(opEqual, "==", nil, t.subject, constantNode(nil, ""))}
	null := &Expr{root: operation(opSame, "===", nil, t.subject, constantNode(nil, nil))}
	return All(Not(IsUnknown(equal)), Not(IsTrue(null)))
}

// isNothing says that it is missing or null, or one of both: a default is for what is not there.
func (t Term) isNothing(s Range) Formula {
	equal := func(n *node, v any) Formula {
		return IsTrue(&Expr{root: operation(opSame, "===", nil, n, constantNode(nil, v))})
	}
	null := equal(t.subject, nil)
	if s.Absent == s.Null || t.Path == "" {
		return null
	}
	with := *t.subject
	with.args = []*node{constantNode(nil, true)}
	with.identify()
	if s.Absent {
		return All(null, equal(&with, true))
	}
	return All(null, Not(equal(&with, true)))
}

// noScalar says that it is a list or an object, by its truth and by whether it can be searched,
// or not known.
func (t Term) noScalar(s Range) Formula {
	scalar := t.among(Range{Absent: true, Null: true, True: true, False: true, OtherTexts: true})
	truth := &Expr{root: operation(opTruth, "!!", nil, t.subject)}
	var ways []Formula
	switch {
	case s.List && s.Object:
		ways = append(ways, IsTrue(truth))
	case s.List || s.Object:
		search := IsUnknown(&Expr{root: operation(opIn, "in", nil, constantNode(nil, false), t.subject)})
		if s.List {
			search = Not(search)
		}
		ways = append(ways, All(IsTrue(truth), search))
	}
	if s.Empty {
		ways = append(ways, IsFalse(truth))
	}
	if s.Unknown {
		ways = append(ways, IsUnknown(truth))
	}
	return All(Not(scalar), Not(t.isNumber()), Any(ways...))
}

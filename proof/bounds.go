package proof

import (
	"cmp"
	"maps"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// atoms is what one bound says of an argument, taken apart. Nil says nothing.
type atoms struct {
	min, max       *float64
	required       bool
	enum           []string // the values in canonical form
	hasEnum        bool
	pattern        *string
	others         []string // members that have no meaning here, name and value
	unlessApproved bool
}

// source is a bound with the outcome that it comes from; those of a permission
// hold always.
type source struct {
	atoms
	policy.Bound
	key  string // what it says, to tell whether two say the same
	when literal
}

// sourcesOf takes bounds apart. They hold always, until it is said when.
func sourcesOf(bounds []policy.Bound) []source {
	var all []source
	for _, b := range bounds {
		all = append(all, source{atoms: atomsOf(b.Says), Bound: b, key: pack.CompactJSON(b.Says), when: always})
	}
	return all
}

func atomsOf(says map[string]any) atoms {
	var a atoms
	for _, name := range slices.Sorted(maps.Keys(says)) {
		value := says[name]
		number, isNumber := value.(float64)
		flag, isFlag := value.(bool)
		list, isList := value.([]any)
		text, isText := value.(string)
		switch {
		case name == "min" && isNumber:
			a.min = &number
		case name == "max" && isNumber:
			a.max = &number
		case name == "required" && isFlag:
			a.required = flag
		case name == "unless_approved" && isFlag:
			a.unlessApproved = flag
		case name == "enum" && isList:
			a.hasEnum = true
			for _, v := range list {
				a.enum = append(a.enum, pack.CompactJSON(v))
			}
		case name == "pattern" && isText:
			a.pattern = &text
		default:
			a.others = append(a.others, name+" "+pack.CompactJSON(value))
		}
	}
	return a
}

// admits reports whether the bound's list, if it has one, has the value.
func (a *atoms) admits(value string) bool { return !a.hasEnum || slices.Contains(a.enum, value) }

// sources returns the bounds that can hold for an argument of a tool: those of
// its permissions, and if there are any those of outcomes (compiler, C5).
func (s *scene) sources(t *policy.Tool, arg string) []source {
	own := s.given(t, arg)
	if len(own) == 0 {
		return nil
	}
	return slices.Concat(own, s.bounds[arg])
}

// given returns the bounds that the permissions of a tool put on an argument.
func (m *Model) given(t *policy.Tool, arg string) []source {
	return slices.DeleteFunc(slices.Clone(m.permitted[t]), func(b source) bool { return b.Arg != arg })
}

// mostPairs bounds the pairs of bounds, or of bounds and values, that are looked
// at for one tool.
const mostPairs = 20_000

// emptied says that the bounds of a tool leave no value for one of its arguments,
// so that the compiler drops the tool. Can is false where they never do.
func (s *scene) emptied(t *policy.Tool) (f jsonlogic.Formula, can bool) {
	e, known := s.empties[t]
	if !known {
		var ways []jsonlogic.Formula
		for _, arg := range t.Arguments() {
			sources := until(s.sources(t, arg), true)
			ways = append(ways, s.crossed(sources)...)
			ways = append(ways, s.exhausted(sources)...)
		}
		e = emptiness{jsonlogic.Any(ways...), len(ways) > 0}
		s.empties[t] = e
	}
	return e.formula, e.can
}

// tooMany reports whether a tool has more bounds than are followed, so that
// nothing may be claimed about it.
func (s *scene) tooMany(t *policy.Tool) bool {
	pairs := 0
	for _, arg := range t.Arguments() {
		sources := s.sources(t, arg)
		values := 3 * len(sources) // at each limit, below and above it
		for _, b := range sources {
			values += len(b.enum)
		}
		pairs += values * len(sources)
	}
	return pairs > mostPairs
}

// crossed says, for each smallest value, that it holds together with a largest
// one below it.
func (s *scene) crossed(sources []source) (ways []jsonlogic.Formula) {
	for _, low := range sources {
		if low.min == nil {
			continue
		}
		var below []literal
		for _, high := range sources {
			if high.max != nil && *high.max < *low.min {
				below = append(below, high.when)
			}
		}
		if len(below) > 0 {
			ways = append(ways, jsonlogic.All(s.is(low.when), s.any(normal(below))))
		}
	}
	return ways
}

// exhausted says that each value which one of the lists has is left out by
// another one that holds.
func (s *scene) exhausted(sources []source) (ways []jsonlogic.Formula) {
	var listing []source
	var values []string
	for _, b := range sources {
		if b.hasEnum {
			listing = append(listing, b)
			values = append(values, b.enum...)
		}
	}
	if len(listing) == 0 {
		return nil
	}
	slices.Sort(values)
	var holding []literal
	for _, b := range listing {
		holding = append(holding, b.when)
	}
	each := []jsonlogic.Formula{s.any(normal(holding))}
	for _, v := range slices.Compact(values) {
		var left []literal
		for _, b := range listing {
			if !b.admits(v) {
				left = append(left, b.when)
			}
		}
		if len(left) == 0 {
			return nil // all lists have it
		}
		each = append(each, s.any(normal(left)))
	}
	return []jsonlogic.Formula{jsonlogic.All(each...)}
}

// alike reports whether two lists of bounds are the same, apart from their order.
func alike(a, b []source) bool {
	order := func(list []source) []source {
		list = slices.Clone(list)
		slices.SortFunc(list, func(x, y source) int { return cmp.Or(cmp.Compare(x.when, y.when), cmp.Compare(x.key, y.key)) })
		return slices.CompactFunc(list, sameSource)
	}
	return slices.EqualFunc(order(a), order(b), sameSource)
}

func sameSource(x, y source) bool { return x.when == y.when && x.key == y.key }

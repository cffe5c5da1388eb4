package proof

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// atoms is one bound of an argument by its members. A nil limit is no limit.
type atoms struct {
	min, max       *float64
	required       bool
	enum           []string // the values in canonical form
	hasEnum        bool
	pattern        *string
	others         []string // members that have no meaning here, name and value
	unlessApproved bool
}

// source is a bound with the outcome that it comes from; the bound of a permission always holds.
type source struct {
	atoms
	policy.Bound
	key  string // its content: equal bounds have equal keys
	when literal
}

// sourcesOf returns bounds by their members, as bounds that always hold.
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
// its permissions, and if there are any those of outcomes (compiler, C5). The list must not be changed.
func (s *scene) sources(t *policy.Tool, arg string) []source {
	own := s.Model.permitted[t][arg]
	if len(own) == 0 || len(s.bounds[arg]) == 0 {
		return own
	}
	return slices.Concat(own, s.bounds[arg])
}

// mostPairs bounds the pairs of bounds, or of bounds and values, that are looked
// at for one tool.
const mostPairs = 20_000

// emptied returns the formula that the bounds of a tool leave no value for one of its arguments, so
// that the compiler drops the tool. Can is false if they never do.
func (s *scene) emptied(t *policy.Tool) (f jsonlogic.Formula, can bool) {
	e, known := s.empties[t]
	if !known {
		var ways []jsonlogic.Formula
		for _, arg := range t.Arguments() {
			sources := afterApproval(s.sources(t, arg))
			ways = append(ways, s.crossed(sources)...)
			ways = append(ways, s.exhausted(sources)...)
		}
		e = emptiness{jsonlogic.Any(ways...), len(ways) > 0}
		s.empties[t] = e
	}
	return e.formula, e.can
}

// tooMany reports whether a tool has more bounds than are followed; then nothing is claimed about it.
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

// crossed returns, for each min, the formula that it holds together with a max below it.
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

// exhausted returns the formula that each listed value is missing from another list that holds.
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

// value is what an argument may be, as far as limits and lists tell values apart.
type value struct {
	missing  bool
	number   float64
	isNumber bool
	form     string // canonical JSON; "" for a text that no list has
}

// rejects reports whether a bound does not let a value through. Patterns, and
// members that are not known, are not looked at.
func (a *atoms) rejects(v value) bool {
	return slices.ContainsFunc(keywords, func(k Keyword) bool { return a.rejectsBy(k, v) })
}

// says reports whether a bound says anything by a keyword: if not, it rejects nothing by it.
func (a *atoms) says(k Keyword) bool {
	switch k {
	case Upper:
		return a.max != nil
	case Lower:
		return a.min != nil
	case Required:
		return a.required
	case Listed:
		return a.hasEnum
	}
	return a.pattern != nil || len(a.others) > 0
}

// rejectsBy reports whether one member of a bound does not let a value through.
func (a *atoms) rejectsBy(k Keyword, v value) bool {
	switch k {
	case Upper:
		return v.isNumber && a.max != nil && v.number > *a.max
	case Lower:
		return v.isNumber && a.min != nil && v.number < *a.min
	case Required:
		return v.missing && a.required
	case Listed:
		return !v.missing && !a.admits(v.form)
	}
	return false
}

// valuesOf returns a value of each kind that bounds tell apart: those around each
// limit, none, those that are listed, and one that is not.
func valuesOf(bounds ...*atoms) []value {
	var numbers []float64
	var listed []string
	for _, a := range bounds {
		for _, limit := range []*float64{a.min, a.max} {
			if limit != nil {
				numbers = append(numbers, math.Nextafter(*limit, math.Inf(-1)), *limit, math.Nextafter(*limit, math.Inf(1)))
			}
		}
		listed = append(listed, a.enum...)
	}
	slices.Sort(numbers)
	slices.Sort(listed)
	values := []value{{missing: true}, {}}
	for _, n := range slices.Compact(numbers) {
		if !math.IsInf(n, 0) {
			values = append(values, value{number: n, isNumber: true, form: pack.CompactJSON(n)})
		}
	}
	for _, form := range slices.Compact(listed) {
		number, err := strconv.ParseFloat(form, 64)
		values = append(values, value{number: number, isNumber: err == nil, form: form})
	}
	return values
}

// held is the conjunction of several bounds.
type held struct {
	atoms
	patterns []string
}

// together joins the bounds that hold before or after an approval.
func together(list []atoms, approved bool) held {
	var h held
	for _, a := range list {
		if approved && a.unlessApproved {
			continue
		}
		if a.min != nil && (h.min == nil || *a.min > *h.min) {
			h.min = a.min
		}
		if a.max != nil && (h.max == nil || *a.max < *h.max) {
			h.max = a.max
		}
		h.required = h.required || a.required
		if a.hasEnum && h.hasEnum {
			h.enum = slices.DeleteFunc(slices.Clone(h.enum), func(v string) bool { return !slices.Contains(a.enum, v) })
		} else if a.hasEnum {
			h.enum, h.hasEnum = a.enum, true
		}
		if a.pattern != nil {
			h.patterns = append(h.patterns, *a.pattern)
		}
		h.others = append(h.others, a.others...)
	}
	return h
}

// letting returns the values that bounds let through and others do not, because of a facet.
func (now *held) letting(was *held, f Facet) []value {
	return slices.DeleteFunc(valuesOf(&now.atoms, &was.atoms), func(v value) bool { return now.rejects(v) || !was.rejectsBy(f.Keyword, v) })
}

// beyond returns in words what bounds let through that others did not, "" for nothing.
func (now held) beyond(was held, f Facet) string {
	if f.Keyword == Matched {
		return unmatched("does not have to match ", f, was.patterns, now.patterns)
	}
	more := now.letting(&was, f)
	switch {
	case len(more) == 0:
		return ""
	case f.Keyword == Required:
		return "is not required" + f.once()
	case now.hasEnum:
		return "may be " + quoteValue(more[0].form) + f.once()
	case f.Keyword == Upper:
		return limit(now.max, "may be up to ", "has no upper bound") + f.once() + former(was.max)
	case f.Keyword == Lower:
		return limit(now.min, "may be as small as ", "has no lower bound") + f.once() + former(was.min)
	}
	return "may have values that are not listed" + f.once()
}

// nearest returns the value next to a former limit that bounds let through and others did not: a whole
// number if there is one. OK is false if no value is known because of a pattern.
func (now held) nearest(was held, f Facet) (v value, ok bool) {
	var near []value
	whole := func(n float64) { near = append(near, value{number: n, isNumber: true, form: pack.CompactJSON(n)}) }
	if was.max != nil {
		whole(math.Floor(*was.max) + 1)
	}
	if was.min != nil {
		whole(math.Ceil(*was.min) - 1)
	}
	for _, v := range slices.Concat(near, now.letting(&was, f)) {
		if !now.rejects(v) && was.rejectsBy(f.Keyword, v) && (v.missing || len(now.patterns) == 0) {
			return v, true
		}
	}
	return value{}, false
}

// any returns the value as decoded JSON, a text that no list has for one that is not listed.
func (v value) any() (out any) {
	if v.form == "" {
		return "another value"
	}
	_ = json.Unmarshal([]byte(v.form), &out) // written by CompactJSON
	return out
}

// within is the opposite of beyond: it returns in words what bounds no longer let through.
func (now held) within(was held, f Facet) string {
	if f.Keyword == Matched {
		return unmatched("has to match ", f, now.patterns, was.patterns)
	}
	less := was.letting(&now, f)
	switch {
	case len(less) == 0:
		return ""
	case f.Keyword == Required:
		return "is required" + f.once()
	case was.hasEnum:
		return "may not be " + quoteValue(less[0].form) + f.once()
	case f.Keyword == Upper:
		return "may be up to " + number(now.max) + f.once() + former(was.max)
	case f.Keyword == Lower:
		return "has to be at least " + number(now.min) + f.once() + former(was.min)
	}
	return "may only have values that are listed" + f.once()
}

// unmatched returns in words that an argument has a pattern that others do not have, "" for none.
func unmatched(words string, f Facet, patterns, others []string) string {
	for _, p := range patterns {
		if !slices.Contains(others, p) {
			return words + quote(p) + f.once()
		}
	}
	return ""
}

// limit returns the words for a limit, or for none.
func limit(at *float64, there, none string) string {
	if at == nil {
		return none
	}
	return there + number(at)
}

// former returns in words what a limit was.
func former(at *float64) string {
	if at == nil {
		return " (was not bound)"
	}
	return " (was " + number(at) + ")"
}

func number(at *float64) string { return pack.CompactJSON(*at) }

package proof

import (
	"math"
	"slices"

	"github.com/contextosai/packgate/pack"
)

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
	switch {
	case v.missing:
		return a.required
	case v.isNumber && (a.min != nil && v.number < *a.min || a.max != nil && v.number > *a.max):
		return true
	}
	return !a.admits(v.form)
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
		number, isNumber := numberOf(form)
		values = append(values, value{number: number, isNumber: isNumber, form: form})
	}
	return values
}

// held is what several bounds say together.
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

// letting returns the values that bounds let through and others do not.
func (now *held) letting(was *held) []value {
	return slices.DeleteFunc(valuesOf(&now.atoms, &was.atoms), func(v value) bool { return now.rejects(v) || !was.rejects(v) })
}

// beyond says what bounds let through that others did not, "" for nothing.
func (now held) beyond(was held) string {
	more := now.letting(&was)
	for _, v := range slices.Backward(more) {
		switch {
		case !v.isNumber || now.hasEnum:
		case was.max != nil && v.number > *was.max:
			return limit(now.max, "may be up to ", "has no upper bound") + former(was.max)
		case was.min != nil && v.number < *was.min:
			return limit(now.min, "may be as small as ", "has no lower bound") + former(was.min)
		}
	}
	switch {
	case slices.ContainsFunc(more, func(v value) bool { return v.missing }):
		return "is not required"
	case len(more) > 0 && !now.hasEnum:
		return "may have values that are not listed"
	case len(more) > 0:
		return "may be " + quoteValue(more[0].form)
	}
	return unmatched("does not have to match ", was.patterns, now.patterns)
}

// within says what bounds do not let through any more that others did, "" for
// nothing. It is beyond, seen from the other side.
func (now held) within(was held) string {
	less := was.letting(&now)
	for _, v := range slices.Backward(less) {
		switch {
		case !v.isNumber || was.hasEnum:
		case now.max != nil && v.number > *now.max:
			return "may be up to " + number(now.max) + former(was.max)
		case now.min != nil && v.number < *now.min:
			return "has to be at least " + number(now.min) + former(was.min)
		}
	}
	switch {
	case slices.ContainsFunc(less, func(v value) bool { return v.missing }):
		return "is required"
	case len(less) > 0 && !was.hasEnum:
		return "may only have values that are listed"
	case len(less) > 0:
		return "may not be " + quoteValue(less[0].form)
	}
	return unmatched("has to match ", now.patterns, was.patterns)
}

// unmatched says that an argument is held to the first pattern of one list that the
// other does not have, "" where there is none.
func unmatched(words string, patterns, others []string) string {
	for _, p := range patterns {
		if !slices.Contains(others, p) {
			return words + quote(p)
		}
	}
	return ""
}

// limit says that there is a limit, or none.
func limit(at *float64, there, none string) string {
	if at == nil {
		return none
	}
	return there + number(at)
}

// former says what a limit was.
func former(at *float64) string {
	if at == nil {
		return " (was not bound)"
	}
	return " (was " + number(at) + ")"
}

func number(at *float64) string { return pack.CompactJSON(*at) }

// numberOf reads the canonical form of a number.
func numberOf(form string) (n float64, ok bool) {
	d, faults := pack.Read("", []byte(form), pack.DefaultLimits())
	if len(faults) > 0 || d.Root.Kind != pack.Number {
		return 0, false
	}
	return d.Root.Number, true
}

package compiler

import (
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/contextosai/packgate/policy"
)

// conjoin returns the bounds that hold together for one argument. Bounds that
// end with an approval stand beside the others. ok is false where the
// unconditional ones leave no value, and where the effort is spent.
func conjoin(bounds []policy.Bound, e *effort) (together []map[string]any, ok bool) {
	var always, unlessApproved []map[string]any
	for _, b := range bounds {
		if !e.spend(b.Weight * (1 + len(always) + len(unlessApproved))) {
			return nil, false
		}
		if b.UntilApproved() {
			unlessApproved = stricter(unlessApproved, b.Says, e)
		} else {
			always = stricter(always, b.Says, e)
		}
	}
	return append(always, unlessApproved...), !slices.ContainsFunc(always, empty)
}

// stricter adds a bound to bounds that hold together. What cannot be said in one
// bound, such as a second pattern, becomes another one.
func stricter(bounds []map[string]any, says map[string]any, e *effort) []map[string]any {
	rest := maps.Clone(says)
	for _, b := range bounds {
		rest = tighten(b, rest, e)
	}
	delete(rest, "unless_approved")
	if len(rest) == 0 && len(bounds) > 0 {
		return bounds
	}
	if v, conditional := says["unless_approved"]; conditional {
		rest["unless_approved"] = v
	}
	return append(bounds, rest)
}

// tighten moves what a bound says into another one, the stricter of the two
// winning, and returns what could not be moved.
func tighten(into, says map[string]any, e *effort) (rest map[string]any) {
	rest = map[string]any{}
	for name, value := range says {
		have, there := into[name]
		both, ok := strictest(name, have, value, e)
		switch {
		case !there:
			into[name] = value
		case ok:
			into[name] = both
		default:
			rest[name] = value
		}
	}
	return rest
}

// strictest returns what holds where a bound says two things under one name.
func strictest(name string, a, b any, e *effort) (both any, ok bool) {
	if reflect.DeepEqual(a, b) {
		return a, true
	}
	switch x := a.(type) {
	case float64:
		y, number := b.(float64)
		switch {
		case number && name == "min":
			return math.Max(x, y), true
		case number && name == "max":
			return math.Min(x, y), true
		}
	case bool:
		if y, flag := b.(bool); flag && name == "required" {
			return x || y, true
		}
	case []any:
		if y, list := b.([]any); list && name == "enum" {
			return intersect(x, y, e), true
		}
	}
	return nil, false
}

// intersect returns the items of a that b has too, in a's order; none where that
// is beyond the effort.
func intersect(a, b []any, e *effort) []any {
	common := []any{}
	if !e.spend(len(a) * len(b)) {
		return common
	}
	for _, item := range a {
		if slices.ContainsFunc(b, func(other any) bool { return reflect.DeepEqual(item, other) }) {
			common = append(common, item)
		}
	}
	return common
}

// empty reports whether a bound leaves no value: no word to choose, or a
// smallest above the largest.
func empty(says map[string]any) bool {
	if words, ok := says["enum"].([]any); ok && len(words) == 0 {
		return true
	}
	least, hasLeast := says["min"].(float64)
	most, hasMost := says["max"].(float64)
	return hasLeast && hasMost && least > most
}

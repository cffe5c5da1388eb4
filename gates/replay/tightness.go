package replay

import (
	"maps"
	"math"
	"reflect"
	"slices"
)

// looser returns the first member, in the order of names, of a wanted bound that
// what holds for an argument does not keep; "" where all are kept. What holds is a
// bound, a list of bounds of which each holds, or nil. A bound that ends with an
// approval holds only where the wanted one ends so too.
func looser(want map[string]any, have any) string {
	conditional := want["unless_approved"] == true
	bounds := slices.DeleteFunc(boundsIn(have), func(b map[string]any) bool {
		return !conditional && b["unless_approved"] == true
	})
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name != "unless_approved" && !slices.ContainsFunc(bounds, func(b map[string]any) bool { return keeps(b, name, want[name]) }) {
			return name
		}
	}
	return ""
}

// boundsIn returns the bounds that hold for an argument.
func boundsIn(have any) []map[string]any {
	switch v := have.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []map[string]any:
		return slices.Clone(v)
	case []any:
		var list []map[string]any
		for _, item := range v {
			list = append(list, boundsIn(item)...)
		}
		return list
	}
	return nil
}

// keeps reports whether a bound is at least as tight as one member of another.
func keeps(bound map[string]any, name string, want any) bool {
	switch name {
	case "min":
		least, _ := span(bound)
		number, ok := want.(float64)
		return ok && least >= number
	case "max":
		_, most := span(bound)
		number, ok := want.(float64)
		return ok && most <= number
	case "enum":
		return isSubset(bound["enum"], want)
	case "required":
		return want != true || bound["required"] == true
	}
	return reflect.DeepEqual(bound[name], want)
}

// span returns the numbers between which a bound keeps its argument.
func span(bound map[string]any) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	if n, ok := bound["min"].(float64); ok {
		least = n
	}
	if n, ok := bound["max"].(float64); ok {
		most = n
	}
	words, ok := bound["enum"].([]any)
	if !ok || len(words) == 0 {
		return least, most
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, w := range words {
		n, ok := w.(float64)
		if !ok {
			return least, most
		}
		low, high = min(low, n), max(high, n)
	}
	return max(least, low), min(most, high)
}

// isSubset reports whether all items of a list are in another.
func isSubset(list, of any) bool {
	items, ok := list.([]any)
	all, okAll := of.([]any)
	return ok && okAll && !slices.ContainsFunc(items, func(item any) bool {
		return !slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(item, other) })
	})
}

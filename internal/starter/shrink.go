package starter

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/policy"
)

// mostShrunk bounds how many values of a request are tried without.
const mostShrunk = 200

// shrink leaves out of a request what it can do without. The solver keeps a value
// that could be another one which the contracts do not allow; a request that does
// not have it at all is smaller, and can come.
func shrink(data map[string]any, holds policy.Formula) map[string]any {
	paths := leaves(nil, "", data)
	for _, path := range paths[:min(len(paths), mostShrunk)] {
		if smaller := pruned(data, strings.Split(path, ".")); holds.Holds(smaller) {
			data = smaller
		}
	}
	return data
}

// leaves lists the paths of the values that are no objects, from the last to the
// first in alphabetical order, so that of two that will do the first stays.
func leaves(into []string, prefix string, object map[string]any) []string {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(object))) {
		if inner, ok := object[name].(map[string]any); ok && len(inner) > 0 {
			into = leaves(into, prefix+name+".", inner)
		} else {
			into = append(into, prefix+name)
		}
	}
	return into
}

// pruned returns an object without the value at a path, and without the objects
// that are empty then.
func pruned(from map[string]any, path []string) map[string]any {
	out := remove(from, path)
	for len(path) > 1 {
		path = path[:len(path)-1]
		if inner, _ := lookUp(out, strings.Join(path, ".")); len(asObject(inner)) > 0 {
			break
		}
		out = remove(out, path)
	}
	return out
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

package jsonlogic

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Overlay returns one request, or a part of one, with the members of another put
// over it, objects within objects too. Neither is changed.
func Overlay(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for name, v := range over {
		a, both := out[name].(map[string]any)
		if b, ok := v.(map[string]any); ok && both {
			v = Overlay(a, b)
		}
		out[name] = v
	}
	return out
}

// Lookup returns the value at a dotted path of a request, and whether there is
// one. Only members are followed, and no items of lists.
func Lookup(request any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := request.(map[string]any)
		if !ok {
			return nil, false
		}
		if request, ok = object[name]; !ok {
			return nil, false
		}
	}
	return request, true
}

// Leaves goes through the values of a request that are no objects with members,
// each with the names that lead to it, which are the caller's to keep. The members
// of every object come in the order of their names.
func Leaves(request map[string]any) iter.Seq2[[]string, any] {
	return func(yield func([]string, any) bool) { leaves(request, nil, yield) }
}

func leaves(object map[string]any, at []string, yield func([]string, any) bool) bool {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path := append(slices.Clip(at), name)
		if inner, ok := object[name].(map[string]any); ok && len(inner) > 0 {
			if !leaves(inner, path, yield) {
				return false
			}
		} else if !yield(path, object[name]) {
			return false
		}
	}
	return true
}

// Set returns a request with a value at a path, which is not empty. What is in
// the way, such as a text where an object has to be, gives way. The request that
// is given is not changed.
func Set(request map[string]any, path []string, value any) map[string]any {
	out := maps.Clone(request)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		inner, _ := out[path[0]].(map[string]any)
		value = Set(inner, path[1:], value)
	}
	out[path[0]] = value
	return out
}

// Unset returns a request without the value at a path, which is not empty, and
// without the objects that only held that value. The request that is given is not
// changed.
func Unset(request map[string]any, path []string) map[string]any {
	out := maps.Clone(request)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	inner, ok := out[path[0]].(map[string]any)
	if !ok {
		return out
	}
	if inner = Unset(inner, path[1:]); len(inner) == 0 {
		delete(out, path[0])
	} else {
		out[path[0]] = inner
	}
	return out
}

package policy

import "maps"

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

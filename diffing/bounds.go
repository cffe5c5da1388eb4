package diffing

import (
	"encoding/json"
	"slices"

	"github.com/contextosai/packgate/internal/pack"
)

// boundsTightened reports whether the bounds on an argument permit no more than
// before. Missing bounds permit everything. Bounds that an approval lifts are
// looser than the same ones without that; of patterns only equal ones compare,
// and so for every bound that the contract does not name.
func boundsTightened(from, to *pack.Node) bool {
	names := map[string]bool{}
	for _, n := range []*pack.Node{from, to} {
		if n == nil {
			continue
		}
		if n.Kind != pack.Object {
			return false
		}
		for _, m := range n.Members {
			names[m.Name] = true
		}
	}
	for name := range names {
		if name != "unless_approved" && !noLooser(name, from.Get(name), to.Get(name)) {
			return false
		}
	}
	return bare(from) || isTrue(from.Get("unless_approved")) || !isTrue(to.Get("unless_approved"))
}

// tightened is boundsTightened for a unit.
func tightened(u *unit) bool { return boundsTightened(u.old, u.new) }

// reordered reports whether nothing but the order of the allowed values differs.
func reordered(u *unit) bool {
	for _, n := range []*pack.Node{u.old.Get("enum"), u.new.Get("enum")} {
		if n == nil || n.Kind != pack.Array {
			return false
		}
	}
	sorted := func(n *pack.Node) string {
		value, _ := n.Any().(map[string]any)
		value["enum"] = slices.Sorted(slices.Values(valuesOf(n.Get("enum"))))
		text, _ := json.Marshal(value) // what was read from JSON always has a text
		return string(text)
	}
	return sorted(u.old) == sorted(u.new)
}

// bare reports whether the bounds bound nothing.
func bare(n *pack.Node) bool { return n == nil || len(n.Members) == 0 }

// noLooser reports whether one bound permits no more than before.
func noLooser(name string, from, to *pack.Node) bool {
	if name == "required" {
		return isTrue(to) || !isTrue(from)
	}
	if to == nil {
		return from == nil
	}
	if from == nil {
		return true
	}
	a, okA := numberOf(from)
	b, okB := numberOf(to)
	switch {
	case name == "min" && okA && okB:
		return b >= a
	case name == "max" && okA && okB:
		return b <= a
	case name == "enum" && from.Kind == pack.Array && to.Kind == pack.Array:
		had := map[string]bool{}
		for _, v := range valuesOf(from) {
			had[v] = true
		}
		return !slices.ContainsFunc(valuesOf(to), func(v string) bool { return !had[v] })
	}
	return valueOf(from) == valueOf(to)
}

func valuesOf(array *pack.Node) []string {
	list := make([]string, len(array.Items))
	for i, item := range array.Items {
		list[i] = valueOf(item)
	}
	return list
}

// valueOf returns the same text for the same value.
func valueOf(n *pack.Node) string {
	text, _ := json.Marshal(n.Any()) // what was read from JSON always has a text
	return string(text)
}

// idempotencyDropped reports whether a write no longer requires its
// idempotency key.
func idempotencyDropped(u *unit) bool {
	if !named("idempotency_key")(u) || !isTrue(u.old.Get("required")) || isTrue(u.new.Get("required")) {
		return false
	}
	p := u.permission(u.head)
	return p != nil && u.head.writes(p.AdapterID.Value, p.Capability.Value)
}

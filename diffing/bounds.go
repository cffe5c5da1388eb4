package diffing

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/contextosai/packgate/pack"
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

// idempotencyDropped reports whether a write no longer requires its idempotency
// key: because that bound changed, or because a permission came or went. Permissions
// for one capability add up, so one of them with the key suffices.
func idempotencyDropped(u *unit) bool {
	if u.item() == u.path && u.kind != Added && u.kind != Removed || u.item() != u.path && !named("idempotency_key")(u) {
		return false
	}
	now := u.sameTool(u.head)
	return len(now) > 0 && u.head.writes(now[0].AdapterID.Value, now[0].Capability.Value) &&
		keyed(u.sameTool(u.base)) && !keyed(now)
}

// sameTool returns the permissions of a side that allow what the unit, which is a
// permission, is about.
func (u *unit) sameTool(s *side) []*pack.Permission {
	own := cmp.Or(u.permission(u.head), u.permission(u.base))
	if own == nil {
		return nil
	}
	return s.allowed[capability(own)]
}

// keyed reports whether one of the permissions requires an idempotency key.
func keyed(permissions []*pack.Permission) bool {
	return slices.ContainsFunc(permissions, func(p *pack.Permission) bool {
		c, ok := p.ArgConstraints.Get("idempotency_key")
		return ok && c.Required.Value
	})
}

package diffing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// permission returns the permission of a side that the unit is or belongs to,
// or nil.
func (u *unit) permission(s *side) *pack.Permission {
	at := s.at(u.item())
	return find(s.ToolingLayer.Permissions, func(p *pack.Permission) bool { return at != nil && p.Node == at })
}

// adapter returns the adapter of a side that the unit is or belongs to, or nil.
func (u *unit) adapter(s *side) *pack.Adapter {
	at := s.at(u.item())
	return find(s.ToolingLayer.AdapterRegistry, func(a *pack.Adapter) bool { return at != nil && a.Node == at })
}

// find returns the first item of a list that is so, nil for none.
func find[T any](list pack.List[T], is func(*T) bool) *T {
	for i := range list.Items {
		if is(&list.Items[i]) {
			return &list.Items[i]
		}
	}
	return nil
}

// item returns the path of the permission or adapter that the unit is or
// belongs to.
func (u *unit) item() string {
	segments, _ := pack.SplitPointer(u.path)
	return join(segments[:min(3, len(segments))])
}

// isPermission reports whether the unit is about a permission, and not about an
// adapter.
func (u *unit) isPermission() bool { return strings.HasPrefix(u.path, "/tooling_layer/permissions/") }

// uses returns the permissions of a side for what the unit is about: an
// adapter, or one capability of it.
func (u *unit) uses(s *side) []*pack.Permission {
	a := cmp.Or(u.adapter(s), u.adapter(u.base), u.adapter(u.head))
	var list []*pack.Permission
	permissions := s.ToolingLayer.Permissions.Items
	capability, one := textOf(pack.Place(u.new, u.old))
	for i := range permissions {
		p := &permissions[i]
		if a != nil && p.AdapterID.OK && p.AdapterID.Value == a.AdapterID.Value && (!one || p.Capability.Value == capability) {
			list = append(list, p)
		}
	}
	return list
}

// unresolved reports whether a permission of the head names an adapter or a
// capability that is not there, and the unit made it so.
func unresolved(u *unit) bool {
	if !u.isPermission() {
		lost := func(p *pack.Permission) bool { return !u.head.resolves(p) }
		return u.kind == Removed && slices.ContainsFunc(u.uses(u.head), lost)
	}
	p := u.permission(u.head)
	return p != nil && u.kind != Renamed && !u.head.resolves(p)
}

// addedUnguarded reports whether the unit brings a destructive capability, or
// the permission for one, and no gate is before it.
func addedUnguarded(u *unit) bool {
	if !u.isPermission() {
		return u.kind == Added && slices.ContainsFunc(u.uses(u.head), u.head.unguarded)
	}
	p := u.permission(u.head)
	return p != nil && u.kind != Renamed && u.kind != Removed && u.head.unguarded(p)
}

// addedOrAllowed reports whether the unit, which is an item or the allow of a
// permission, is an adapter, a capability or an
// allowing permission that was added, or a permission that allows now.
func addedOrAllowed(u *unit) bool {
	switch {
	case u.isPermission() && u.item() != u.path:
		return flagMoved(true)(u)
	case u.kind != Added:
		return false
	case u.isPermission():
		return isTrue(u.new.Get("allow"))
	}
	return true
}

// addedReadOnly reports whether what was added or allowed only reads.
func addedReadOnly(u *unit) bool {
	if !addedOrAllowed(u) {
		return false
	}
	if u.isPermission() {
		p := u.permission(u.head)
		return p != nil && u.head.mode(p.AdapterID.Value) == pack.ReadOnly
	}
	a := u.adapter(u.head)
	return a != nil && pack.Mode(a.ApprovalMode) == pack.ReadOnly
}

// addedBesideWriting reports whether what was added or allowed only reads, at an endpoint
// that serves more than that: in either version, so that a writing adapter cannot be
// exchanged for one that says it only reads.
func addedBesideWriting(u *unit) bool {
	if !addedReadOnly(u) {
		return false
	}
	a := u.adapter(u.head)
	if p := u.permission(u.head); p != nil {
		a = u.head.Adapters[p.AdapterID.Value]
	}
	return a != nil && (u.base.servesWriting(a) || u.head.servesWriting(a))
}

// destructiveGateLost reports whether the permission of a destructive
// capability that the head allows names no gate that the head has.
func destructiveGateLost(u *unit) bool {
	p := u.permission(u.head)
	if p == nil || !p.Allow.Value || !destructive(u.head.mode(p.AdapterID.Value)) {
		return false
	}
	id, ok := textOf(u.new)
	return !ok || u.head.Gates[id] == nil
}

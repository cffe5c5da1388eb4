package diffing

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// specsPath is the list whose items are named by their key alone while it is
// unique, and by key@version once there are several.
const specsPath = "/decision_layer/decision_specs"

// alignSpecs gives a decision spec the same name on both sides where only one
// of them has several versions of it. Without it, a second version of a spec
// would look like the removal of the first.
func alignSpecs(base, head *side) {
	base.qualifyLike(head)
	head.qualifyLike(base)
}

// qualifyLike renames the specs of s that the other side names with a version.
func (s *side) qualifyLike(other *side) {
	specs, others := s.specForms(), other.specForms()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		own := pack.EscapeSegment(name)
		version, ok := textOf(s.index.Find(specsPath + "/" + own).Get("version"))
		qualified := name + "@" + version
		if !ok || others[name] != nil || others[qualified] == nil || specs[qualified] != nil {
			continue
		}
		specs[qualified] = specs[name]
		delete(specs, name)
		s.specs[pack.EscapeSegment(qualified)] = own
	}
}

func (s *side) specForms() map[string]any {
	value, _ := valueAt(s.form, []string{"decision_layer", "decision_specs"})
	specs, _ := value.(map[string]any)
	return specs
}

// repeated reports whether the unit is an item of a set, and the other side has the
// same text in it under another name, which is so where a text stands twice. Where a
// text stands in the place of another one, and one of them is on both sides, the
// unit is about the other alone.
func (u *unit) repeated() bool {
	texts := isItem(u.old) && isItem(u.new)
	kept, known := u.head.hasItem(u.old, u.path), u.base.hasItem(u.new, u.path)
	switch {
	case (u.old == nil || kept) && (u.new == nil || known):
		return true
	case texts && kept:
		u.old = nil
	case texts && known:
		u.new = nil
	}
	return false
}

// isItem reports whether a value is a text in an array.
func isItem(n *pack.Node) bool {
	return n != nil && n.Kind == pack.String && n.Parent != nil && n.Parent.Kind == pack.Array
}

// hasItem reports whether a text that stands at a path is in the side's array too,
// wherever.
func (s *side) hasItem(n *pack.Node, path string) bool {
	if !isItem(n) {
		return false
	}
	array := s.at(path[:strings.LastIndexByte(path, '/')])
	return array != nil && s.holds(array, n.Text)
}

// renameable leads from the name of an array to the identity of its items, for
// items whose identity may change without changing what they do.
var renameable = map[string]string{
	"policy_bundles": "bundle_id",
	"rules":          "rule_id",
	"permissions":    "permission_id",
}

// renamed joins each removed item with an added one of the same list and the
// same content under another identity.
func renamed(list []*unit) []*unit {
	removed := map[string][]*unit{}
	for _, u := range list {
		if u.kind == Removed {
			if key := u.content(); key != "" {
				removed[key] = append(removed[key], u)
			}
		}
	}
	if len(removed) == 0 {
		return list
	}
	gone := map[*unit]bool{}
	for _, u := range list {
		if u.kind != Added {
			continue
		}
		if key := u.content(); len(removed[key]) > 0 {
			old := removed[key][0]
			removed[key] = removed[key][1:]
			u.kind, u.old, gone[old] = Renamed, old.old, true
		}
	}
	return slices.DeleteFunc(list, func(u *unit) bool { return gone[u] })
}

// content returns the list and the content of an item that may be renamed, the
// identity aside; "" for any other unit.
func (u *unit) content() string {
	segments, _ := pack.SplitPointer(u.path)
	if len(segments) < 3 {
		return ""
	}
	from := u.head
	if u.kind == Removed {
		from = u.base
	}
	item, _ := valueAt(from.form, segments)
	members, ok := item.(map[string]any)
	id := renameable[segments[len(segments)-2]]
	if !ok || id == "" {
		return ""
	}
	members = maps.Clone(members)
	delete(members, id)
	text, _ := json.Marshal(members) // members of a form always have a text
	return join(segments[:len(segments)-1]) + " " + string(text)
}

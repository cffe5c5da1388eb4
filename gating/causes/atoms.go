package causes

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// atom is a change of a single scalar, such as a name that was mistyped: what it was and what
// it is.
type atom struct {
	was, is *pack.Node
	changes []string // their keyed paths
	// identity says that the scalar is the name by which others refer to the thing.
	identity bool
}

// mostPaired bounds how many removed and added things are compared with each other.
const mostPaired = 64

// atomsOf returns the changes of a single scalar. A thing that is named by the scalar is removed
// under one name and added under the other.
func atomsOf(changes []diffing.Change) (atoms []atom) {
	var removed, added []diffing.Change
	for _, c := range changes {
		switch {
		case c.New == nil && len(removed) < mostPaired:
			removed = append(removed, c)
		case c.Old == nil && len(added) < mostPaired:
			added = append(added, c)
		case c.New != nil && c.Old != nil:
			if was, is, ok := scalar(c.Old, c.New); ok {
				atoms = append(atoms, atom{was, is, []string{c.Path}, c.Kind == diffing.Renamed})
			}
		}
	}
	for _, r := range removed {
		if a, ok := misnamed(r, removed, added); ok {
			atoms = append(atoms, a)
		}
	}
	return atoms
}

// misnamed returns the change of name by which a removed thing was added again: of the added things
// in the same list, the one with the most similar name.
func misnamed(r diffing.Change, removed, added []diffing.Change) (atom, bool) {
	was := map[string]bool{}
	for _, other := range removed {
		if list(other.Path) == list(r.Path) {
			was[name(other.Path)] = true
		}
	}
	var names []string
	found := map[string]atom{}
	for _, a := range added {
		if list(a.Path) != list(r.Path) {
			continue
		}
		if old, now, ok := scalar(r.Old, a.New); ok && old.Kind == pack.String && now.Kind == pack.String {
			names = append(names, now.Text)
			found[now.Text] = atom{old, now, []string{r.Path, a.Path}, true}
		}
	}
	own := name(r.Path)
	if len(was) == 1 && len(names) == 1 {
		return found[names[0]], true
	}
	near := schemas.Nearest(own, names)
	return found[near], near != ""
}

func list(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

func name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// scalar returns the only scalar in which two values differ.
func scalar(a, b *pack.Node) (was, is *pack.Node, ok bool) {
	d := &difference{}
	d.compare(a, b)
	return d.was, d.is, d.count == 1 && d.was != nil
}

// difference counts the scalars in which two values differ, and stops after the second.
type difference struct {
	was, is *pack.Node
	count   int
}

func (d *difference) compare(a, b *pack.Node) {
	composed := func(n *pack.Node) bool { return n.Kind == pack.Object || n.Kind == pack.Array }
	switch {
	case d.count > 1:
	case composed(a) != composed(b), composed(a) && (a.Kind != b.Kind || len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items)):
		d.count += 2
	case a.Kind == pack.Object:
		for _, m := range a.Members {
			if other := b.Get(m.Name); other != nil {
				d.compare(m.Value, other)
			} else {
				d.count += 2
			}
		}
	case a.Kind == pack.Array:
		for i := range a.Items {
			d.compare(a.Items[i], b.Items[i])
		}
	case a.Kind != b.Kind || !slices.Equal([]byte(a.Raw()), []byte(b.Raw())):
		d.was, d.is, d.count = a, b, d.count+1
	}
}

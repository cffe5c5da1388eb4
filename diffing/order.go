package diffing

import (
	"reflect"

	"github.com/contextosai/packgate/pack"
)

// orders returns the lists whose items have another order, in a pack of which nothing else
// differs but the version. They have no class, and yet the compiled prompt can be another one.
func (d *Diff) orders() (changes []Change) {
	if d.versionOnly() {
		return nil
	}
	r := shared().byID[rowOrder]
	reorderedLists(d.base.Node, d.head.Node, func(was, is *pack.Node) {
		path := is.KeyedPath()
		changes = append(changes, Change{
			Layer: layerOf(path), Path: path, Kind: Changed, Row: r.ID, Class: r.Class, Reason: r.Reason, Old: was, New: is,
		})
	})
	return changes
}

// reorderedLists names the outermost lists of two documents whose items have another order.
func reorderedLists(was, is *pack.Node, name func(was, is *pack.Node)) {
	switch {
	case was == nil || is == nil || was.Kind != is.Kind:
	case is.Kind == pack.Object:
		for _, m := range is.Members {
			reorderedLists(was.Get(m.Name), m.Value, name)
		}
	case is.Kind == pack.Array:
		if !sameOrder(was, is) {
			name(was, is)
			return
		}
		for i := range is.Items {
			reorderedLists(was.Items[i], is.Items[i], name)
		}
	}
}

// sameOrder reports whether the items of two lists follow one another in the same way: by their
// names or, where they have none, by what they are.
func sameOrder(was, is *pack.Node) bool {
	if len(was.Items) != len(is.Items) {
		return false
	}
	for i := range is.Items {
		a, b := was.Items[i], is.Items[i]
		if a.KeyedPath() != b.KeyedPath() || b.Kind != pack.Object && b.Kind != pack.Array && !reflect.DeepEqual(a.Any(), b.Any()) {
			return false
		}
	}
	return true
}

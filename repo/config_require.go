package repo

import (
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Requirement is something that has to have run: an input or a rule, as the config names it.
type Requirement struct {
	Name string
	Node *pack.Node
	// Class is the least class of a change for which it is required, "" for any pack.
	Class string
}

// requireAlways is the member of require whose list is for every pack. A list without
// classes is one.
const requireAlways = "always"

// requireClasses are the members of require, from the list for every pack to that for the
// largest changes.
var requireClasses = []string{requireAlways, "patch", "minor", "major"}

// Requirements returns what the config requires, in its order.
func (c *Config) Requirements() (list []Requirement) {
	for _, class := range requireClasses {
		for _, n := range requireItems(c.Require, class) {
			r := Requirement{Name: n.Text, Node: n, Class: class}
			if class == requireAlways {
				r.Class = ""
			}
			list = append(list, r)
		}
	}
	return list
}

// requireItems returns the items of one list of the member require.
func requireItems(require *pack.Node, class string) []*pack.Node {
	switch {
	case require == nil:
		return nil
	case require.Kind == pack.Array && class != requireAlways:
		return nil
	case require.Kind == pack.Object:
		require = require.Get(class)
	}
	if require == nil {
		return nil
	}
	return require.Items
}

// Holds reports whether it is required of a pack whose change is of a class. What is
// required of small changes is required of larger ones too, and a pack that is compared
// with nothing, of the class "", is one of which everything is new.
func (r Requirement) Holds(class string) bool {
	if r.Class == "" {
		return true
	}
	found := slices.Index(requireClasses, class)
	if found < 0 && class != "none" {
		found = len(requireClasses)
	}
	return found >= slices.Index(requireClasses, r.Class)
}

// fewerRequired: a list for smaller changes is in force for larger ones too.
func fewerRequired(was, is *pack.Node) bool {
	var before, now []string
	for _, class := range requireClasses {
		for _, n := range requireItems(was, class) {
			before = append(before, n.Text)
		}
		for _, n := range requireItems(is, class) {
			now = append(now, n.Text)
		}
		if !holdsAll(now, before) {
			return true
		}
	}
	return false
}

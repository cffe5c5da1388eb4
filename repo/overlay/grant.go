package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// mostAdded is how many added things a message names.
const mostAdded = 4

// grants returns what a value would add at a place of the tooling layer: adapters,
// capabilities, permissions, and what permissions allow. Holder is the value that
// is there, or the one that would hold it.
func (r *reader) grants(at []string, holder, value *pack.Node) []string {
	if len(at) == 0 || at[0] != "tooling_layer" {
		return nil
	}
	after := toolingLayer(at[1:], holder, value)
	if after == nil {
		return nil
	}
	if r.have == nil {
		r.have = granted(&r.ToolingLayer)
	}
	var layer pack.ToolingLayer
	pack.Decode(after, &layer)
	var added []string
	for g := range granted(&layer) {
		if !r.have[g] {
			added = append(added, g.String())
		}
	}
	slices.Sort(added)
	return added
}

// telling are the members that say what an adapter or a permission is about.
var telling = []string{"adapter_id", "permission_id", "capability", "allow"}

// toolingLayer returns a tooling layer that holds what a value makes of the part
// that it is put into, and nothing else; nil where it could add nothing there.
func toolingLayer(at []string, holder, value *pack.Node) *pack.Node {
	switch {
	case len(at) == 0:
		return value
	case len(at) == 1:
		return object(at[0], value)
	case len(at) == 2:
		return object(at[0], array(value))
	case len(at) == 4 && at[2] == "capabilities":
		at, value = at[:3], array(value)
		for holder.Parent != nil && holder.Kind != pack.Array {
			holder = holder.Parent
		}
	case len(at) > 3 || at[2] != "capabilities" && !slices.Contains(telling, at[2]):
		return nil
	}
	// The value is a member of an item: what the item is about, with the member as
	// it would be.
	if name, ok := holder.Name(); ok && name == at[2] {
		holder = holder.Parent
	}
	item := object(at[2], value)
	for _, name := range telling {
		if own := holder.Get(name); own != nil && name != at[2] {
			item.Members = append(item.Members, pack.Member{Name: name, Value: own})
		}
	}
	return object(at[0], array(item))
}

func object(name string, value *pack.Node) *pack.Node {
	return &pack.Node{Kind: pack.Object, Members: []pack.Member{{Name: name, Value: value}}}
}

func array(item *pack.Node) *pack.Node {
	return &pack.Node{Kind: pack.Array, Items: []*pack.Node{item}}
}

// grant is one thing that a tooling layer declares or allows: an adapter, a capability
// of one, a permission, or the use of a capability.
type grant struct{ what, name, capability string }

// String returns what is granted as messages name it.
func (g grant) String() string {
	name := g.name
	if g.capability != "" {
		name += "." + g.capability
	}
	return g.what + " " + quote(name)
}

// granted returns what a tooling layer declares and allows.
func granted(l *pack.ToolingLayer) map[grant]bool {
	grants := map[grant]bool{}
	for _, a := range l.AdapterRegistry.Items {
		grants[grant{"adapter", a.AdapterID.Value, ""}] = true
		for _, c := range pack.Values(a.Capabilities) {
			grants[grant{"capability", a.AdapterID.Value, c}] = true
		}
	}
	for _, p := range l.Permissions.Items {
		grants[grant{"permission", p.PermissionID.Value, ""}] = true
		if p.Allow.Value {
			grants[grant{"use of", p.AdapterID.Value, p.Capability.Value}] = true
		}
	}
	return grants
}

func listed(names []string) string {
	if more := len(names) - mostAdded; more > 0 {
		names = append(slices.Clone(names[:mostAdded]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

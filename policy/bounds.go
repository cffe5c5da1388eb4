package policy

import "github.com/contextosai/packgate/pack"

// Bound is what a permission or an outcome says of one argument.
type Bound struct {
	Arg  string
	Says map[string]any // in the pack's own members; not to be changed
	At   *pack.Node
	// Weight is how many JSON values it has, itself included.
	Weight int
}

// UntilApproved reports whether the bound ends with an approval.
func (b Bound) UntilApproved() bool { return b.Says["unless_approved"] == true }

// boundsOf returns the bounds of a permission or an outcome, in document order.
func boundsOf(d pack.Dict[pack.Constraint]) []Bound {
	var bounds []Bound
	for _, e := range d.Entries {
		if says, ok := e.Value.Node.Any().(map[string]any); ok {
			bounds = append(bounds, Bound{e.Name, says, e.Value.Node, weightOf(e.Value.Node)})
		}
	}
	return bounds
}

// weightOf counts a value and those below it.
func weightOf(n *pack.Node) int {
	weight := 1
	for _, m := range n.Members {
		weight += weightOf(m.Value)
	}
	for _, item := range n.Items {
		weight += weightOf(item)
	}
	return weight
}

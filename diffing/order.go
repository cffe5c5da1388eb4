package diffing

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// model returns what a pack permits. Its named items are taken in the order of
// their names: the order in which they are written is no content, and must not
// show in which request is found to tell two packs apart.
func model(p *pack.Pack, shared *policy.Conditions) *proof.Model {
	q := *p
	bundles := &q.PolicyLayer.PolicyBundles
	inOrder(bundles, func(b *pack.Bundle) (pack.Text, *pack.Node) { return b.BundleID, b.Node })
	for i := range bundles.Items {
		inOrder(&bundles.Items[i].PolicyDSL.Rules, func(r *pack.Rule) (pack.Text, *pack.Node) { return r.RuleID, r.Node })
		for j := range bundles.Items[i].PolicyDSL.Rules.Items {
			r := &bundles.Items[i].PolicyDSL.Rules.Items[j]
			boundsInOrder(&r.Then.ArgConstraints)
			boundsInOrder(&r.Else.ArgConstraints)
		}
	}
	inOrder(&q.PolicyLayer.ApprovalGates, func(g *pack.ApprovalGate) (pack.Text, *pack.Node) { return g.GateID, g.Node })
	inOrder(&q.ToolingLayer.AdapterRegistry, func(a *pack.Adapter) (pack.Text, *pack.Node) { return a.AdapterID, a.Node })
	for i := range q.ToolingLayer.AdapterRegistry.Items {
		list := &q.ToolingLayer.AdapterRegistry.Items[i].Capabilities
		inOrder(list, func(t *pack.Text) (pack.Text, *pack.Node) { return *t, t.Node })
	}
	permissions := &q.ToolingLayer.Permissions
	inOrder(permissions, func(p *pack.Permission) (pack.Text, *pack.Node) { return p.PermissionID, p.Node })
	for i := range permissions.Items {
		boundsInOrder(&permissions.Items[i].ArgConstraints)
	}
	inOrder(&q.DecisionLayer.DecisionSpecs, func(d *pack.DecisionSpec) (pack.Text, *pack.Node) { return d.DecisionKey, d.Node })
	return proof.For(policy.New(&q, shared))
}

// inOrder puts a copy of a list's items into the order of their names; what has
// one name stays in the order of what it says.
func inOrder[T any](list *pack.List[T], name func(*T) (pack.Text, *pack.Node)) {
	list.Items = slices.Clone(list.Items)
	slices.SortStableFunc(list.Items, func(a, b T) int {
		x, xNode := name(&a)
		y, yNode := name(&b)
		if c := cmp.Compare(x.Value, y.Value); c != 0 || xNode == nil || yNode == nil {
			return c
		}
		return cmp.Compare(pack.CompactJSON(xNode.Any()), pack.CompactJSON(yNode.Any()))
	})
}

func boundsInOrder(d *pack.Dict[pack.Constraint]) {
	d.Entries = slices.Clone(d.Entries)
	slices.SortStableFunc(d.Entries, func(a, b pack.Entry[pack.Constraint]) int { return cmp.Compare(a.Name, b.Name) })
}

package gate

import (
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Index finds the named things of a pack. Where a name stands twice, the first
// one counts; SCH010 reports the second.
type Index struct {
	Rules     []RuleRef // all policy rules, in document order
	Decisions map[string]*pack.DecisionSpec
	Gates     map[string]*pack.ApprovalGate
	Adapters  map[string]*pack.Adapter
}

// RuleRef is a policy rule with the bundle that holds it.
type RuleRef struct {
	Bundle *pack.Bundle
	*pack.Rule
}

// NewIndex indexes a pack; the index of a nil pack is empty.
func NewIndex(p *pack.Pack) *Index {
	x := &Index{
		Decisions: map[string]*pack.DecisionSpec{},
		Gates:     map[string]*pack.ApprovalGate{},
		Adapters:  map[string]*pack.Adapter{},
	}
	if p == nil {
		return x
	}
	bundles := p.PolicyLayer.PolicyBundles.Items
	for i := range bundles {
		rules := bundles[i].PolicyDSL.Rules.Items
		for j := range rules {
			x.Rules = append(x.Rules, RuleRef{Bundle: &bundles[i], Rule: &rules[j]})
		}
	}
	put(x.Decisions, p.DecisionLayer.DecisionSpecs.Items, func(d *pack.DecisionSpec) pack.Text { return d.DecisionKey })
	put(x.Gates, p.PolicyLayer.ApprovalGates.Items, func(g *pack.ApprovalGate) pack.Text { return g.GateID })
	put(x.Adapters, p.ToolingLayer.AdapterRegistry.Items, func(a *pack.Adapter) pack.Text { return a.AdapterID })
	return x
}

func put[T any](into map[string]*T, items []T, id func(*T) pack.Text) {
	for i := range items {
		name := id(&items[i])
		if _, taken := into[name.Value]; name.OK && !taken {
			into[name.Value] = &items[i]
		}
	}
}

// Names returns the sorted names of a part of the index, for messages.
func Names[T any](m map[string]*T) []string { return slices.Sorted(maps.Keys(m)) }

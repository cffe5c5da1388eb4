package risk

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// capability is one capability that is open: its permissions allow it and none
// forbids it.
type capability struct {
	adapter     *pack.Adapter
	name        string
	permissions []*pack.Permission // at least one
}

// id returns the capability's name in policy: adapter.capability.
func (c *capability) id() string { return c.adapter.AdapterID.Value + "." + c.name }

// rank is the rank of the adapter's mode, which counts for all its capabilities.
func (c *capability) rank() int { return pack.Mode(c.adapter.ApprovalMode).Rank() }

// place is where findings about the capability stand: its first permission.
func (c *capability) place() *pack.Node { return c.permissions[0].Capability.Node }

// risks are the native risks that the adapter states for the capability.
func (c *capability) risks() pack.Risk {
	risk, _ := c.adapter.CapabilityRisks.Get(c.name)
	return risk
}

// openCapabilities returns the capabilities that are open, in registry order.
// Of several permissions for one capability, one that does not allow it wins.
func openCapabilities(p *gate.Pass) []*capability {
	type key struct{ adapter, name string }
	permissions := map[key][]*pack.Permission{}
	for i := range p.Pack.ToolingLayer.Permissions.Items {
		one := &p.Pack.ToolingLayer.Permissions.Items[i]
		if one.AdapterID.OK && one.Capability.OK {
			k := key{one.AdapterID.Value, one.Capability.Value}
			permissions[k] = append(permissions[k], one)
		}
	}
	var open []*capability
	for i := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		a := &p.Pack.ToolingLayer.AdapterRegistry.Items[i]
		for _, name := range pack.Values(a.Capabilities) {
			k := key{a.AdapterID.Value, name}
			list := permissions[k]
			delete(permissions, k) // declared twice, it is one capability
			closed := slices.ContainsFunc(list, func(one *pack.Permission) bool { return !one.Allow.Value })
			if a.AdapterID.OK && len(list) > 0 && !closed {
				open = append(open, &capability{adapter: a, name: name, permissions: list})
			}
		}
	}
	return open
}

// authority is what one decision key may authorise.
type authority struct {
	spec *pack.DecisionSpec // the weakest version
	// rank is the rank up to which it authorises effects: the weakest version
	// counts, and a mode that is missing or unknown authorises nothing.
	rank int
}

// authorities returns the decisions by key.
func authorities(p *gate.Pass) map[string]authority {
	byKey := map[string]authority{}
	for key, d := range p.Decisions {
		spec, rank := p.Weakest(d.DecisionKey, authorityOf)
		byKey[key] = authority{spec, rank}
	}
	return byKey
}

// authorityOf returns the rank up to which a decision of that mode authorises
// effects.
func authorityOf(mode pack.ApprovalMode) int {
	if !mode.Known() {
		return 0
	}
	return mode.Rank()
}

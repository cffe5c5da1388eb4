package risk

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
)

// RSK013: a pack does not talk down what its endpoints do.
var RSK013 = &gate.Rule{
	ID: "RSK013", Name: "mode-below-endpoint", Severity: finding.Error,
	Title: "No capability is below the mode that the catalog states for it at its endpoint",
	Doc: "Everything that is checked about a tool follows from its approval mode, which the pack states. The operator of the " +
		"endpoint knows better: a catalog may state, for each capability of an endpoint, the least mode that it has. A pack " +
		"with a lower mode contradicts what the endpoint does, and gets the tool without the approvals.\n\n" +
		"Raise the adapter's `approval_mode`, or give the capability an adapter of its own. If the catalog is wrong, let its " +
		"owner correct it first: if both change together, the previous catalog counts too. A capability that the endpoint's " +
		"list lacks is not checked, and neither is an endpoint without a list.",
	Bad: `{"endpoints": {"internal://orders": {"capabilities": {"purge": "destructive"}}},
 "adapter_registry": [{"adapter_id": "adp_orders", "endpoint_ref": "internal://orders", "capabilities": ["purge"], "approval_mode": "read_only"}]}`,
	Good: `{"endpoints": {"internal://orders": {"capabilities": {"purge": "destructive"}}},
 "adapter_registry": [{"adapter_id": "adp_orders", "endpoint_ref": "internal://orders", "capabilities": ["purge"], "approval_mode": "destructive"}]}`,
	Since: "0.2.0",
	Check: checkEndpointModes,
}

func checkEndpointModes(p *gate.Pass) {
	for _, e := range p.Environments {
		catalogs := []*repo.Environment{e}
		if p.Before != nil {
			for _, was := range p.Before.Environments {
				if was.Name() == e.Name() {
					catalogs = append(catalogs, was)
				}
			}
		}
		for _, t := range p.Policy().Tools {
			if !p.Replaces(e, t.Adapter.EndpointRef.Node) {
				p.In(e, func() { checkEndpointMode(p, t, catalogs) })
			}
		}
	}
}

// checkEndpointMode holds a tool against the catalog of one environment, and against what
// that was before the change. The first that states a higher mode is reported.
func checkEndpointMode(p *gate.Pass, t *policy.Tool, catalogs []*repo.Environment) {
	ref := t.Adapter.EndpointRef
	if !ref.OK || t.At.Kind != pack.String {
		return
	}
	for _, e := range catalogs {
		endpoint, _ := e.Endpoints.Get(ref.Value)
		least, stated := endpoint.Capabilities.Get(t.Capability)
		switch {
		case stated && pack.Mode(least).Rank() > t.Rank():
			p.Report(gate.Faultf(t.At, fmt.Sprintf("raise the approval_mode of the adapter to %q, or have the catalog corrected before", least.Value),
				"capability %s is %s, and endpoint %s of environment %q has it as at least %s",
				gate.Quote(t.String()), modeName(t.Adapter.ApprovalMode), gate.Quote(ref.Value), e.Name(), least.Value).
				Keyed(e.Name()).See(t.Adapter.ApprovalMode.Node, "the adapter's mode").See(least.Node, "what the catalog states"))
			return
		case !stated && endpoint.Capabilities.OK && !slices.ContainsFunc(catalogs, func(other *repo.Environment) bool { return listsMode(other, ref.Value, t.Capability) }):
			p.NotChecked(fmt.Sprintf("endpoint %s of environment %q states modes, but none for capability %s", gate.Quote(ref.Value), e.Name(), gate.Quote(t.String())))
			return
		}
	}
}

// listsMode reports whether a catalog states a mode of an endpoint's capability.
func listsMode(e *repo.Environment, ref, capability string) bool {
	endpoint, _ := e.Endpoints.Get(ref)
	_, stated := endpoint.Capabilities.Get(capability)
	return stated
}

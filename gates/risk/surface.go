package risk

import (
	"fmt"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// openTools returns the tools that their permissions allow, in registry order. What
// has no name is the schema gate's matter.
func openTools(p *gate.Pass) (open []*policy.Tool) {
	for _, t := range p.Policy().Tools {
		if t.Allowed() && t.Adapter.AdapterID.OK && t.At.Kind == pack.String {
			open = append(open, t)
		}
	}
	return open
}

// destructive reports whether what a tool does cannot be undone.
func destructive(t *policy.Tool) bool { return t.Rank() == pack.Destructive.Rank() }

// place is where findings about an open tool stand: its first permission.
func place(t *policy.Tool) *pack.Node {
	return pack.Place(t.Permissions[0].Capability.Node, t.Permissions[0].Node)
}

// opens says that the first permission of a tool opens it, and at which mode.
func opens(t *policy.Tool) string {
	return fmt.Sprintf("%s opens %s", gate.CalledBriefly("permission", t.Permissions[0].PermissionID), called(t))
}

// called returns a tool's name and mode.
func called(t *policy.Tool) string {
	return fmt.Sprintf("%s (%s)", gate.Quote(t.String()), modeName(t.Adapter.ApprovalMode))
}

// risks are the native risks that the adapter states for the tool.
func risks(t *policy.Tool) pack.Risk {
	risk, _ := t.Adapter.CapabilityRisks.Get(t.Capability)
	return risk
}

package compiles

import (
	"reflect"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// Tool is one tool that a request has, as the tool surface shows it.
type Tool struct {
	Capability string            // adapter.capability
	Mode       pack.ApprovalMode // the effective one (compiler, C4)
	// Gates are the active gates that hold the tool, in declaration order: those that
	// its permissions name or, where it may change something, a rule of the intent; of
	// one that only reads, a rule that is bound to no decision.
	Gates []string
	// Bounds leads from an argument to the bound on it, as in the tool manifest.
	Bounds map[string]any
}

func (t Tool) equal(other Tool) bool { return reflect.DeepEqual(t, other) }

// Tools returns the tools that a compile surfaces, in registry order; none where it
// ended early.
func Tools(r *compiler.Result) []Tool {
	if r.Context == nil {
		return nil
	}
	var tools []Tool
	for i := range r.Trace.Tools {
		t := &r.Trace.Tools[i]
		if !t.Surfaced {
			continue
		}
		tool := Tool{Capability: t.Name(), Gates: holding(r, t)}
		for _, e := range r.Context.Manifests.ToolManifest {
			if e.AdapterID == t.Adapter.AdapterID.Value {
				tool.Mode = pack.ApprovalMode(e.CapabilityMetadata[t.Capability].ApprovalMode)
				tool.Bounds = e.Constraints[t.Capability]
			}
		}
		tools = append(tools, tool)
	}
	return tools
}

// holding returns the active gates that hold a surfaced tool. One that may change
// something is held by every gate that a rule of the intent names (decisions P10 and
// D7).
func holding(r *compiler.Result, t *compiler.ToolTrace) []string {
	writes := pack.Mode(t.Adapter.ApprovalMode).Rank() > 0
	var gates []string
	for _, g := range r.Trace.Gates {
		id := g.Gate.GateID.Value
		named := slices.ContainsFunc(t.Permissions, func(p *pack.Permission) bool {
			return p.RequiresApprovalGate.OK && p.RequiresApprovalGate.Value == id
		})
		if g.Active && (named || raised(r, id, func(string) bool { return writes })) {
			gates = append(gates, id)
		}
	}
	return gates
}

// raised reports whether an enforced rule of the intent names a gate that is
// bound to no decision, or to one of those that are asked for.
func raised(r *compiler.Result, gateID string, of func(decisionKey string) bool) bool {
	return slices.ContainsFunc(r.Trace.Rules, func(t compiler.RuleTrace) bool {
		if !t.Enforced || t.State == compiler.RuleOther {
			return false
		}
		names := slices.ContainsFunc(t.Rule.Outcomes(), func(o *pack.Outcome) bool {
			return o.RequiresApprovalGate.OK && o.RequiresApprovalGate.Value == gateID
		})
		return names && (!t.Rule.DecisionBinding.OK || of(t.Rule.DecisionBinding.Value))
	})
}

// DecisionGates returns the active gates that hold a decision in a compile, in
// declaration order: those that a rule names which is bound to it, or to none.
func DecisionGates(r *compiler.Result, decisionKey string) []string {
	var gates []string
	for _, g := range r.Trace.Gates {
		if g.Active && raised(r, g.Gate.GateID.Value, func(key string) bool { return key == decisionKey }) {
			gates = append(gates, g.Gate.GateID.Value)
		}
	}
	return gates
}

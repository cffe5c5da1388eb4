package references

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF003: a permission is about an adapter that exists.
var REF003 = &gate.Rule{
	ID: "REF003", Name: "unresolved-adapter", Severity: finding.Error,
	Title: "A permission's adapter_id is in the adapter registry",
	Doc: "A permission opens or closes a capability of one registered adapter. If the adapter is not in the registry, the " +
		"permission has no effect: a tool that the decision needs is missing, or a prohibition protects nothing.\n\n" +
		"Write the `adapter_id` of an adapter in `tooling_layer.adapter_registry`, or register the adapter.",
	Bad: `"permissions": [{"adapter_id": "adp_order", "capability": "lookup"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"]}]`,
	Good: `"permissions": [{"adapter_id": "adp_orders", "capability": "lookup"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"]}]`,
	Check: checkAdapters,
}

// REF004: a permission is about a capability that its adapter has.
var REF004 = &gate.Rule{
	ID: "REF004", Name: "unresolved-capability", Severity: finding.Error,
	Title: "A permission's capability is one of its adapter's capabilities",
	Doc: "An agent sees those tools of the registry that a permission allows. A permission for a capability that the adapter " +
		"does not declare matches nothing, so the tool is missing, or a prohibition protects nothing.\n\n" +
		"Write one of the adapter's `capabilities`, or declare the capability there.",
	Bad: `"permissions": [{"adapter_id": "adp_payments", "capability": "refund"}],
"adapter_registry": [{"adapter_id": "adp_payments", "capabilities": ["issue_refund"]}]`,
	Good: `"permissions": [{"adapter_id": "adp_payments", "capability": "issue_refund"}],
"adapter_registry": [{"adapter_id": "adp_payments", "capabilities": ["issue_refund"]}]`,
	Check: checkCapabilities,
}

// REF012: risks are stated for capabilities that exist.
var REF012 = &gate.Rule{
	ID: "REF012", Name: "unresolved-risk", Severity: finding.Error,
	Title: "An adapter's capability_risks names capabilities that it has",
	Doc: "`capability_risks` states what a capability can do: its effect, its reversibility, whose authority it needs. If the " +
		"name is not a capability, the risk is lost, and the intended capability runs without it.\n\n" +
		"Write one of the adapter's `capabilities`. POL005 checks the capabilities that policy names, as in `prohibits`.",
	Bad: `"capabilities": ["issue_refund"],
"capability_risks": {"issue-refunds": {"effect": "external_state"}}`,
	Good: `"capabilities": ["issue_refund"],
"capability_risks": {"issue_refund": {"effect": "external_state"}}`,
	Check: checkRisks,
}

func checkAdapters(p *gate.Pass) {
	tools := &p.Pack.ToolingLayer
	if !tools.AdapterRegistry.OK {
		return
	}
	places := placesOf(tools.AdapterRegistry.Items, func(a *pack.Adapter) pack.Text { return a.AdapterID })
	adapters := newKnown(places, func(name string) string {
		return fmt.Sprintf("register %q in tooling_layer.adapter_registry", name)
	})
	for _, permission := range tools.Permissions.Items {
		id := permission.AdapterID
		if !id.OK || adapters.places[id.Value] != nil {
			continue
		}
		adapters.report(p, id.Value, gate.Diagnostic{
			At:      id.Node,
			Message: fmt.Sprintf("%s is for adapter %q, which is not registered", gate.Called("permission", permission.PermissionID), id.Value),
		})
	}
}

// capabilities returns the capabilities of an adapter as names to choose from.
// All adapters of a check share one budget, for there may be many.
func capabilities(a *pack.Adapter, b *gate.Budget) *known {
	k := newKnown(texts(a.Capabilities), func(name string) string {
		return fmt.Sprintf("add %q to the adapter's capabilities", name)
	})
	k.budget = b
	return k
}

func checkCapabilities(p *gate.Pass) {
	budget := gate.NewBudget()
	byAdapter := make(map[string]*known, len(p.Adapters))
	for id, a := range p.Adapters {
		if a.Capabilities.OK {
			byAdapter[id] = capabilities(a, budget)
		}
	}
	owners := capabilityOwners(p)
	for _, permission := range p.Pack.ToolingLayer.Permissions.Items {
		known, name := byAdapter[permission.AdapterID.Value], permission.Capability
		if !permission.AdapterID.OK || known == nil || !name.OK || known.places[name.Value] != nil {
			continue
		}
		d := gate.Diagnostic{
			At:      name.Node,
			Message: fmt.Sprintf("%s is for capability %q, which adapter %q does not have", gate.Called("permission", permission.PermissionID), name.Value, permission.AdapterID.Value),
			Related: gate.See(p.Adapters[permission.AdapterID.Value].Capabilities.Node, "the capabilities of %q", permission.AdapterID.Value),
		}
		if owner := owners[name.Value]; owner != "" {
			d.Hint = fmt.Sprintf("write \"adapter_id\": %q, which has it, or %s", owner, known.otherwise(name.Value))
		}
		known.report(p, name.Value, d)
	}
}

// capabilityOwners returns for each capability the first adapter that has it.
func capabilityOwners(p *gate.Pass) map[string]string {
	owners := map[string]string{}
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, c := range pack.Values(a.Capabilities) {
			if owners[c] == "" {
				owners[c] = a.AdapterID.Value
			}
		}
	}
	return owners
}

func checkRisks(p *gate.Pass) {
	budget := gate.NewBudget()
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		if !a.Capabilities.OK || len(a.CapabilityRisks.Entries) == 0 {
			continue
		}
		known := capabilities(&a, budget)
		for _, risk := range a.CapabilityRisks.Entries {
			if known.places[risk.Name] != nil {
				continue
			}
			known.report(p, risk.Name, gate.Diagnostic{
				At: risk.Value.Node, Name: true,
				Message: fmt.Sprintf("capability_risks names %q, which is not a capability of %s", risk.Name, gate.Called("adapter", a.AdapterID)),
				Related: gate.See(a.Capabilities.Node, "its capabilities"),
			})
		}
	}
}

// REF002: an outcome raises a gate that exists.
var REF002 = &gate.Rule{
	ID: "REF002", Name: "unresolved-outcome-gate", Severity: finding.Error,
	Title: "The gate that a then or else requires is a gate_id of the pack",
	Doc: "With `requires_approval_gate` in a rule's `then` or `else`, a person has to approve what the rule allows. A gate that " +
		"is not declared has no approver and no lifetime, so nobody can ever approve, or nobody is asked.\n\n" +
		"Write the `gate_id` of one of the `policy_layer.approval_gates`, or declare the gate there.",
	Bad: `"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Good: `"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Check: checkOutcomeGates,
}

// REF006: a permission raises a gate that exists.
var REF006 = &gate.Rule{
	ID: "REF006", Name: "unresolved-permission-gate", Severity: finding.Error,
	Title: "The gate that a permission requires is a gate_id of the pack",
	Doc: "A permission with `requires_approval_gate` opens a capability only with a person's approval. If the gate is not " +
		"declared, the capability looks protected but is not.\n\n" +
		"Write the `gate_id` of one of the `policy_layer.approval_gates`, or declare the gate there.",
	Bad: `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE"}],
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Good: `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE_APPROVAL"}],
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Check: checkPermissionGates,
}

// approvalGates returns the gates of the pack; ok is false where they could not be read.
func approvalGates(p *gate.Pass) (gates *known, ok bool) {
	places := placesOf(p.Pack.PolicyLayer.ApprovalGates.Items, func(g *pack.ApprovalGate) pack.Text { return g.GateID })
	gates = newKnown(places, func(name string) string {
		return fmt.Sprintf("declare %q in policy_layer.approval_gates", name)
	})
	return gates, p.Pack.PolicyLayer.ApprovalGates.OK
}

func checkOutcomeGates(p *gate.Pass) {
	gates, ok := approvalGates(p)
	if !ok {
		return
	}
	for _, r := range p.Rules {
		for _, o := range r.Outcomes() {
			checkGate(p, gates, o.RequiresApprovalGate, gate.Called("rule", r.RuleID))
		}
	}
}

func checkPermissionGates(p *gate.Pass) {
	gates, ok := approvalGates(p)
	if !ok {
		return
	}
	for _, permission := range p.Pack.ToolingLayer.Permissions.Items {
		checkGate(p, gates, permission.RequiresApprovalGate, gate.Called("permission", permission.PermissionID))
	}
}

func checkGate(p *gate.Pass, gates *known, name pack.Text, who string) {
	if !name.OK || gates.places[name.Value] != nil {
		return
	}
	gates.report(p, name.Value, gate.Diagnostic{
		At:      name.Node,
		Message: fmt.Sprintf("%s requires %q, which is not an approval gate of the pack", who, name.Value),
	})
}

package references

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF002: an outcome raises a gate that exists.
var REF002 = &gate.Rule{
	ID: "REF002", Name: "unresolved-outcome-gate", Severity: finding.Error,
	Title: "The gate that a then or else requires is a gate_id of the pack",
	Doc: "`requires_approval_gate` in a rule's `then` or `else` makes a person approve what the rule allows. " +
		"A gate that is not declared has no approver and no lifetime, so nobody can ever approve, or nobody is asked.\n\n" +
		"Write the `gate_id` of one of the `policy_layer.approval_gates`, or declare the gate there.",
	Bad: `"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Good: `"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Since: "0.1.0",
	Check: checkOutcomeGates,
}

// REF006: a permission raises a gate that exists.
var REF006 = &gate.Rule{
	ID: "REF006", Name: "unresolved-permission-gate", Severity: finding.Error,
	Title: "The gate that a permission requires is a gate_id of the pack",
	Doc: "A permission with `requires_approval_gate` opens a capability only behind a person's approval. " +
		"If the gate is not declared, the capability looks gated and is not.\n\n" +
		"Write the `gate_id` of one of the `policy_layer.approval_gates`, or declare the gate there.",
	Bad: `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE"}],
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Good: `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE_APPROVAL"}],
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL"}]`,
	Since: "0.1.0",
	Check: checkPermissionGates,
}

// approvalGates returns the gates of the pack; ok is false where they could not be read.
func approvalGates(p *gate.Pass) (gates *known, ok bool) {
	places := placesOf(p.Gates, func(g *pack.ApprovalGate) pack.Text { return g.GateID })
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
	if !name.OK || p.Gates[name.Value] != nil {
		return
	}
	gates.report(p, name.Value, gate.Diagnostic{
		At:      name.Node,
		Message: fmt.Sprintf("%s requires %q, which is no approval gate of the pack", who, name.Value),
	})
}

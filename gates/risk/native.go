package risk

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// RSK009: the stated risks and the mode agree.
var RSK009 = &gate.Rule{
	ID: "RSK009", Name: "risk-above-mode", Severity: finding.Error,
	Title: "The stated risks of a capability do not exceed its adapter's approval mode",
	Doc: "`capability_risks` say what a capability does, and the adapter's `approval_mode` is the most that any of them can do. " +
		"Where they disagree one of them is wrong, and approvals and ceilings follow the mode. " +
		"What is `irreversible` needs `destructive`; an effect on `external_state` or the `physical_world` at least `network`, on `local_state` at least `local_write`; the authority `user_delegated` at least `delegated`.\n\n" +
		"Raise the adapter's mode, or correct the risk. `-` and blanks are taken for `_`.",
	Bad:   `"approval_mode": "network", "capability_risks": {"issue_refund": {"reversibility": "irreversible"}}`,
	Good:  `"approval_mode": "destructive", "capability_risks": {"issue_refund": {"reversibility": "irreversible"}}`,
	Since: "0.1.0",
	Check: checkNative,
}

// native is a value of one dimension of native risk.
type native struct{ dimension, value string }

// needs says which mode a native risk asks for at least.
var needs = map[native]pack.ApprovalMode{
	{"reversibility", "irreversible"}: pack.Destructive,
	{"effect", "external_state"}:      pack.Network,
	{"effect", "physical_world"}:      pack.Network,
	{"effect", "local_state"}:         pack.LocalWrite,
	{"authority", "user_delegated"}:   pack.Delegated,
}

func checkNative(p *gate.Pass) {
	adapters := p.Pack.ToolingLayer.AdapterRegistry.Items
	for i := range adapters {
		a := &adapters[i]
		for _, risk := range a.CapabilityRisks.Entries {
			if p.Policy().Tool(policy.ToolID{Adapter: a.AdapterID.Value, Capability: risk.Name}) == nil {
				continue // REF012's
			}
			checkRisk(p, a, risk.Name, "reversibility", risk.Value.Reversibility)
			checkRisk(p, a, risk.Name, "effect", risk.Value.Effect)
			checkRisk(p, a, risk.Name, "authority", risk.Value.Authority)
		}
	}
}

func checkRisk(p *gate.Pass, a *pack.Adapter, capability, dimension string, value pack.Text) {
	least, ok := needs[native{dimension, fold(value.Value)}]
	if !ok || least.Rank() <= pack.Mode(a.ApprovalMode).Rank() {
		return
	}
	p.Report(gate.Diagnostic{
		At: value.Node,
		Message: fmt.Sprintf("capability %s has the %s %s, which needs at least %s, but %s is %s",
			gate.Quote(capability), dimension, gate.Quote(value.Value), least, gate.CalledBriefly("adapter", a.AdapterID), a.ApprovalMode.Value),
		Hint:    fmt.Sprintf("raise the adapter's approval_mode to %q, or correct the risk", least),
		Related: gate.See(a.ApprovalMode.Node, "the adapter's mode"),
	})
}

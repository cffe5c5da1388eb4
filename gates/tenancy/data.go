package tenancy

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// TEN007: the data stays where it may be.
var TEN007 = &gate.Rule{
	ID: "TEN007", Name: "data-leaves-boundary", Severity: finding.Warning, Strict: true,
	Title: "RESTRICTED data is redacted before it can leave, and the region is the environment's",
	Doc: "A pack that is `RESTRICTED` and may use a `network` or `delegated` capability can send what it knows out of the tenant's systems. " +
		"Redaction rules are what holds the most sensitive parts back. " +
		"A region that the environment does not list is an error, because data would be kept where it may not be.\n\n" +
		"Name what has to be redacted under `guardrails.redaction_rules`, or close the capability. " +
		"Write a region that every environment's `regions` lists.",
	Bad:   `{"pack_meta": {"data_classification": "RESTRICTED"}, "policy_layer": {"guardrails": {"redaction_rules": []}}}`,
	Good:  `{"pack_meta": {"data_classification": "RESTRICTED"}, "policy_layer": {"guardrails": {"redaction_rules": ["pan"]}}}`,
	Since: "0.1.0",
	Check: checkData,
}

func checkData(p *gate.Pass) {
	checkRedaction(p)
	checkRegion(p)
}

func checkRedaction(p *gate.Pass) {
	class, redaction := p.Pack.PackMeta.DataClassification, p.Pack.PolicyLayer.Guardrails.RedactionRules
	if class.Value != "RESTRICTED" || redaction.Node != nil && !redaction.OK || len(redaction.Items) > 0 {
		return
	}
	way := wayOut(p)
	if way == nil {
		return
	}
	name := way.AdapterID.Value + "." + way.Capability.Value
	mode := p.Adapters[way.AdapterID.Value].ApprovalMode
	var related []finding.Related
	if redaction.Node != nil {
		related = gate.See(class.Node, "the classification")
	}
	p.Report(gate.Diagnostic{
		At:      pack.Place(redaction.Node, class.Node),
		Message: fmt.Sprintf("the pack is RESTRICTED and may use %s (%s), but it redacts nothing", gate.Quote(name), mode.Value),
		Hint:    "name what has to be redacted under policy_layer.guardrails.redaction_rules",
		Related: append(related, gate.Also(way.Node, "the permission")),
	})
}

// wayOut returns the first permission that opens a network or delegated
// capability, or nil. Of several for one capability, one that does not allow it
// wins.
func wayOut(p *gate.Pass) *pack.Permission {
	type capability struct{ adapter, name string }
	permissions := p.Pack.ToolingLayer.Permissions.Items
	closed := map[capability]bool{}
	for _, one := range permissions {
		if !one.Allow.Value {
			closed[capability{one.AdapterID.Value, one.Capability.Value}] = true
		}
	}
	for i := range permissions {
		way := &permissions[i]
		a := p.Adapters[way.AdapterID.Value]
		if a == nil || closed[capability{way.AdapterID.Value, way.Capability.Value}] || !gate.Has(a, way.Capability.Value) {
			continue
		}
		if m := pack.Mode(a.ApprovalMode); m == pack.Network || m == pack.Delegated {
			return way
		}
	}
	return nil
}

func checkRegion(p *gate.Pass) {
	region := p.Pack.PackMeta.EnvironmentDefaults.Region
	if !region.OK {
		return
	}
	section := func(e *repo.Environment) *pack.Node { return e.Regions.Node }
	p.EachCatalog("regions", section, func(e *repo.Environment) {
		regions := pack.Values(e.Regions)
		if slices.Contains(regions, region.Value) {
			return
		}
		p.Report(gate.Diagnostic{
			At:       region.Node,
			Message:  fmt.Sprintf("region %s is not in the catalog of environment %q", gate.Quote(region.Value), e.Name()),
			Hint:     choose(gate.NewBudget(), region.Value, regions, fmt.Sprintf("add %q to regions in %s", region.Value, e.Document.File)),
			Key:      e.Name(),
			Severity: finding.Error,
		})
	})
}

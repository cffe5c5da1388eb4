package tenancy

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
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
	tools := p.Policy().Tools
	way := slices.IndexFunc(tools, func(t *policy.Tool) bool {
		return t.Allowed() && (t.Mode() == pack.Network || t.Mode() == pack.Delegated)
	})
	if way < 0 {
		return
	}
	tool := tools[way]
	var related []finding.Related
	if redaction.Node != nil {
		related = gate.See(class.Node, "the classification")
	}
	p.Report(gate.Diagnostic{
		At:      pack.Place(redaction.Node, class.Node),
		Message: fmt.Sprintf("the pack is RESTRICTED and may use %s (%s), but it redacts nothing", gate.Quote(tool.String()), tool.Mode()),
		Hint:    "name what has to be redacted under policy_layer.guardrails.redaction_rules",
		Related: append(related, gate.Also(tool.Permissions[0].Node, "the permission")),
	})
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

package tenancy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
)

// TEN004: the pack says which state of the graph it reads.
var TEN004 = &gate.Rule{
	ID: "TEN004", Name: "unpinned-snapshot", Severity: finding.Error,
	Title: "The snapshot pin is alias:<name> or snapshot:<id>, and the environment has the alias",
	Doc: "`snapshot_pin_rule` selects the state of the knowledge graph that evidence comes from. Without a pin, such as with " +
		"`latest`, the next request may get another state, so that no decision can be replayed. An alias that the environment " +
		"does not have resolves to nothing there.\n\n" +
		"Write `alias:` and an alias that every environment's `snapshots` lists, or `snapshot:` and the id of one snapshot.",
	Bad:   `"knowledge_graph": {"snapshot_pin_rule": "latest"}`,
	Good:  `"knowledge_graph": {"snapshot_pin_rule": "alias:prod"}`,
	Check: checkPin,
}

var pinRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(alias|snapshot):[A-Za-z0-9_.:-]+$`) })

func checkPin(p *gate.Pass) {
	pin := p.Pack.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule
	if !pin.OK {
		return // the schema gate's
	}
	if !pinRule().MatchString(pin.Value) {
		p.Reportf(pin.Node, "write alias: and an alias of the environment, such as alias:prod, or snapshot: and the id of a snapshot",
			"snapshot_pin_rule is %s, wanted alias:<name> or snapshot:<id>", gate.Quote(pin.Value))
		return
	}
	alias, ok := strings.CutPrefix(pin.Value, "alias:")
	if !ok {
		return
	}
	p.EachCatalog("snapshots", func(e *repo.Environment) *pack.Node { return e.Snapshots.Node }, func(e *repo.Environment) {
		if _, ok := e.Snapshots.Get(alias); ok {
			return
		}
		pins := make([]string, 0, len(e.Snapshots.Entries))
		for _, entry := range e.Snapshots.Entries {
			pins = append(pins, "alias:"+entry.Name)
		}
		p.Report(gate.Faultf(pin.Node, choose(gate.NewBudget(), pin.Value, pins, fmt.Sprintf("add %q to snapshots in %s", alias, e.Document.File)),
			"snapshot alias %s is not in the catalog of environment %q", gate.Quote(alias), e.Name()).Keyed(e.Name()))
	})
}

// TEN005: it is written down how long memory lives and what needs consent.
var TEN005 = &gate.Rule{
	ID: "TEN005", Name: "open-memory-policy", Severity: finding.Error,
	Title: "Each of the four memory tiers has a lifetime, and consent is explicit",
	Doc: "What an agent remembers about a tenant's customers has to expire, and personal data may only be written back if " +
		"somebody decided so. A tier without a lifetime, or consent that is not stated, leaves both to the runtime's defaults. " +
		"Entries are promoted from `working` over `episodic` and `semantic` to `durable`; a later tier with a shorter lifetime " +
		"loses what was promoted to it, which is a warning.\n\n" +
		"Write all four under `tier_ttls`, each no shorter than the previous one, and state `pii_write_back_allowed`. SCH009 " +
		"checks whether a lifetime can be read at all.",
	Bad: `"memory_policy": {"tier_ttls": {"working": "1h", "episodic": "24h"}}`,
	Good: `"memory_policy": {
  "tier_ttls": {"working": "1h", "episodic": "24h", "semantic": "365d", "durable": "1825d"},
  "consent_gating": {"pii_write_back_allowed": false}
}`,
	Check: checkMemory,
}

// tiers are the memory tiers of the contract, in the order of promotion.
var tiers = []string{"working", "episodic", "semantic", "durable"}

func checkMemory(p *gate.Pass) {
	policy := &p.Pack.MemoryLayer.MemoryPolicy
	if !gate.IsObject(policy.Node) {
		return // the schema gate's
	}
	ttls := policy.TierTTLs
	switch {
	case ttls.Node == nil:
		p.Report(gate.Faultf(policy.Node, "add tier_ttls with a lifetime for working, episodic, semantic and durable",
			"memory_policy has no tier_ttls, so no memory tier has a lifetime").Keyed("tier_ttls"))
	case ttls.OK:
		checkTiers(p, ttls)
	}
	checkConsent(p)
}

func checkTiers(p *gate.Pass, ttls pack.Dict[pack.Text]) {
	var last pack.Text // the latest tier whose lifetime can be read
	var name string
	var length time.Duration
	for _, tier := range tiers {
		ttl, ok := ttls.Get(tier)
		if !ok {
			p.Report(gate.Faultf(ttls.Node, fmt.Sprintf("add %q with a lifetime such as 24h or 365d", tier),
				"tier_ttls has no lifetime for the memory tier %q", tier).Keyed(tier))
			continue
		}
		d, err := pack.ParseDuration(ttl.Value)
		if !ttl.OK || err != nil {
			continue // the schema gate's
		}
		if last.Node != nil && d < length {
			p.Report(gate.Faultf(ttl.Node, fmt.Sprintf("give %q at least the lifetime of %q", tier, name),
				"the memory tier %q keeps its entries for %s, shorter than %q, which keeps them for %s", tier, gate.Quote(ttl.Value), name, gate.Quote(last.Value)).
				As(finding.Warning).See(last.Node, "the lifetime of the tier before"))
		}
		last, name, length = ttl, tier, d
	}
}

func checkConsent(p *gate.Pass) {
	policy := &p.Pack.MemoryLayer.MemoryPolicy
	consent := policy.ConsentGating
	const explicit = "say that personal data may not be written back"
	d := gate.Diagnostic{Key: "consent", Hint: "write pii_write_back_allowed explicitly; false is the safe choice"}
	switch {
	case consent.Node == nil:
		d.At, d.Message = policy.Node, "memory_policy has no consent_gating, so it is open whether personal data may be written back"
		d.Fix = gate.Edit(explicit, "add", policy.Node.KeyedPath()+"/consent_gating", `{"pii_write_back_allowed": false}`)
	case gate.IsObject(consent.Node) && consent.PIIWriteBackAllowed.Node == nil:
		d.At, d.Message = consent.Node, "consent_gating does not say whether personal data may be written back"
		d.Fix = gate.Edit(explicit, "add", consent.Node.KeyedPath()+"/pii_write_back_allowed", "false")
	default:
		return
	}
	p.Report(d)
}

// TEN007: the data stays where it may be.
var TEN007 = &gate.Rule{
	ID: "TEN007", Name: "data-leaves-boundary", Severity: finding.Warning, Strict: true,
	Title: "RESTRICTED data is redacted before it can leave, and the region is the environment's",
	Doc: "A pack that is `RESTRICTED` and may use a `network` or `delegated` capability can send what it knows out of the " +
		"tenant's systems. Redaction rules hold back the most sensitive parts. A region that the environment does not list is " +
		"an error, because data would be stored in a place that is not allowed.\n\n" +
		"Name the data to redact under `guardrails.redaction_rules`, or close the capability. Write a region that every " +
		"environment's `regions` lists.",
	Bad:  `{"pack_meta": {"data_classification": "RESTRICTED"}, "policy_layer": {"guardrails": {"redaction_rules": []}}}`,
	Good: `{"pack_meta": {"data_classification": "RESTRICTED"}, "policy_layer": {"guardrails": {"redaction_rules": ["pan"]}}}`,
	Check: func(p *gate.Pass) {
		checkRedaction(p)
		checkRegion(p)
	},
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
	p.EachCatalog("regions", func(e *repo.Environment) *pack.Node { return e.Regions.Node }, func(e *repo.Environment) {
		regions := pack.Values(e.Regions)
		if slices.Contains(regions, region.Value) || p.Replaces(e, region.Node) {
			return
		}
		p.Report(gate.Faultf(region.Node, choose(gate.NewBudget(), region.Value, regions, fmt.Sprintf("add %q to regions in %s", region.Value, e.Document.File)),
			"region %s is not in the catalog of environment %q", gate.Quote(region.Value), e.Name()).Keyed(e.Name()).As(finding.Error))
	})
}

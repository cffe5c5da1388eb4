package tenancy

import (
	"fmt"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// TEN005: it is written down how long memory lives and what needs consent.
var TEN005 = &gate.Rule{
	ID: "TEN005", Name: "open-memory-policy", Severity: finding.Error,
	Title: "Each of the four memory tiers has a lifetime, and consent is explicit",
	Doc: "What an agent remembers of a tenant's customers has to end at some time, and personal data may only be written back if somebody decided so. " +
		"A tier without a lifetime, or consent that is not mentioned, leaves both to the runtime's defaults. " +
		"Entries are promoted from `working` over `episodic` and `semantic` to `durable`; a later tier that ends sooner loses what was promoted to it, which is a warning.\n\n" +
		"Write all four under `tier_ttls`, each no shorter than the one before, and write `pii_write_back_allowed` out. " +
		"Whether a lifetime can be read at all is SCH009's matter.",
	Bad: `"memory_policy": {"tier_ttls": {"working": "1h", "episodic": "24h"}}`,
	Good: `"memory_policy": {
  "tier_ttls": {"working": "1h", "episodic": "24h", "semantic": "365d", "durable": "1825d"},
  "consent_gating": {"pii_write_back_allowed": false}
}`,
	Since: "0.1.0",
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
		p.Report(gate.Diagnostic{
			At: policy.Node, Key: "tier_ttls",
			Message: "memory_policy has no tier_ttls, so no memory tier has a lifetime",
			Hint:    "add tier_ttls with a lifetime for working, episodic, semantic and durable",
		})
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
			p.Report(gate.Diagnostic{
				At: ttls.Node, Key: tier,
				Message: fmt.Sprintf("tier_ttls has no lifetime for the memory tier %q", tier),
				Hint:    fmt.Sprintf("add %q with a lifetime such as 24h or 365d", tier),
			})
			continue
		}
		d, err := pack.ParseDuration(ttl.Value)
		if !ttl.OK || err != nil {
			continue // the schema gate's
		}
		if last.Node != nil && d < length {
			p.Report(gate.Diagnostic{
				At: ttl.Node, Severity: finding.Warning,
				Message: fmt.Sprintf("the memory tier %q keeps its entries for %s, shorter than %q, which keeps them for %s", tier, gate.Quote(ttl.Value), name, gate.Quote(last.Value)),
				Hint:    fmt.Sprintf("give %q at least the lifetime of %q", tier, name),
				Related: gate.See(last.Node, "the lifetime of the tier before"),
			})
		}
		last, name, length = ttl, tier, d
	}
}

func checkConsent(p *gate.Pass) {
	policy := &p.Pack.MemoryLayer.MemoryPolicy
	consent := policy.ConsentGating
	d := gate.Diagnostic{Key: "consent", Hint: "write pii_write_back_allowed out; false is the safe choice"}
	switch {
	case consent.Node == nil:
		d.At, d.Message = policy.Node, "memory_policy has no consent_gating, so it is open whether personal data may be written back"
		d.Fix = explicitConsent(policy.Node.KeyedPath()+"/consent_gating", `{"pii_write_back_allowed": false}`)
	case gate.IsObject(consent.Node) && consent.PIIWriteBackAllowed.Node == nil:
		d.At, d.Message = consent.Node, "consent_gating does not say whether personal data may be written back"
		d.Fix = explicitConsent(consent.Node.KeyedPath()+"/pii_write_back_allowed", "false")
	default:
		return
	}
	p.Report(d)
}

func explicitConsent(path, value string) *finding.Fix {
	return &finding.Fix{
		Description: "say that personal data may not be written back",
		Operations:  []finding.Operation{{Op: "add", Path: path, Value: value}},
	}
}

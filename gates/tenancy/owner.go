package tenancy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// TEN001: a pack has one tenant, and its cases are that tenant's.
var TEN001 = &gate.Rule{
	ID: "TEN001", Name: "tenant-mismatch", Severity: finding.Error,
	Title: "A pack belongs to one tenant, and so do its golden and replay cases",
	Doc: "Every compile is limited to one `tenant_id`: a request of another tenant is refused. An empty id or one with a " +
		"wildcard sets no boundary. A golden or replay case of another tenant tests what cannot happen, and probably contains " +
		"that tenant's data.\n\n" +
		"Write the id of one tenant, and the same one in the cases: in `invoke` and `run_context`, and wherever an identity in " +
		"them or in a replayed record has a `tenant_id`. The content of `input` in a request is not checked. List a pack that " +
		"several tenants use under `shared_packs` in the config; then each of its cases may be of any one tenant, and is " +
		"compiled for it.",
	Bad:   `"tenant": {"tenant_id": "tenant_*"}`,
	Good:  `"tenant": {"tenant_id": "tenant_acme_prod"}`,
	Check: checkTenant,
}

// TEN002: the issuer may speak for the tenant.
var TEN002 = &gate.Rule{
	ID: "TEN002", Name: "foreign-issuer", Severity: finding.Warning,
	Title: "The issuer is the tenant itself, or an authority that the environment lists",
	Doc: "The issuer is responsible for the pack and has decided what the tenant's agents may do. So it is the tenant, or " +
		"somebody whom the environment trusts to do so.\n\n" +
		"Correct `issuer`, or list the authority under `issuers` in the environment's catalog. If a catalog lists issuers, an " +
		"issuer that is missing there is an error; without such a list it is a warning.",
	Bad:   `{"contract_meta": {"issuer": "tenant_globex_prod"}, "pack_meta": {"tenant": {"tenant_id": "tenant_acme_prod"}}}`,
	Good:  `{"contract_meta": {"issuer": "tenant_acme_prod"}, "pack_meta": {"tenant": {"tenant_id": "tenant_acme_prod"}}}`,
	Check: checkIssuer,
}

func checkTenant(p *gate.Pass) {
	tenant := p.Pack.PackMeta.Tenant.TenantID
	switch {
	case !tenant.OK:
		return // the schema gate's
	case strings.TrimSpace(tenant.Value) == "":
		p.Reportf(tenant.Node, "write the id of the tenant", "tenant_id is empty, so the pack belongs to nobody")
		return
	case isWildcard(tenant.Value):
		p.Reportf(tenant.Node, "write the id of one tenant; a pack that several use is listed under shared_packs in .packgate.yaml",
			"tenant_id is %s, which stands for more than one tenant", gate.Quote(tenant.Value))
		return
	}
	if !hasEvidence(p) && !p.Pack.Shared {
		p.NotChecked("there is no golden or replay case whose tenant could be compared")
	}
	for _, c := range p.Unit.Cases {
		checkTenants(p, tenant, c.SideFile, c.Invoke, c.RunContext)
		checkOneTenant(p, c)
	}
	for _, f := range replayFiles(p) {
		checkTenants(p, tenant, f, f.Document.Root)
	}
}

// checkTenants reports every tenant_id of a case that is not the pack's.
func checkTenants(p *gate.Pass, tenant pack.Text, f *repo.SideFile, parts ...*pack.Node) {
	for _, id := range tenantsIn(parts...) {
		if p.Pack.Admits(id.Text) {
			continue
		}
		p.Report(gate.Faultf(id, fmt.Sprintf("write %q, or list the pack under shared_packs in .packgate.yaml", tenant.Value),
			"tenant_id is %s, but the pack belongs to %s", gate.Quote(id.Text), gate.Quote(tenant.Value)).
			Keyed(f.Name).See(tenant.Node, "the tenant of the pack"))
	}
}

// checkOneTenant reports a case of a shared pack whose invocation and run context are of
// different tenants. Of any other pack one of them is not the pack's.
func checkOneTenant(p *gate.Pass, c *repo.Case) {
	invoke, run := c.Invoke.Get("tenant_id"), c.RunContext.Get("tenant_id")
	if p.Pack.Shared && invoke != nil && run != nil && invoke.Text != run.Text {
		p.Report(gate.Faultf(run, fmt.Sprintf("write %q, or correct the invocation", invoke.Text),
			"tenant_id of the run context is %s, but the invocation is of %s", gate.Quote(run.Text), gate.Quote(invoke.Text)).
			Keyed(c.Name).See(invoke, "the tenant of the invocation"))
	}
}

// hasEvidence reports whether a golden or replay file could be read.
func hasEvidence(p *gate.Pass) bool { return len(p.Unit.Cases) > 0 || len(replayFiles(p)) > 0 }

// replayFiles returns the replay packets and decision records that could be read.
func replayFiles(p *gate.Pass) []*repo.SideFile {
	var files []*repo.SideFile
	for _, f := range p.Unit.Files {
		if (f.Kind == "replay-packet" || f.Kind == "decision-record") && f.Document.Root != nil {
			files = append(files, f)
		}
	}
	return files
}

// payloads are the members whose content is the request's or the result's own
// and says nothing about whose case it is.
var payloads = []string{"input", "inputs_refs", "outputs", "rationale"}

// tenantsIn returns the texts of every member tenant_id, in document order.
func tenantsIn(parts ...*pack.Node) (ids []*pack.Node) {
	for _, n := range parts {
		if n == nil {
			continue
		}
		for _, m := range n.Members {
			switch {
			case m.Name == "tenant_id" && m.Value.Kind == pack.String:
				ids = append(ids, m.Value)
			case !slices.Contains(payloads, m.Name):
				ids = append(ids, tenantsIn(m.Value)...)
			}
		}
		ids = append(ids, tenantsIn(n.Items...)...)
	}
	return ids
}

func checkIssuer(p *gate.Pass) {
	issuer, tenant := p.Pack.ContractMeta.Issuer, p.Pack.PackMeta.Tenant.TenantID
	if !issuer.OK || strings.TrimSpace(issuer.Value) == "" || tenant.OK && issuer.Value == tenant.Value {
		return // an empty issuer is SCH012's
	}
	listing := p.EachCatalog("issuers", func(e *repo.Environment) *pack.Node { return e.Issuers.Node }, func(e *repo.Environment) {
		issuers := pack.Values(e.Issuers)
		if slices.Contains(issuers, issuer.Value) {
			return
		}
		p.Report(gate.Faultf(issuer.Node, choose(gate.NewBudget(), issuer.Value, append(issuers, tenant.Value), fmt.Sprintf("add %q to issuers in %s", issuer.Value, e.Document.File)),
			"issuer %s is neither the tenant nor one of the issuers of environment %q", gate.Quote(issuer.Value), e.Name()).
			Keyed(e.Name()).As(finding.Error).See(tenant.Node, "the tenant of the pack"))
	})
	if listing == 0 && tenant.OK {
		p.Report(gate.Faultf(issuer.Node, fmt.Sprintf("write %q, or list the issuer under issuers in the environment's catalog", tenant.Value),
			"issuer %s is not the tenant %s", gate.Quote(issuer.Value), gate.Quote(tenant.Value)).See(tenant.Node, "the tenant of the pack"))
	}
}

package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// TEN003: an adapter calls an endpoint of the registry that serves the tenant.
var TEN003 = &gate.Rule{
	ID: "TEN003", Name: "foreign-endpoint", Severity: finding.Error,
	Title: "An endpoint_ref is a registry reference that the environment has for this tenant",
	Doc: "`endpoint_ref` refers to an entry of the environment's endpoint registry, which knows the address, the credentials and " +
		"the tenants that may use them. A plain address bypasses the registry, a reference that the environment does not have " +
		"fails at the first call, and an endpoint of another tenant gives that tenant's data to this one's agents.\n\n" +
		"Write a reference such as `internal://orders`. List other schemes under `endpoint_schemes` in the config. The " +
		"`endpoints` of every environment are looked up, unless each of its overlays replaces the reference; an endpoint that " +
		"lists no `tenants` serves all. If a catalog has the endpoint, but none has it for this tenant, it is an error in every " +
		"environment.",
	Bad:   `"endpoint_ref": "https://orders.example.com/v1"`,
	Good:  `"endpoint_ref": "internal://orders"`,
	Check: checkEndpoints,
}

// registryScheme is the scheme of the contract's own endpoint registry.
const registryScheme = "internal"

func checkEndpoints(p *gate.Pass) {
	schemes := endpointSchemes(p.Config)
	ids := newTenants(p)
	var refs []*pack.Adapter
	for i := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		a := &p.Pack.ToolingLayer.AdapterRegistry.Items[i]
		if a.EndpointRef.OK && checkEndpointForm(p, a, schemes) && checkEndpointOwner(p, a, ids) {
			refs = append(refs, a)
		}
	}
	if len(refs) == 0 {
		return
	}
	names, reported := gate.NewBudget(), map[*pack.Adapter]bool{}
	p.EachCatalog("endpoints", func(e *repo.Environment) *pack.Node { return e.Endpoints.Node }, func(e *repo.Environment) {
		for _, a := range refs {
			if !p.Replaces(e, a.EndpointRef.Node) {
				reported[a] = checkEndpoint(p, a, e, names) || reported[a]
			}
		}
	})
	for _, a := range refs {
		if !reported[a] {
			checkServed(p, a)
		}
	}
}

// checkServed reports an endpoint that some catalog has and that none has for the tenant,
// whichever environments the pack is held against.
func checkServed(p *gate.Pass, a *pack.Adapter) {
	ref, tenant := a.EndpointRef, p.Pack.PackMeta.Tenant.TenantID
	var foreign *pack.Node
	for _, e := range p.Catalogs {
		switch endpoint, listed := e.Endpoints.Get(ref.Value); {
		case !listed:
		case serves(endpoint, tenant):
			return
		default:
			foreign = endpoint.Tenants.Node
		}
	}
	if foreign != nil {
		p.Report(gate.Faultf(ref.Node, "write an endpoint of the tenant's",
			"endpoint %s of %s serves tenant %s in no environment", shown(ref.Value), gate.CalledBriefly("adapter", a.AdapterID), gate.Quote(tenant.Value)).
			Keyed("served").See(foreign, "the tenants that it serves"))
	}
}

// servedAnywhere reports whether the catalog of any environment has an endpoint for the tenant.
func servedAnywhere(p *gate.Pass, a *pack.Adapter) bool {
	return slices.ContainsFunc(p.Catalogs, func(e *repo.Environment) bool {
		endpoint, listed := e.Endpoints.Get(a.EndpointRef.Value)
		return listed && serves(endpoint, p.Pack.PackMeta.Tenant.TenantID)
	})
}

// serves reports whether an endpoint is one of the tenant's too; one that lists no tenants is.
func serves(endpoint repo.Endpoint, tenant pack.Text) bool {
	return !endpoint.Tenants.OK || !tenant.OK || slices.Contains(pack.Values(endpoint.Tenants), tenant.Value)
}

// endpointSchemes returns the schemes of registry references, sorted. The
// config may write them with or without the colon and the slashes.
func endpointSchemes(c *repo.Config) []string {
	schemes := []string{registryScheme}
	for _, s := range pack.Values(c.EndpointScheme) {
		if s = strings.TrimRight(s, ":/"); s != "" {
			schemes = append(schemes, s)
		}
	}
	slices.Sort(schemes)
	return slices.Compact(schemes)
}

// checkEndpointForm reports a reference that is none. It shows the scheme alone,
// for the rest of an address may hold a password.
func checkEndpointForm(p *gate.Pass, a *pack.Adapter, schemes []string) bool {
	ref := a.EndpointRef
	scheme, name, cut := strings.Cut(ref.Value, "://")
	d := gate.Diagnostic{At: ref.Node, Hint: "write a reference into the endpoint registry, such as internal://orders"}
	what := "endpoint_ref of " + gate.CalledBriefly("adapter", a.AdapterID)
	switch {
	case !cut || !isSchemeName(scheme):
		d.Message = what + " has no scheme, wanted " + choices(schemes)
	case !slices.Contains(schemes, scheme):
		d.Message = fmt.Sprintf("%s has the scheme %q, wanted %s", what, scheme, choices(schemes))
		d.Hint += fmt.Sprintf(", or list %q under endpoint_schemes in .packgate.yaml", scheme)
	case name == "" || strings.ContainsFunc(name, unicode.IsSpace):
		d.Message = what + " names no endpoint after its scheme"
	case strings.Contains(name, "*"):
		d.Message = what + " stands for more than one endpoint"
	case strings.ContainsAny(name, "@?#"):
		d.Message = what + " has more than a name after its scheme: a user, a query or a fragment"
	default:
		return true
	}
	p.Report(d)
	return false
}

func choices(schemes []string) string {
	if len(schemes) == 1 {
		return gate.Quote(schemes[0])
	}
	return "one of " + gate.ListBriefly(schemes)
}

func isSchemeName(s string) bool {
	return s != "" && len(s) <= longestName && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-.", r)
	})
}

// checkEndpointOwner reports a reference that names another tenant.
func checkEndpointOwner(p *gate.Pass, a *pack.Adapter, ids *tenants) bool {
	if ids == nil {
		return true
	}
	foreign := ids.foreign(a.EndpointRef.Value)
	if len(foreign) == 0 {
		return true
	}
	p.Report(gate.Faultf(a.EndpointRef.Node, "write the endpoint of the pack's own tenant",
		"endpoint_ref of %s names tenant %s, but the pack belongs to %s", gate.CalledBriefly("adapter", a.AdapterID), gate.Quote(foreign[0]), gate.Quote(ids.own.Value)).
		Keyed("owner").See(ids.own.Node, "the tenant of the pack"))
	return false
}

// checkEndpoint looks a reference up in one environment. It reports whether the endpoint is
// another tenant's.
func checkEndpoint(p *gate.Pass, a *pack.Adapter, e *repo.Environment, b *gate.Budget) (foreign bool) {
	ref, tenant := a.EndpointRef, p.Pack.PackMeta.Tenant.TenantID
	endpoint, ok := e.Endpoints.Get(ref.Value)
	if !ok {
		names := make([]string, 0, len(e.Endpoints.Entries))
		for _, entry := range e.Endpoints.Entries {
			names = append(names, entry.Name)
		}
		p.Report(gate.Faultf(ref.Node, choose(b, ref.Value, names, "add it to endpoints in "+e.Document.File),
			"endpoint %s of %s is not in the catalog of environment %q", shown(ref.Value), gate.CalledBriefly("adapter", a.AdapterID), e.Name()).
			Keyed(e.Name()))
		return false
	}
	if serves(endpoint, tenant) {
		return false
	}
	d := gate.Faultf(ref.Node, fmt.Sprintf("write an endpoint of the tenant's, or add %q to its tenants in %s", tenant.Value, e.Document.File),
		"endpoint %s of %s does not serve tenant %s in environment %q", shown(ref.Value), gate.CalledBriefly("adapter", a.AdapterID), gate.Quote(tenant.Value), e.Name())
	d.Own = !servedAnywhere(p, a) // another tenant's endpoint is no matter of where the pack runs
	p.Report(d.Keyed(e.Name()).See(endpoint.Tenants.Node, "the tenants that it serves"))
	return true
}

// longestName is how long a part of a reference may be before it looks like a
// token rather than like a name.
const longestName = 24

// shown quotes a reference for a message. One that may hold a credential is cut
// after four characters.
func shown(ref string) string {
	part := 0
	for _, r := range ref {
		if part++; strings.ContainsRune("/._-:", r) {
			part = 0
		}
		if part > longestName || strings.ContainsRune("@?&=#%", r) {
			start := []rune(ref)
			return fmt.Sprintf("%q", string(start[:min(4, len(start))])+"…")
		}
	}
	return gate.Quote(ref)
}

package refresh

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Named returns the sections of a catalog that lists what packs name, with every list sorted:
// a draft, against which the packs themselves have no fault, so that it proves nothing of them.
// Snapshots and the version of the runtime are not in it, since packs name only aliases and
// ranges. An endpoint is listed only under the contract's own scheme or one of others, for
// addresses may hold a password.
func Named(packs []*pack.Pack, others []string) map[string]any {
	lists, highest := map[string][]string{}, pack.ReadOnly
	endpoints, ontologies := map[string][]string{}, map[string]map[string]map[string][]string{}
	for _, p := range packs {
		u := usesOf(p)
		for section, used := range map[string][]string{
			"issuers": {u.issuer}, "intents": u.intents, "approver_roles": u.roles, "regions": {u.region}, "schemas": onlySchemas(u.schemas),
		} {
			lists[section] = append(lists[section], used...)
		}
		for _, ref := range u.endpoints {
			scheme, _, ok := strings.Cut(ref, "://")
			if ok && (scheme == registryScheme || slices.ContainsFunc(others, func(s string) bool { return strings.TrimRight(s, ":/") == scheme })) {
				endpoints[ref] = append(endpoints[ref], p.PackMeta.Tenant.TenantID.Value)
			}
		}
		nameTypes(ontologies, p)
		highest = higher(highest, p)
	}
	out := map[string]any{}
	for section, list := range lists {
		if list = names(list); len(list) > 0 {
			out[section] = list
		}
	}
	if len(ontologies) > 0 {
		out["ontologies"] = ontologies
	}
	if len(endpoints) > 0 {
		out["endpoints"] = served(endpoints)
	}
	if len(packs) > 0 {
		out["max_approval_mode"] = string(highest)
	}
	return out
}

// onlySchemas returns the refs that can be looked up.
func onlySchemas(refs []string) []string {
	return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool { return !strings.HasPrefix(ref, "schema://") })
}

// served returns endpoints with the tenants whose packs name them.
func served(endpoints map[string][]string) map[string]any {
	out := map[string]any{}
	for ref, tenants := range endpoints {
		one := map[string]any{}
		if tenants = names(tenants); len(tenants) > 0 {
			one["tenants"] = tenants
		}
		out[ref] = one
	}
	return out
}

// nameTypes adds the version of the ontology that a pack names, with the types that it uses.
func nameTypes(ontologies map[string]map[string]map[string][]string, p *pack.Pack) {
	o := &p.IntelligenceRefs.Ontology
	if o.Namespace.Value == "" || o.Version.Value == "" {
		return
	}
	versions := ontologies[o.Namespace.Value]
	if versions == nil {
		versions = map[string]map[string][]string{}
		ontologies[o.Namespace.Value] = versions
	}
	types := versions[o.Version.Value]
	if types == nil {
		types = map[string][]string{"entity_types": {}, "relationship_types": {}}
		versions[o.Version.Value] = types
	}
	types["entity_types"] = names(append(types["entity_types"], pack.Values(o.EntityTypes)...))
	types["relationship_types"] = names(append(types["relationship_types"], pack.Values(o.RelationshipTypes)...))
}

// higher returns the highest mode of a pack's adapters and decisions, or one that is higher.
func higher(mode pack.ApprovalMode, p *pack.Pack) pack.ApprovalMode {
	var stated []pack.Text
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		stated = append(stated, a.ApprovalMode)
	}
	for _, d := range p.DecisionLayer.DecisionSpecs.Items {
		stated = append(stated, d.ApprovalMode)
	}
	for _, s := range stated {
		switch m := pack.Mode(s); {
		case !s.OK || m.Rank() <= mode.Rank():
		case m.Known():
			mode = m
		default: // as which it counts
			mode = pack.Destructive
		}
	}
	return mode
}

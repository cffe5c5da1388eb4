package refresh

import (
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Unbound are the members of an environment's catalog that bind no pack: what an editor
// reads, who may be pinned there, and that nobody has confirmed the others, which an
// environment then lacks. All others are in what Bound returns.
var Unbound = []string{"$schema", "complete", "pins", "promote", "unconfirmed"}

// Bound returns the parts of an environment's catalog that bind a pack: of each section
// that the catalog has, what the pack refers to. A section that the catalog lacks is left
// out, and one that has nothing of the pack is empty, for the first is not checked and the
// second refuses. Neither the order of the catalog nor what it says twice shows.
//
// An endpoint that an adapter of the pack names is taken as a whole, with its tenants and
// capabilities, since who shares it and what else it serves are about the pack too. Of an
// ontology it is the version that the pack names, and its types that the pack uses.
func Bound(p *pack.Pack, e *repo.Environment) map[string]any {
	u, out := usesOf(p), map[string]any{"environment": e.Name()}
	scalar := func(used bool, name string, text pack.Text) {
		if used && text.OK {
			out[name] = text.Value
		}
	}
	scalar(u.runtime, "runtime", e.Runtime)
	scalar(u.effects, "max_approval_mode", e.MaxApprovalMode)
	list := func(name string, listed pack.List[pack.Text], used ...string) {
		if listed.Node != nil {
			out[name] = common(listed, used)
		}
	}
	list("issuers", e.Issuers, u.issuer)
	list("intents", e.Intents, u.intents...)
	list("approver_roles", e.ApproverRoles, u.roles...)
	list("schemas", e.Schemas, u.schemas...)
	list("regions", e.Regions, u.region)
	if e.Snapshots.Node != nil {
		out["snapshots"] = chosen(e.Snapshots, func(text pack.Text) any { return text.Value }, u.alias)
	}
	if e.Endpoints.Node != nil {
		out["endpoints"] = chosen(e.Endpoints, boundEndpoint, u.endpoints...)
	}
	if e.Ontologies.Node != nil {
		o := &p.IntelligenceRefs.Ontology
		types := func(v repo.OntologyVersion) any {
			return boundTypes(v, pack.Values(o.EntityTypes), pack.Values(o.RelationshipTypes))
		}
		out["ontologies"] = chosen(e.Ontologies, func(versions pack.Dict[repo.OntologyVersion]) any {
			return chosen(versions, types, o.Version.Value)
		}, u.namespace)
	}
	return out
}

// common returns the names of a list that a pack uses, sorted, each once.
func common(listed pack.List[pack.Text], used []string) []any {
	return anyOf(slices.DeleteFunc(names(pack.Values(listed)), func(name string) bool { return !slices.Contains(used, name) }))
}

func anyOf(list []string) []any {
	out := make([]any, len(list))
	for i, text := range list {
		out[i] = text
	}
	return out
}

// chosen returns the entries of a section that a pack uses.
func chosen[T any](d pack.Dict[T], value func(T) any, used ...string) map[string]any {
	out := map[string]any{}
	for _, e := range d.Entries {
		if e.Name != "" && slices.Contains(used, e.Name) {
			out[e.Name] = value(e.Value)
		}
	}
	return out
}

func boundEndpoint(e repo.Endpoint) any {
	out := map[string]any{}
	if e.Tenants.Node != nil {
		out["tenants"] = anyOf(names(pack.Values(e.Tenants)))
	}
	if e.Capabilities.Node != nil {
		modes := map[string]any{}
		for _, c := range e.Capabilities.Entries {
			modes[c.Name] = c.Value.Value
		}
		out["capabilities"] = modes
	}
	return out
}

func boundTypes(v repo.OntologyVersion, entities, relationships []string) any {
	out := map[string]any{}
	for name, section := range map[string]struct {
		listed pack.List[pack.Text]
		used   []string
	}{"entity_types": {v.EntityTypes, entities}, "relationship_types": {v.RelationshipTypes, relationships}} {
		if section.listed.Node != nil {
			out[name] = common(section.listed, section.used)
		}
	}
	return out
}

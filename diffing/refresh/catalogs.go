package refresh

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// value is what one side says of a thing.
type value struct {
	listed bool   // its section is there, so that the thing is checked at all
	says   string // equal where the same is said; "" where the section lacks it
	at     *pack.Node
}

// same ignores where it is said.
func (v value) same(w value) bool { return v.listed == w.listed && v.says == w.says }

// thing is one thing of a catalog that a pack uses.
type thing struct {
	kind    Kind
	what    string // in words: endpoint "internal://orders"
	section string // the member of the catalog that it stands in
	in      func(*repo.Environment) value
}

// environments is an environment on both sides; nil where a side lacks it.
type environments struct {
	name       string
	base, head *repo.Environment
}

// pairs returns the environments of both sides by their names, those of the base
// first; of several with one name the first by file belongs to the first.
func pairs(base, head []*repo.Environment) []environments {
	type key struct {
		name string
		nth  int
	}
	var list []environments
	index := map[key]int{}
	add := func(side []*repo.Environment, put func(*environments, *repo.Environment)) {
		count := map[string]int{}
		byFile := func(a, b *repo.Environment) int { return cmp.Compare(a.Document.File, b.Document.File) }
		for _, e := range slices.SortedStableFunc(slices.Values(side), byFile) {
			k := key{e.Name(), count[e.Name()]}
			count[e.Name()]++
			i, there := index[k]
			if !there {
				i, list = len(list), append(list, environments{name: k.name})
				index[k] = i
			}
			put(&list[i], e)
		}
	}
	add(base, func(pair *environments, e *repo.Environment) { pair.base = e })
	add(head, func(pair *environments, e *repo.Environment) { pair.head = e })
	return list
}

// catalogs returns the triggers of the environment catalogs.
func (s *step) catalogs(u uses) (triggers []Trigger) {
	things := u.things()
	for _, pair := range s.environments {
		if pair.base == nil || pair.head == nil {
			triggers = append(triggers, pair.whole(things)...)
			continue
		}
		for _, t := range things {
			if before, after := t.in(pair.base), t.in(pair.head); !before.same(after) {
				triggers = append(triggers, pair.trigger(t, before, after))
			}
		}
	}
	return triggers
}

// whole returns the triggers of a catalog that came or went: one of each kind of
// which it says something.
func (pair environments) whole(things []thing) (triggers []Trigger) {
	e, what := pair.head, "added"
	if e == nil {
		e, what = pair.base, "removed"
	}
	for _, kind := range Kinds() {
		if slices.ContainsFunc(things, func(t thing) bool { return t.kind == kind && t.in(e).listed }) {
			triggers = append(triggers, Trigger{
				Kind: kind, What: fmt.Sprintf("the catalog of environment %s was %s", gate.Quote(pair.name), what), File: e.Document.File,
			})
		}
	}
	return triggers
}

func (pair environments) trigger(t thing, before, after value) Trigger {
	catalog := fmt.Sprintf("the catalog of environment %s", gate.Quote(pair.name))
	trigger := Trigger{Kind: t.kind, File: pair.head.Document.File, Path: pack.Place(after.at, before.at).KeyedPath()}
	if before.listed != after.listed { // one thing to say, however much the pack uses of it
		trigger.Path = "/" + t.section
	}
	switch {
	case before.listed != after.listed && after.listed:
		trigger.What = fmt.Sprintf("section %q was added to %s", t.section, catalog)
	case before.listed != after.listed:
		trigger.What = fmt.Sprintf("section %q was removed from %s", t.section, catalog)
	case before.says == "":
		trigger.What = fmt.Sprintf("%s was added to %s", t.what, catalog)
	case after.says == "":
		trigger.What = fmt.Sprintf("%s was removed from %s", t.what, catalog)
	default:
		trigger.What = fmt.Sprintf("%s was changed in %s", t.what, catalog)
	}
	return trigger
}

// things returns what a pack uses of any catalog.
func (u uses) things() (things []thing) {
	each := func(names []string, kind Kind, called, section string, in func(*repo.Environment, string) value) {
		for _, name := range names {
			if name == "" {
				continue
			}
			things = append(things, thing{kind, called + " " + gate.Quote(name), section,
				func(e *repo.Environment) value { return in(e, name) }})
		}
	}
	one := func(used bool, kind Kind, name string, of func(*repo.Environment) pack.Text) {
		if used {
			things = append(things, thing{kind, name, name, func(e *repo.Environment) value { return scalar(of(e).Node) }})
		}
	}
	each(u.roles, PolicyBundle, "approver role", "approver_roles", func(e *repo.Environment, n string) value { return member(e.ApproverRoles, n) })
	each([]string{u.issuer}, PolicyBundle, "issuer", "issuers", func(e *repo.Environment, n string) value { return member(e.Issuers, n) })
	one(u.effects, PolicyBundle, "max_approval_mode", func(e *repo.Environment) pack.Text { return e.MaxApprovalMode })
	each([]string{u.namespace}, Ontology, "ontology", "ontologies", ontology)
	each([]string{u.alias}, Ontology, "snapshot alias", "snapshots", func(e *repo.Environment, n string) value { return entry(e.Snapshots.Node, n) })
	each(u.endpoints, AdapterSchema, "endpoint", "endpoints", endpoint)
	each(u.intents, DecisionCatalog, "intent", "intents", func(e *repo.Environment, n string) value { return member(e.Intents, n) })
	each(u.schemas, DecisionCatalog, "schema", "schemas", func(e *repo.Environment, n string) value { return member(e.Schemas, n) })
	each([]string{u.region}, MemoryPolicy, "region", "regions", func(e *repo.Environment, n string) value { return member(e.Regions, n) })
	one(u.runtime, ModelConfig, "runtime", func(e *repo.Environment) pack.Text { return e.Runtime })
	return things
}

// scalar returns what a setting says that is a section by itself.
func scalar(n *pack.Node) value {
	if n == nil {
		return value{}
	}
	return value{listed: true, says: pack.CompactJSON(n.Any()), at: n}
}

// member returns what a list of names says of one.
func member(list pack.List[pack.Text], name string) value {
	v := value{listed: list.Node != nil, at: list.Node}
	for _, item := range list.Items {
		if item.OK && item.Value == name {
			v.says, v.at = "listed", item.Node
		}
	}
	return v
}

// entry returns what an object of names says of one.
func entry(section *pack.Node, name string) value {
	v := value{listed: section != nil, at: section}
	if n := section.Get(name); n != nil {
		v.says, v.at = pack.CompactJSON(n.Any()), n
	}
	return v
}

// endpoint returns what a catalog says of an endpoint; the order of its tenants
// says nothing.
func endpoint(e *repo.Environment, ref string) value {
	v := entry(e.Endpoints.Node, ref)
	if one, ok := e.Endpoints.Get(ref); ok && one.Tenants.OK {
		v.says = sorted(one.Tenants)
	}
	return v
}

// ontology returns what a catalog says of the versions of an ontology; neither
// their order nor that of their types says anything.
func ontology(e *repo.Environment, namespace string) value {
	v := entry(e.Ontologies.Node, namespace)
	if versions, ok := e.Ontologies.Get(namespace); ok {
		form := make(map[string][2]string, len(versions.Entries))
		for _, one := range versions.Entries {
			form[one.Name] = [2]string{sorted(one.Value.EntityTypes), sorted(one.Value.RelationshipTypes)}
		}
		v.says = pack.CompactJSON(form)
	}
	return v
}

// sorted returns the names of a list in a form in which order and repetition do
// not show, and an empty list is not an absent one.
func sorted(list pack.List[pack.Text]) string {
	if list.Node == nil {
		return "absent"
	}
	return pack.CompactJSON(names(pack.Values(list)))
}

package refresh

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	section string // the member of the catalog that it is in
	in      func(*repo.Environment) value
}

// environments is an environment in base and head; nil where a side lacks it.
type environments struct {
	name string
	both [2]*repo.Environment
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
	byFile := func(a, b *repo.Environment) int { return cmp.Compare(a.Document.File, b.Document.File) }
	for side, all := range [][]*repo.Environment{base, head} {
		count := map[string]int{}
		for _, e := range slices.SortedStableFunc(slices.Values(all), byFile) {
			k := key{e.Name(), count[e.Name()]}
			count[e.Name()]++
			i, there := index[k]
			if !there {
				i, list = len(list), append(list, environments{name: k.name})
				index[k] = i
			}
			list[i].both[side] = e
		}
	}
	return list
}

// catalogs returns the triggers of the environment catalogs.
func (s *step) catalogs(u uses) (triggers []Trigger) {
	things := u.things()
	for _, pair := range s.environments {
		if pair.both[0] == nil || pair.both[1] == nil {
			triggers = append(triggers, pair.whole(things)...)
			continue
		}
		for _, t := range things {
			if before, after := t.in(pair.both[0]), t.in(pair.both[1]); !before.same(after) {
				triggers = append(triggers, pair.trigger(t, before, after))
			}
		}
	}
	return triggers
}

// whole returns the triggers of a catalog that came or went: one of each kind of
// which it says something.
func (pair environments) whole(things []thing) (triggers []Trigger) {
	e, what := pair.both[1], "added"
	if e == nil {
		e, what = pair.both[0], "removed"
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
	what, path := t.what, pack.Place(after.at, before.at).KeyedPath()
	had, has := before.says != "", after.says != ""
	if before.listed != after.listed { // one thing to say, however much the pack uses of it
		what, path = fmt.Sprintf("section %q", t.section), "/"+t.section
		had, has = before.listed, after.listed
	}
	return Trigger{
		Kind: t.kind, File: pair.both[1].Document.File, Path: path,
		What: fmt.Sprintf("%s was %s the catalog of environment %s", what, became(had, has), gate.Quote(pair.name)),
	}
}

// became words what happened to something that a side has or has not.
func became(had, has bool) string {
	switch {
	case !had:
		return "added to"
	case !has:
		return "removed from"
	}
	return "changed in"
}

// things returns what a pack uses of any catalog.
func (u uses) things() (things []thing) {
	each := func(names []string, kind Kind, called, section string, in func(*repo.Environment, string) value) {
		for _, name := range names {
			if name != "" {
				things = append(things, thing{kind, called + " " + gate.Quote(name), section,
					func(e *repo.Environment) value { return in(e, name) }})
			}
		}
	}
	named := func(names []string, kind Kind, called, section string) {
		each(names, kind, called, section, func(e *repo.Environment, name string) value { return member(e.Node.Get(section), name) })
	}
	one := func(used bool, kind Kind, name string) {
		if used {
			things = append(things, thing{kind, name, name, func(e *repo.Environment) value { return scalar(e.Node.Get(name)) }})
		}
	}
	named(u.roles, PolicyBundle, "approver role", "approver_roles")
	named([]string{u.issuer}, PolicyBundle, "issuer", "issuers")
	one(u.effects, PolicyBundle, "max_approval_mode")
	each([]string{u.namespace}, Ontology, "ontology", "ontologies", ontology)
	named([]string{u.alias}, Ontology, "snapshot alias", "snapshots")
	each(u.endpoints, AdapterSchema, "endpoint", "endpoints", endpoint)
	named(u.intents, DecisionCatalog, "intent", "intents")
	named(u.schemas, DecisionCatalog, "schema", "schemas")
	named([]string{u.region}, MemoryPolicy, "region", "regions")
	one(u.runtime, ModelConfig, "runtime")
	return things
}

// scalar returns what a setting says that is a section by itself.
func scalar(n *pack.Node) value {
	if n == nil {
		return value{}
	}
	return value{listed: true, says: pack.CompactJSON(n.Any()), at: n}
}

// member returns what a section, which is a list of names or an object of them, says
// of one.
func member(section *pack.Node, name string) value {
	v := value{listed: section != nil, at: section}
	if section == nil {
		return v
	}
	for _, item := range section.Items {
		if item.Kind == pack.String && item.Text == name {
			v.says, v.at = "listed", item
		}
	}
	if n := section.Get(name); n != nil {
		v.says, v.at = pack.CompactJSON(n.Any()), n
	}
	return v
}

// endpoint returns what a catalog says of an endpoint; the order of its tenants
// says nothing.
func endpoint(e *repo.Environment, ref string) value {
	v := member(e.Endpoints.Node, ref)
	if one, ok := e.Endpoints.Get(ref); ok && one.Tenants.OK {
		v.says = sorted(one.Tenants)
		if one.Capabilities.Node != nil {
			v.says += " " + pack.CompactJSON(one.Capabilities.Node.Any())
		}
	}
	return v
}

// ontology returns what a catalog says of the versions of an ontology; neither
// their order nor that of their types says anything.
func ontology(e *repo.Environment, namespace string) value {
	v := member(e.Ontologies.Node, namespace)
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

// setting is one setting of the config that a pack uses.
type setting struct {
	kind Kind
	what string
	in   func(*repo.Config) value
}

// config returns the triggers of the repository's config. A setting that is
// written out and says what holds without it is no change.
func (s *step) config(u uses) (triggers []Trigger) {
	for _, one := range u.settings() {
		before, after := one.in(s.base.Config), one.in(s.head.Config)
		if before.same(after) {
			continue
		}
		at := pack.Place(after.at, before.at)
		triggers = append(triggers, Trigger{
			Kind: one.kind, What: fmt.Sprintf("%s was %s the config", one.what, became(before.at != nil, after.at != nil)),
			File: at.Document().File, Path: at.KeyedPath(),
		})
	}
	return triggers
}

// settings returns what a pack uses of any config.
func (u uses) settings() []setting {
	list := []setting{
		{Evaluator, "evaluation.required", func(c *repo.Config) value { return or(c.Evaluation.Required, "false") }},
		{Evaluator, "evaluation.min_samples", func(c *repo.Config) value { return or(c.Evaluation.MinSamples.Node, "0") }},
		{Evaluator, "evaluation.price_per_1k_tokens_cents", func(c *repo.Config) value { return or(c.Evaluation.PricePer1KTokensCents.Node, "") }},
		{ModelConfig, "compile.tokenizer", func(c *repo.Config) value { return or(c.Compile.Tokenizer.Node, `"estimate"`) }},
		{ModelConfig, "compile.max_truncation_rate", func(c *repo.Config) value { return or(c.Compile.MaxTruncationRate.Node, "0.2") }},
	}
	if u.effects {
		list = append(list, setting{PolicyBundle, "limits.max_approval_mode", func(c *repo.Config) value { return or(c.LimitFields.MaxApprovalMode.Node, "") }})
	}
	for _, name := range u.schemes {
		list = append(list, setting{AdapterSchema, "endpoint scheme " + gate.Quote(name), func(c *repo.Config) value { return scheme(c, name) }})
	}
	for _, name := range u.evidence {
		list = append(list, setting{DecisionCatalog, "the source of evidence " + gate.Quote(name), func(c *repo.Config) value { return or(c.Evidence.Node.Get(name), "") }})
	}
	return list
}

// or returns what a setting says, and what holds without it where it is absent.
func or(n *pack.Node, without string) value {
	if n == nil {
		return value{says: without}
	}
	return value{says: pack.CompactJSON(n.Any()), at: n}
}

// scheme returns whether the config lists a scheme, with or without its colon
// and slashes.
func scheme(c *repo.Config, name string) (v value) {
	for _, item := range c.EndpointScheme.Items {
		if item.OK && strings.TrimRight(item.Value, ":/") == name {
			v = value{says: "listed", at: item.Node}
		}
	}
	return v
}

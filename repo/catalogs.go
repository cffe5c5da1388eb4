package repo

import (
	"slices"

	"github.com/contextosai/packgate/pack"
)

// CatalogChange is one difference between two versions of an environment's catalog.
type CatalogChange struct {
	Path    string     // keyed path; an item of a list is the segment of its name
	Was, Is *pack.Node // nil if a version does not have it
	Effect  CatalogEffect
}

// CatalogEffect is what a change of a catalog does to what may run in the environment.
type CatalogEffect uint8

// The effects. Released is a bound that is looser or gone: nothing is checked against a section that a
// catalog does not have.
const (
	Ignored  CatalogEffect = iota
	Narrowed               // less may run, or more of it is checked
	Listed                 // one more name is known there
	Moved                  // a name means something else
	Admitted               // somebody else, or another region, is let in
	Released
)

// catalogMember is the effect of adding, removing or changing a member of a catalog. Only a member that
// is neither an object nor a list can be changed.
type catalogMember struct {
	added, removed CatalogEffect
	changed        func(was, is *pack.Node) CatalogEffect
}

func ignored(_, _ *pack.Node) CatalogEffect { return Ignored }

func moved(_, _ *pack.Node) CatalogEffect { return Moved }

// mode judges a ceiling, or with least a floor, of approval modes.
func mode(least bool) func(was, is *pack.Node) CatalogEffect {
	return func(was, is *pack.Node) CatalogEffect {
		before, now := pack.ApprovalMode(was.Text).Rank(), pack.ApprovalMode(is.Text).Rank()
		if least {
			before, now = now, before
		}
		if now > before {
			return Released
		}
		return Narrowed
	}
}

// set judges a flag that is stricter when it is true.
func set(_, is *pack.Node) CatalogEffect {
	if is.Bool {
		return Narrowed
	}
	return Released
}

// soak judges how long a version has to have been pinned somewhere else.
func soak(was, is *pack.Node) CatalogEffect {
	before, _ := pack.ParseDuration(was.Text) // both were checked when the catalogs were read
	now, _ := pack.ParseDuration(is.Text)
	switch {
	case now < before:
		return Released
	case now == before:
		return Ignored
	}
	return Narrowed
}

// catalogMembers has every member of a catalog by its path, in which "*" is any entry of an object and
// any name of a list. A member that is not here counts as released; a test compares it with the schema.
var catalogMembers = map[string]catalogMember{
	"/$schema": {changed: ignored}, "/environment": {changed: ignored},
	"/runtime":                             {Narrowed, Released, moved},
	"/ontologies":                          {added: Narrowed, removed: Released},
	"/ontologies/*":                        {added: Listed, removed: Narrowed},
	"/ontologies/*/*":                      {added: Listed, removed: Narrowed},
	"/ontologies/*/*/entity_types":         {added: Narrowed, removed: Released},
	"/ontologies/*/*/entity_types/*":       {added: Listed, removed: Narrowed},
	"/ontologies/*/*/relationship_types":   {added: Narrowed, removed: Released},
	"/ontologies/*/*/relationship_types/*": {added: Listed, removed: Narrowed},
	"/snapshots":                           {added: Narrowed, removed: Released},
	"/snapshots/*":                         {Listed, Narrowed, moved},
	"/endpoints":                           {added: Narrowed, removed: Released},
	"/endpoints/*":                         {added: Listed, removed: Narrowed},
	"/endpoints/*/tenants":                 {added: Narrowed, removed: Released},
	"/endpoints/*/tenants/*":               {added: Admitted, removed: Narrowed},
	"/endpoints/*/capabilities":            {added: Narrowed, removed: Released},
	"/endpoints/*/capabilities/*":          {Narrowed, Released, mode(true)},
	"/issuers":                             {added: Narrowed, removed: Released},
	"/issuers/*":                           {added: Admitted, removed: Narrowed},
	"/intents":                             {added: Narrowed, removed: Released},
	"/intents/*":                           {added: Listed, removed: Narrowed},
	"/approver_roles":                      {added: Narrowed, removed: Released},
	"/approver_roles/*":                    {added: Listed, removed: Narrowed},
	"/schemas":                             {added: Narrowed, removed: Released},
	"/schemas/*":                           {added: Listed, removed: Narrowed},
	"/regions":                             {added: Narrowed, removed: Released},
	"/regions/*":                           {added: Admitted, removed: Narrowed},
	"/max_approval_mode":                   {Narrowed, Released, mode(false)},
	"/complete":                            {Narrowed, Released, set},
	"/unconfirmed":                         {Released, Narrowed, ignored},
	"/pins":                                {added: Listed, removed: Moved},
	"/pins/*":                              {Listed, Moved, moved},
	"/promote":                             {added: Narrowed, removed: Released},
	"/promote/from":                        {Narrowed, Released, moved},
	"/promote/soak":                        {Narrowed, Released, soak},
	"/promote/roles":                       {added: Narrowed, removed: Released},
	"/promote/roles/*":                     {added: Narrowed, removed: Released},
}

// CompareCatalogs returns the differences of two versions of a catalog, in the order of the later one
// and then of the earlier one. The order of names in a list does not count, nor do sections that were
// not confirmed.
func CompareCatalogs(before, after *Environment) []CatalogChange {
	var c catalogComparison
	was, is := before.Document.Root, after.Document.Root
	if before.Unconfirmed.Value {
		was = holding(was)
		if after.Unconfirmed.Value {
			is = holding(is)
		}
	}
	c.members("", "", was, is)
	if after.PinsFile == nil { // whose lines are promotions
		c.pins(before, after)
	}
	return c.changes
}

// holding returns an unconfirmed catalog with only the members that hold nevertheless.
func holding(root *pack.Node) *pack.Node {
	only := *root
	only.Members = slices.DeleteFunc(slices.Clone(root.Members), func(m pack.Member) bool { return !slices.Contains(inForce, m.Name) })
	return &only
}

// pins compares the pinned versions of two versions of an environment, wherever each of them has them.
func (c *catalogComparison) pins(before, after *Environment) {
	ids := append(before.PinnedPacks(), after.PinnedPacks()...)
	slices.Sort(ids)
	effects := catalogMembers[pinsMember+"/*"]
	for _, id := range slices.Compact(ids) {
		was, had := before.Pinned(id)
		is, has := after.Pinned(id)
		change := CatalogChange{Path: pinsMember + "/" + pack.EscapeSegment(id), Was: was.Node, Is: is.Node}
		switch {
		case !had:
			change.Effect = effects.added
		case !has:
			change.Effect = effects.removed
		case !was.SameAs(is):
			change.Effect = effects.changed(was.Node, is.Node)
		}
		if change.Effect != Ignored {
			c.changes = append(c.changes, change)
		}
	}
}

// pinsMember is the path of the member of a catalog that has pins. They are compared apart,
// since they may be in a file of their own.
const pinsMember = "/pins"

type catalogComparison struct{ changes []CatalogChange }

// compare compares a member, nil where a version lacks it. Pattern is its path in the table.
func (c *catalogComparison) compare(pattern, path string, was, is *pack.Node) {
	member, known := catalogMembers[pattern]
	effect := Released
	switch {
	case same(was, is), pattern == pinsMember:
		return
	case was != nil && is != nil && was.Kind == is.Kind && (was.Kind == pack.Object || was.Kind == pack.Array) && known:
		c.members(pattern, path, was, is)
		return
	case !known:
	case was == nil:
		effect = member.added
	case is == nil:
		effect = member.removed
	default:
		effect = member.changed(was, is)
	}
	if effect != Ignored {
		c.changes = append(c.changes, CatalogChange{Path: path, Was: was, Is: is, Effect: effect})
	}
}

// members compares what two objects, or two lists of names, hold.
func (c *catalogComparison) members(pattern, path string, was, is *pack.Node) {
	before, after := entries(was), entries(is)
	for _, name := range slices.Concat(after.names, slices.DeleteFunc(before.names, func(name string) bool { return after.by[name] != nil })) {
		below := pattern + "/" + name
		if _, anyName := catalogMembers[pattern+"/*"]; anyName {
			below = pattern + "/*"
		}
		c.compare(below, path+"/"+pack.EscapeSegment(name), before.by[name], after.by[name])
	}
}

// named are the values of an object or a list by what they are called.
type named struct {
	names []string
	by    map[string]*pack.Node
}

func entries(n *pack.Node) named {
	all := named{by: map[string]*pack.Node{}}
	add := func(name string, value *pack.Node) {
		if all.by[name] == nil {
			all.names = append(all.names, name)
		}
		all.by[name] = value
	}
	for _, m := range n.Members {
		add(m.Name, m.Value)
	}
	for _, item := range n.Items {
		add(item.Text, item)
	}
	return all
}

// CatalogPair is the catalog of an environment in two versions of a repository; nil if one of them
// lacks it.
type CatalogPair struct{ Before, After *Environment }

// PairCatalogs pairs the catalogs of two versions by their environments: those of the later version,
// and then those that it no longer has. If an environment has several, those of the same file belong
// together, and then the first that are left.
func PairCatalogs(before, after []*Environment) []CatalogPair {
	pairs := make([]CatalogPair, len(after))
	taken := map[*Environment]bool{}
	for i, e := range after {
		pairs[i].After = e
	}
	for _, fits := range []func(a, b *Environment) bool{
		func(a, b *Environment) bool { return a.Name() == b.Name() && a.Document.File == b.Document.File },
		func(a, b *Environment) bool { return a.Name() == b.Name() },
	} {
		for _, was := range before {
			i := slices.IndexFunc(pairs, func(p CatalogPair) bool { return p.Before == nil && fits(was, p.After) })
			if !taken[was] && i >= 0 {
				pairs[i].Before, taken[was] = was, true
			}
		}
	}
	for _, was := range before {
		if !taken[was] {
			pairs = append(pairs, CatalogPair{Before: was})
		}
	}
	return pairs
}

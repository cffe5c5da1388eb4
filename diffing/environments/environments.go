// Package environments says what a change brings to the environments of a pack, beside what
// it does to the pack: what agents can do in one of them follows from the pack with the
// overlays of that environment, and from the part of its catalog that binds the pack.
//
// Both versions of the pack are resolved with the overlays of their side and compared like
// two versions of a pack, by the same table and the same proofs. A catalog is compared by
// the table of its members (repo.CompareCatalogs). An overlay or a catalog has no version,
// and no class is held against pack_version; it says who has to look at the change.
package environments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// mostCompared is how many environments of a pack are compared. Real packs have some three.
const mostCompared = 24

// Change is what a change brings to one environment.
type Change struct {
	Environment string
	// Class is that of all that changes there, of the pack too.
	Class diffing.Class
	// Changes are those of the pack with its overlays, and Effects what is permitted
	// otherwise, without what is the same in the pack itself.
	Changes []diffing.Change
	Effects []proof.Change
	// Loosened are those of the changes that weaken a guardrail.
	Loosened []surface.Loosening
	// Catalog is what binds the pack and changed in the catalog.
	Catalog []CatalogChange
	// Reason says why the pack with its overlays was not compared; "" where it was.
	Reason string

	steps [2][]overlay.Step // that count, in base and head
}

// CatalogChange is a change of a catalog with its class. Without a path it is the catalog
// as a whole.
type CatalogChange struct {
	repo.CatalogChange
	Class diffing.Class
}

// classes are those of what changes in a catalog.
var classes = map[repo.CatalogEffect]diffing.Class{
	repo.Narrowed: diffing.Minor, repo.Listed: diffing.Minor, repo.Moved: diffing.Minor,
	repo.Admitted: diffing.Major, repo.Released: diffing.Major,
}

// Class returns the highest class of several changes.
func Class(changes []Change) (c diffing.Class) {
	for i := range changes {
		c = max(c, changes[i].Class)
	}
	return c
}

// Compare returns what a change brings to the environments of a pack, by their names:
// those to which its overlays or catalogs bring something that the pack itself does not.
// Whole is the comparison of the pack itself.
func Compare(ctx context.Context, base, head *gate.Subject, whole *diffing.Diff, overrides []diffing.Override) ([]Change, error) {
	if base.Pack == nil || head.Pack == nil || whole == nil {
		return nil, nil
	}
	c := &comparison{base: base, head: head, whole: whole, overrides: overrides, found: map[string]*Change{}}
	c.overlays[0], c.overlays[1] = viewsOf(base.Unit), viewsOf(head.Unit)
	for _, side := range c.overlays {
		for name := range side {
			c.at(name)
		}
	}
	slices.Sort(c.names)
	for i, name := range c.names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.resolved(c.found[name], i < mostCompared); err != nil {
			return nil, err
		}
	}
	c.catalogs()
	slices.Sort(c.names)
	var changes []Change
	for _, name := range c.names {
		if one := c.found[name]; len(one.Changes)+len(one.Effects)+len(one.Catalog) > 0 || one.Reason != "" {
			changes = append(changes, *one)
		}
	}
	return changes, nil
}

func viewsOf(u *repo.Unit) map[string]*overlay.View {
	views := map[string]*overlay.View{}
	for _, v := range overlay.Views(u) {
		views[v.Environment] = v
	}
	return views
}

type comparison struct {
	base, head *gate.Subject
	whole      *diffing.Diff
	overrides  []diffing.Override
	overlays   [2]map[string]*overlay.View // of base and head
	names      []string
	found      map[string]*Change
}

// at returns what is found of an environment.
func (c *comparison) at(name string) *Change {
	if c.found[name] == nil {
		c.found[name] = &Change{Environment: name, Class: c.whole.Class}
		c.names = append(c.names, name)
	}
	return c.found[name]
}

// resolved compares the pack with the overlays of an environment, in both versions.
func (c *comparison) resolved(one *Change, compared bool) error {
	packs := [2]*pack.Pack{c.base.Pack, c.head.Pack}
	for i := range packs {
		if v := c.overlays[i][one.Environment]; v != nil && v.Unit.Pack != nil {
			packs[i], one.steps[i] = v.Unit.Pack, overlay.Effective(v.Steps)
		}
	}
	if len(one.steps[0])+len(one.steps[1]) == 0 {
		return nil
	}
	var d *diffing.Diff
	err := fmt.Errorf("only the first %d environments are compared", mostCompared)
	if compared {
		d, err = diffing.Compare(packs[0], packs[1], c.overrides)
	}
	switch {
	case compared && err != nil && !errors.Is(err, diffing.ErrIncomparable):
		return err
	case err != nil:
		one.Class, one.Reason = max(one.Class, diffing.Major), err.Error()
		return nil
	}
	one.Class = d.Class
	// Where overlays set what they did, the values of a pack's change may be theirs.
	values := settings(one.steps[0]) != settings(one.steps[1])
	known := map[identity]bool{}
	for _, change := range c.whole.Changes() {
		known[identify(change, values)] = true
	}
	own := func(change diffing.Change) bool { return known[identify(change, values)] }
	one.Changes = slices.DeleteFunc(d.Changes(), own)
	one.Loosened = slices.DeleteFunc(surface.Loosened(d), func(l surface.Loosening) bool { return own(l.Change) })
	same := map[effect]bool{}
	for _, e := range c.whole.Effects {
		same[effectOf(e)] = true
	}
	one.Effects = slices.DeleteFunc(d.Effects, func(e proof.Change) bool { return same[effectOf(e)] })
	return nil
}

// identity tells changes apart, and with values also what they change.
type identity struct {
	fingerprint string
	class       diffing.Class
	was, is     string
}

func identify(c diffing.Change, values bool) identity {
	id := identity{fingerprint: c.Fingerprint(), class: c.Class}
	if values {
		id.was, id.is = says(c.Old), says(c.New)
	}
	return id
}

// effect tells effects apart, but for the requests that show them.
type effect struct {
	intent, subject, arg string
	kind, holder         proof.Kind
	verdict              proof.Verdict
	gained, lost         string
}

func effectOf(e proof.Change) effect {
	return effect{e.Intent, e.Subject, e.Arg, e.Kind, e.Holder, e.Verdict, e.GainedWhat, e.LostWhat}
}

// settings returns what overlays set, as a text that is the same where they set the same.
func settings(steps []overlay.Step) string {
	set := map[string]any{}
	for _, s := range steps {
		set[s.Path()] = s.Setting.Value.Any()
	}
	return pack.CompactJSON(set)
}

func says(n *pack.Node) string {
	if n == nil {
		return ""
	}
	return pack.CompactJSON(n.Any())
}

// catalogs compares the catalogs, as far as they bind the pack in either version. What
// releases a bound is everybody's.
func (c *comparison) catalogs() {
	for _, pair := range repo.PairCatalogs(c.base.Environments, c.head.Environments) {
		switch before, after := pair.Before, pair.After; {
		case before == nil:
			c.note(after.Name(), repo.CatalogChange{Is: after.Document.Root, Effect: repo.Listed})
		case after == nil:
			c.note(before.Name(), repo.CatalogChange{Was: before.Document.Root, Effect: repo.Released})
		default:
			for _, change := range repo.CompareCatalogs(before, after) {
				if change.Effect == repo.Released || c.binds(after.Name(), change.Path) {
					c.note(after.Name(), change)
				}
			}
		}
	}
}

func (c *comparison) note(name string, change repo.CatalogChange) {
	one := c.at(name)
	one.Catalog = append(one.Catalog, CatalogChange{change, classes[change.Effect]})
	one.Class = max(one.Class, classes[change.Effect])
}

// binds reports whether a catalog's member is about something that the pack uses in an
// environment, in either version.
func (c *comparison) binds(name, path string) bool {
	for i, p := range []*pack.Pack{c.base.Pack, c.head.Pack} {
		if v := c.overlays[i][name]; v != nil && v.Unit.Pack != nil {
			p = v.Unit.Pack
		}
		if refresh.FactsOf(p).Binds(path) {
			return true
		}
	}
	return false
}

// Place returns the setting of an overlay of the head that a change comes from; nil where
// it comes from the pack, or from an overlay of the base.
func (c *Change) Place(of diffing.Change) *pack.Node {
	if of.New == nil {
		return nil
	}
	within := func(inner, outer string) bool { return inner == outer || strings.HasPrefix(inner, outer+"/") }
	for _, s := range c.steps[1] {
		if at := s.At.Pointer(); within(at, of.New.Pointer()) || within(of.New.Pointer(), at) {
			return s.Setting.Value
		}
	}
	return nil
}

package environments

import (
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Built is what a pack is in one environment: the pack with the overlays of that
// environment, and the parts of the environment's catalog that bind it. Its bytes follow
// from the files alone, in the canonical form of RFC 8785.
type Built struct {
	Environment string
	Pack        []byte // the resolved pack; its pack_version is that of the pack
	Catalog     []byte // what binds it; the name of the environment alone where there is no catalog
	// Sources are the files that it is made of: the pack, the overlays in the order in which
	// they are applied, and the catalog.
	Sources []Source
	Unit    *repo.Unit // the resolved unit
}

// Source is a file that a bundle is made of. Name is relative to the repository's root,
// File as messages show it.
type Source struct {
	Name, File string
	Digest     pack.Digest // of the file's bytes
}

// ErrBuild is the kind of error of what cannot be resolved for an environment.
var ErrBuild = fault.NewKind("cannot be resolved for an environment", "correct what is named; packgate check says what else is wrong with it")

// Named returns the environments that a pack is built for, sorted: those of the catalogs,
// and those of its overlays. A catalog without a name of an environment is of none.
func Named(u *repo.Unit, catalogs []*repo.Environment) []string {
	all := map[string]bool{}
	for _, e := range catalogs {
		all[e.Environment.Value] = true
	}
	for _, o := range u.Overlays {
		all[o.Environment.Value] = true
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// Build returns what a pack is in an environment. It is a pure function of the files: when
// it runs, from which commit, and in which order files were read does not show. The error
// is of kind ErrBuild, and says what keeps the files from having one meaning there: the pack
// or an overlay that is refused in part or as a whole, or two catalogs of the environment.
func Build(u *repo.Unit, environment string, catalogs []*repo.Environment) (*Built, error) {
	refuse := func(hint, format string, args ...any) (*Built, error) {
		return nil, &fault.Error{Kind: ErrBuild, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if u.Pack == nil || len(u.Faults) > 0 {
		return refuse("correct the pack first", "%s cannot be read as a pack", u.Document.File)
	}
	v, err := viewOf(u, environment)
	if err != nil {
		return nil, err
	}
	b := &Built{Environment: environment, Unit: v.Unit, Sources: []Source{sourceOf(u.Name, u.Document)}}
	for _, o := range v.Overlays {
		b.Sources = append(b.Sources, sourceOf(o.Name, o.Document))
	}
	var catalog *repo.Environment
	for _, e := range catalogs {
		switch {
		case e.Environment.Value != environment:
		case catalog != nil:
			return refuse("keep one catalog for each environment", "%s and %s are both catalogs of the environment %q", catalog.Document.File, e.Document.File, environment)
		default:
			catalog = e
		}
	}
	parts := map[string]any{"environment": environment}
	if catalog != nil {
		parts = refresh.Bound(v.Unit.Pack, catalog)
		b.Sources = append(b.Sources, sourceOf(catalog.Path, catalog.Document))
	}
	if b.Catalog, err = pack.AppendCanonical(nil, parts); err == nil {
		b.Pack, err = pack.Canonical(v.Unit.Document.Source)
	}
	if err != nil {
		return refuse("correct the pack first", "%s has no canonical form in the environment %q: %v", u.Document.File, environment, err)
	}
	return b, nil
}

// viewOf returns the pack with the overlays of an environment, all of them as a whole.
func viewOf(u *repo.Unit, environment string) (*overlay.View, error) {
	refuse := func(o *repo.Overlay, r *overlay.Refusal) error {
		return &fault.Error{Kind: ErrBuild, Message: fmt.Sprintf("%s: %s", o.Document.File, r.Message), Hint: r.Hint}
	}
	for _, f := range u.Files {
		if f.Kind == "overlay" && (f.Document.Root == nil || f.Document.Root.Kind != pack.Object) {
			return nil, &fault.Error{Kind: ErrBuild, Message: f.Document.File + " cannot be read, so that it is not known which environment it is for", Hint: "correct it, or remove it"}
		}
	}
	for _, o := range u.Overlays {
		another := o.Environment.OK && o.Environment.Value != environment
		if r := overlay.Usable(u, o); r != nil && !another {
			return nil, refuse(o, r)
		}
	}
	v := overlay.In(u, environment)
	if len(v.Skipped) > 0 {
		return nil, refuse(v.Skipped[0].Overlay, v.Skipped[0].Refusal)
	}
	return v, nil
}

func sourceOf(name string, d *pack.Document) Source {
	return Source{Name: name, File: d.File, Digest: pack.DigestOf(d.Source)}
}

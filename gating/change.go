package gating

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Change is what differs between a baseline and the working tree.
type Change struct {
	w      *Workspace
	head   *Commit                      // that is checked out
	files  map[string]github.ChangeKind // by their names relative to the workspace
	names  map[string]github.ChangeKind // they and the names by which links lead to them
	paths  []string                     // the files by their names in the git repository
	all    bool                         // there are too many names: everything is reached
	Config bool                         // the config is part of it
	config string                       // its name
}

// Change returns what differs between the baseline and the working tree.
func (b *Baseline) Change(ctx context.Context) (*Change, error) {
	changes, err := b.Git.Changed(ctx, b.Tree)
	if err != nil {
		return nil, err
	}
	head, err := b.head()
	if err != nil {
		return nil, err
	}
	links, err := b.links(ctx, head)
	if err != nil {
		return nil, err
	}
	c := &Change{w: b.w, head: head, files: map[string]github.ChangeKind{}, names: map[string]github.ChangeKind{}, config: b.ConfigName}
	for _, one := range changes {
		c.paths = append(c.paths, one.Path)
		if name, ok := b.Relative(one.Path); ok {
			c.files[name] = one.Kind
		}
	}
	reached, all := reach(changes, links)
	c.all = all
	for name, kind := range reached {
		if name, ok := b.Relative(name); ok {
			c.names[name] = kind
		}
	}
	_, c.Config = c.names[c.config]
	return c, nil
}

// Complete returns an error of kind [github.ErrIncomplete] if the working tree lacks a pack or a
// catalog of the change, as a sparse checkout does: it would not be gated, and nobody would see that.
func (c *Change) Complete() error {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if c.files[name] == github.Deleted {
			continue
		}
		info, err := os.Lstat(filepath.Join(c.w.Dir, filepath.FromSlash(name)))
		if err == nil && info.IsDir() {
			if err := c.submodule(name); err != nil {
				return err
			}
			continue
		}
		if err == nil || !c.w.IsPack(name) && !c.w.IsCatalog(name) {
			continue
		}
		if !repo.NotThere(err) {
			return err
		}
		return &fault.Error{
			Kind:    github.ErrIncomplete,
			Message: fmt.Sprintf("%q is part of the change and not in the working tree", c.w.Files.Show(name)),
			Hint:    "check out without `sparse-checkout:`",
		}
	}
	return nil
}

// Removed returns the pack files that the change removes, relative to the workspace and sorted.
func (c *Change) Removed() []string {
	var names []string
	for name, kind := range c.files {
		if kind == github.Deleted && c.w.IsPack(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Changed gates the packs that the change concerns: those that have a changed file, those that depend
// on what changed, and all of them if a catalog or the config changed. It returns the pack files, as
// messages show them, that have a changed file of their own. Errors are those of [Run.All].
func (r *Run) Changed(ctx context.Context, in Inputs, c *Change) (own []string, err error) {
	from := r.Report.Packs.Len()
	r.level(in)
	looser, err := r.config(&in)
	if err != nil {
		return nil, err
	}
	if err := r.accept(ctx, &in); err != nil {
		return nil, err
	}
	if in.since, err = in.Base.Progress(ctx); err != nil {
		return nil, err
	}
	ids, err := in.identities(in.known())
	if err != nil {
		return nil, err
	}
	in.read, in.joint = ids, in.sets(ids)
	concerned, own := c.concerned(in.since, in.joint)
	part, err := r.share(&in)
	if err != nil {
		return nil, err
	}
	if err := r.gate(ctx, in, both(concerned, part)); err != nil {
		return nil, err
	}
	if err := r.together(ctx, in, c, looser); err != nil {
		return own, err
	}
	r.reviews(in, from, looser)
	return own, in.strays()
}

// concerned returns the packs that have a changed file or a refresh trigger, that cannot be read, or
// whose golden cases name a pack with a changed file. Own are those of them, as messages show them,
// that have a changed file of their own.
func (c *Change) concerned(since Progress, named *sets) (packs, own []string) {
	shared := c.shared(since)
	for _, p := range c.w.Packs {
		changed := c.touches(p)
		if changed {
			own = append(own, c.w.Files.Show(p))
		}
		if changed || shared || len(since.Triggers[p]) > 0 || since.unread[p] || named.reaches(p, c) {
			packs = append(packs, p)
		}
	}
	return packs, own
}

// both returns the packs that are in both lists, in the order of the first.
func both(packs, in []string) []string {
	known := map[string]bool{}
	for _, name := range in {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(packs), func(name string) bool { return !known[name] })
}

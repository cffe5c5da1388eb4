package gating

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Change is what differs between a baseline and the working tree.
type Change struct {
	w     *Workspace
	files map[string]github.ChangeKind // by their names relative to the workspace
	// Config says that the config is part of it, and Readable that it is still there.
	Config, Readable bool
}

// Change returns what differs between the baseline and the working tree.
func (b *Baseline) Change(ctx context.Context) (*Change, error) {
	changes, err := b.Git.Changed(ctx, b.Tree)
	if err != nil {
		return nil, err
	}
	c := &Change{w: b.w, files: map[string]github.ChangeKind{}}
	for _, one := range changes {
		if name, ok := b.Relative(one.Path); ok {
			c.files[name] = one.Kind
		}
	}
	kind, changed := c.files[b.ConfigName]
	c.Config, c.Readable = changed, changed && kind != github.Deleted
	return c, nil
}

// Complete refuses a working tree that lacks a pack or a catalog of the change, as a
// sparse checkout does: it would not be gated, and nobody would see that.
func (c *Change) Complete() error {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if c.files[name] == github.Deleted || !c.w.IsPack(name) && !c.w.IsCatalog(name) {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.w.Dir, filepath.FromSlash(name)))
		if err != nil && !repo.NotThere(err) {
			return err
		}
		if err != nil {
			return &fault.Error{
				Kind:    github.ErrIncomplete,
				Message: fmt.Sprintf("%q is part of the change and not in the working tree", c.w.Files.Show(name)),
				Hint:    "check out without `sparse-checkout:`",
			}
		}
	}
	return nil
}

// Removed returns the packs that the change removes, sorted.
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

// Changed gates the packs that the change concerns: those of which a file
// changed, those that depend on what changed, and all of them where a catalog or
// the config changed. It returns, as messages show them, those of which a file of their
// own changed.
func (r *Run) Changed(ctx context.Context, in Inputs, c *Change) (own []string, err error) {
	if in.since, err = in.Base.Progress(ctx); err != nil {
		return nil, err
	}
	concerned, own := c.concerned(in.since.Triggers)
	part, _, err := in.Share(in.Shard)
	if err != nil {
		return nil, err
	}
	if err := r.gate(ctx, in, both(concerned, part)); err != nil {
		return nil, err
	}
	if c.Config && in.settled {
		r.Notice("%s differs from the base; the base's config, waivers and severities are in force until this is merged", in.Files.Show(in.Base.ConfigName))
	}
	return own, r.gone(in)
}

// concerned returns the packs that changed files concern or that have a refresh
// trigger, and, as messages show them, those of which a file of their own changed.
func (c *Change) concerned(triggers map[string][]refresh.Trigger) (packs, own []string) {
	shared := c.Config
	for name := range c.files {
		shared = shared || c.w.IsCatalog(name)
	}
	for _, p := range c.w.Packs {
		changed := c.touches(p) || c.touches(c.w.behindLinks(p))
		if changed {
			own = append(own, c.w.Files.Show(p))
		}
		if changed || shared || len(triggers[p]) > 0 {
			packs = append(packs, p)
		}
	}
	return packs, own
}

// touches reports whether a file that belongs to a pack changed.
func (c *Change) touches(pack string) bool {
	for name := range c.files {
		if repo.Belongs(pack, name) {
			return true
		}
	}
	return false
}

// both returns the packs that are in both lists, in the order of the first.
func both(packs, in []string) []string {
	known := map[string]bool{}
	for _, name := range in {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(packs), func(name string) bool { return !known[name] })
}

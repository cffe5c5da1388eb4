package github

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ChangeKind says what happened to a path.
type ChangeKind string

// The kinds of change. A path that turned from a file into a symbolic link, or
// whose executable bit changed, is modified.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
)

// Change is one path that differs between two versions.
type Change struct {
	Path string // the repository path
	// Kind is Added, Modified or Deleted. A renamed file is one deleted and one
	// added: guessing renames would make the list depend on a threshold.
	Kind ChangeKind
}

// Changed returns the paths that differ between base and the commit at HEAD,
// sorted by path. Symbolic links and submodules count like files. What the
// working tree has beyond HEAD is not seen. A nil base is an error: without a
// base nothing is known to have changed. Objects that are absent on either side
// are an error of kind ErrBaseUnreadable.
func (r *Repository) Changed(ctx context.Context, base *Tree) ([]Change, error) {
	if base == nil {
		return nil, errors.New("there is no base to compare HEAD with")
	}
	sha, err := r.Resolve("HEAD")
	if err != nil {
		return nil, err
	}
	head, err := r.Tree(sha)
	if err != nil {
		return nil, err
	}
	return Between(ctx, base, head)
}

// Between returns the paths that differ between two commits, as Changed does.
func Between(ctx context.Context, base, head *Tree) ([]Change, error) {
	base.store.Lock()
	defer base.store.Unlock()
	if head.store != base.store {
		head.store.Lock()
		defer head.store.Unlock()
	}
	c := comparison{base: base, head: head}
	if err := c.folder(ctx, base.root, head.root, ""); err != nil {
		return nil, err
	}
	slices.SortFunc(c.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return c.changes, nil
}

// comparison walks two trees side by side and leaves out what has the same
// hash. go-git has such a walk too, and takes a folder whose object is absent
// for a folder without files: everything below it would count as deleted.
type comparison struct {
	base, head *Tree
	changes    []Change
}

// folder compares two folders at the same path; prefix ends with a slash or is
// empty.
func (c *comparison) folder(ctx context.Context, from, to plumbing.Hash, prefix string) error {
	if from == to {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	old, err := object.GetTree(c.base.store, from)
	if err != nil {
		return c.base.unreadable(prefix, err)
	}
	young, err := object.GetTree(c.head.store, to)
	if err != nil {
		return c.head.unreadable(prefix, err)
	}
	added := make(map[string]object.TreeEntry, len(young.Entries))
	for _, entry := range young.Entries {
		added[entry.Name] = entry
	}
	for _, a := range old.Entries {
		b, both := added[a.Name]
		delete(added, a.Name)
		if both {
			err = c.entry(ctx, a, b, prefix)
		} else {
			err = c.all(ctx, c.base, a, prefix, Deleted)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range added {
		if err := c.all(ctx, c.head, b, prefix, Added); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) entry(ctx context.Context, a, b object.TreeEntry, prefix string) error {
	before, after := kindOf(a.Mode) == KindDirectory, kindOf(b.Mode) == KindDirectory
	switch {
	case before && after:
		return c.folder(ctx, a.Hash, b.Hash, prefix+a.Name+"/")
	case before != after:
		return errors.Join(c.all(ctx, c.base, a, prefix, Deleted), c.all(ctx, c.head, b, prefix, Added))
	case a.Hash != b.Hash || a.Mode != b.Mode:
		c.changes = append(c.changes, Change{prefix + a.Name, Modified})
	}
	return nil
}

// all records an entry, or everything below it.
func (c *comparison) all(ctx context.Context, t *Tree, e object.TreeEntry, prefix string, kind ChangeKind) error {
	if kindOf(e.Mode) != KindDirectory {
		c.changes = append(c.changes, Change{prefix + e.Name, kind})
		return nil
	}
	var below []Entry
	if err := t.walk(ctx, e.Hash, prefix+e.Name+"/", nil, &below); err != nil {
		return err
	}
	for _, entry := range below {
		c.changes = append(c.changes, Change{entry.Path, kind})
	}
	return nil
}

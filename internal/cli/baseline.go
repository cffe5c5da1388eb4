package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/report"
)

// baseline is the version that packs are compared with: the files of a commit.
// The nil baseline compares nothing.
type baseline struct {
	git  *github.Repository
	tree *github.Tree
	ref  string // how the user named it
	// prefix leads from the root of the git repository to that of the workspace.
	prefix string
	// configName is the config file, relative to the root of the workspace.
	configName string
}

// openBaseline opens the files of a git revision; nil for the revision "".
func openBaseline(w *workspace, revision string) (*baseline, error) {
	if revision == "" {
		return nil, nil
	}
	git, err := github.Open(w.dir)
	if err != nil {
		return nil, err
	}
	b := &baseline{git: git, ref: revision}
	if err := b.resolve(w, revision); err != nil {
		return nil, errors.Join(err, git.Close())
	}
	return b, nil
}

func (b *baseline) resolve(w *workspace, revision string) error {
	sha, err := b.git.Resolve(revision)
	if err != nil {
		return err
	}
	if b.tree, err = b.git.Tree(sha); err != nil {
		return err
	}
	return b.locate(w.dir)
}

// locate finds where a folder stands in the git repository; files are read
// relative to it from then on.
func (b *baseline) locate(dir string) error {
	// Both sides without links, since the repository's root is.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(b.git.Root())
	if err != nil {
		return err
	}
	prefix, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(prefix) {
		return fmt.Errorf("%s is not inside the git repository %s", dir, root)
	}
	b.prefix = filepath.ToSlash(prefix)
	return nil
}

// Close releases the repository.
func (b *baseline) Close() error {
	if b == nil {
		return nil
	}
	return b.git.Close()
}

func (b *baseline) revision() *report.Revision {
	if b == nil {
		return nil
	}
	return &report.Revision{Ref: b.ref, SHA: b.tree.SHA()}
}

// read returns a file of the baseline; ok is false where it has none of that
// name. A file that should be there and cannot be read is an error, never an
// absent one.
func (b *baseline) read(name string, limit int) (src []byte, ok bool, err error) {
	src, err = b.tree.ReadFile(path.Join(b.prefix, name), int64(limit))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return src, err == nil, err
}

// compare compares a pack with its baseline. Where it does not, reason says
// why, unless the pack has no baseline or there is none at all.
func (b *baseline) compare(u *repo.Unit, overrides []diffing.Override) (diff *diffing.Diff, reason string, err error) {
	if b == nil {
		return nil, "", nil
	}
	limits := pack.DefaultLimits()
	src, ok, err := b.read(u.Name, limits.MaxBytes)
	if err != nil || !ok {
		return nil, "", err
	}
	if u.Pack == nil {
		return nil, "the pack could not be read", nil
	}
	doc, faults := pack.Read(u.Document.File, src, limits)
	doc.Revision = b.tree.SHA()
	base := pack.New(doc)
	if base == nil {
		why := "its root is no object"
		if len(faults) > 0 {
			why = faults[0].Message
		}
		return nil, fmt.Sprintf("the pack of the base could not be read: %s", why), nil
	}
	diff, err = diffing.Compare(base, u.Pack, overrides)
	if errors.Is(err, diffing.ErrIncomparable) {
		return nil, err.Error(), nil
	}
	return diff, "", err
}

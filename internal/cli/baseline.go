package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

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
	// byID holds its packs by pack_id; nil until it is needed.
	byID map[string]*packFile
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

// packFile is a pack file of the baseline: its name, relative to the root of the
// workspace, and its bytes.
type packFile struct {
	name   string
	source []byte
}

// compare compares a pack with its baseline, and returns the name of the file
// that it was compared with. Where it does not compare, reason says why, unless
// the pack has no baseline or there is none at all.
func (b *baseline) compare(ctx context.Context, w *workspace, u *repo.Unit, overrides []diffing.Override) (diff *diffing.Diff, name, reason string, err error) {
	if b == nil {
		return nil, "", "", nil
	}
	old, err := b.find(ctx, w, u)
	if err != nil || old == nil {
		return nil, "", "", err
	}
	if u.Pack == nil {
		return nil, old.name, "the pack could not be read", nil
	}
	base, why := b.open(w, old)
	if base == nil {
		return nil, old.name, fmt.Sprintf("the pack of the base could not be read: %s", why), nil
	}
	diff, err = diffing.Compare(base, u.Pack, overrides)
	if errors.Is(err, diffing.ErrIncomparable) {
		return nil, old.name, err.Error(), nil
	}
	return diff, old.name, "", err
}

// open reads a pack of the baseline; why says what is wrong where it is none.
func (b *baseline) open(w *workspace, f *packFile) (p *pack.Pack, why string) {
	doc, faults := pack.Read(w.files.Show(f.name), f.source, w.config.Limits)
	doc.Revision = b.tree.SHA()
	if p = pack.New(doc); p != nil {
		return p, ""
	}
	if len(faults) > 0 {
		return nil, faults[0].Message
	}
	return nil, "its root is no object"
}

// find returns the file that a pack is compared with: that of its own name, else
// the first one that holds a pack of its pack_id. A pack is who it says it is and
// not where it stands: moved to another folder it would otherwise be new, and
// nobody would see what else was changed on the way. Nil means a new pack.
func (b *baseline) find(ctx context.Context, w *workspace, u *repo.Unit) (*packFile, error) {
	src, ok, err := b.read(u.Name, w.config.Limits.MaxBytes)
	if err != nil {
		return nil, err
	}
	if ok {
		return &packFile{u.Name, src}, nil
	}
	if u.Pack == nil || !u.Pack.PackMeta.PackID.OK {
		return nil, nil
	}
	if b.byID == nil {
		if b.byID, err = b.index(ctx, w); err != nil {
			return nil, err
		}
	}
	return b.byID[u.Pack.PackMeta.PackID.Value], nil
}

// index returns the packs of the baseline by pack_id. Files without one, and
// those that are too large to be read as a pack, are left out.
func (b *baseline) index(ctx context.Context, w *workspace) (map[string]*packFile, error) {
	entries, err := b.tree.List(ctx, func(name string) bool {
		name, ok := b.relative(name)
		return ok && w.isPack(name)
	})
	if err != nil {
		return nil, err
	}
	byID := map[string]*packFile{}
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		if e.Kind != github.KindFile {
			continue
		}
		src, ok, err := b.read(name, w.config.Limits.MaxBytes)
		if errors.Is(err, github.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := &packFile{name, src}
		if p, _ := b.open(w, f); ok && p != nil && byID[p.PackMeta.PackID.Value] == nil {
			byID[p.PackMeta.PackID.Value] = f
		}
	}
	delete(byID, "")
	return byID, nil
}

// relative returns a path of the git repository relative to the workspace; ok is
// false where it lies outside.
func (b *baseline) relative(name string) (string, bool) {
	if b.prefix == "." {
		return name, true
	}
	return strings.CutPrefix(name, b.prefix+"/")
}

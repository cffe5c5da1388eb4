package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
)

// baseline is the version that packs are compared with: the files of a commit.
// The nil baseline compares nothing.
type baseline struct {
	git  *github.Repository
	tree *github.Tree
	ref  string // how the user named it
	// alone says that it is the last commit, for want of a default branch that the
	// work could have begun with.
	alone bool
	// prefix leads from the root of the git repository to that of the workspace.
	prefix string
	// configName is the config file, relative to the root of the workspace.
	configName string
	// reading is held by who reads its files: git objects are read by one at a time.
	reading sync.Mutex
	// byID holds its packs by pack_id; nil until it is needed.
	byID map[string]*packFile
	// listed is what it has of packs and the files beside them; nil until it is needed.
	listed *listing
}

// openBaseline opens the files of a git revision; nil for the revision "".
func openBaseline(w *workspace, revision string) (*baseline, error) {
	if revision == "" {
		return nil, nil
	}
	return openAt(w, func(git *github.Repository) (sha, ref string, err error) {
		sha, err = git.Resolve(revision)
		return sha, revision, err
	})
}

// openForkPoint opens the files that the work in the workspace began with.
func openForkPoint(w *workspace) (*baseline, error) {
	b, err := openAt(w, (*github.Repository).ForkPoint)
	if err == nil {
		b.alone = b.ref == "HEAD"
	}
	return b, err
}

// openAt opens the files of the commit that a function chooses, and keeps what the
// function calls it.
func openAt(w *workspace, choose func(*github.Repository) (sha, ref string, err error)) (*baseline, error) {
	git, err := github.Open(w.dir)
	if err != nil {
		return nil, err
	}
	b := &baseline{git: git}
	if err := b.resolve(w, choose); err != nil {
		return nil, errors.Join(err, git.Close())
	}
	return b, nil
}

func (b *baseline) resolve(w *workspace, choose func(*github.Repository) (sha, ref string, err error)) error {
	sha, ref, err := choose(b.git)
	if err != nil {
		return err
	}
	b.ref = ref
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

func (b *baseline) revision() *model.Revision {
	if b == nil {
		return nil
	}
	return &model.Revision{Ref: b.ref, SHA: b.tree.SHA()}
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
// that it was compared with. Where it does not compare, or not all, reason says
// why, unless the pack has no baseline or there is none at all.
func (b *baseline) compare(ctx context.Context, w *workspace, u *repo.Unit, overrides []diffing.Override) (diff *diffing.Diff, name, reason string, err error) {
	if b == nil {
		return nil, "", "", nil
	}
	b.reading.Lock()
	old, err := b.find(ctx, w, u)
	b.reading.Unlock()
	if err != nil || old == nil {
		return nil, "", "", err
	}
	base, fault := b.open(w, old)
	why := b.say(base, fault)
	switch {
	case u.Pack == nil && base == nil:
		return nil, old.name, "neither the pack nor that of the base could be read; of the base: " + why, nil
	case u.Pack == nil:
		return nil, old.name, "the pack could not be read", nil
	case base == nil:
		return nil, old.name, "the pack of the base could not be read: " + why, nil
	}
	diff, err = diffing.Compare(base, u.Pack, overrides)
	switch {
	case errors.Is(err, diffing.ErrIncomparable) && fault == nil:
		return nil, old.name, "the pack has faults that leave open what it says", nil
	case errors.Is(err, diffing.ErrIncomparable) && len(u.Faults) > 0:
		return nil, old.name, "the pack and that of the base have faults that leave open what they say; in the base: " + why, nil
	case errors.Is(err, diffing.ErrIncomparable):
		return nil, old.name, "the pack of the base has a fault that leaves open what it says: " + why, nil
	case err != nil:
		return nil, "", "", err
	}
	reason, err = reservation(base)
	return diff, old.name, reason, err
}

// reservation says what is to be known of a comparison with a base that is no valid
// Context Pack, such as one from before there was a gate; "" for one that is. What
// can be read of it is compared.
func reservation(base *pack.Pack) (string, error) {
	violations, err := schemas.Validate("context-pack", base.Node.Any())
	if err != nil || len(violations) == 0 {
		return "", err
	}
	at, message := repo.Describe(base.Node.Document(), violations[0])
	text := fmt.Sprintf("the pack of the base is not valid, and compared as far as it can be read: %s:%d:%d (in %.7s): %s",
		at.File, at.Start.Line, at.Start.Column, at.Revision, message)
	if more := len(violations) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text, nil
}

// open reads a pack of the baseline, and returns the first fault that the reader
// found in it; nil where it found none. The pack is nil where it cannot be read.
func (b *baseline) open(w *workspace, f *packFile) (*pack.Pack, *pack.Fault) {
	doc, faults := pack.Read(w.files.Show(f.name), f.source, w.config.Limits)
	doc.Revision = b.tree.SHA()
	if len(faults) > 0 {
		return pack.New(doc), &faults[0]
	}
	return pack.New(doc), nil
}

// say words what is wrong with a pack of the baseline, with its place; "" where
// nothing is.
func (b *baseline) say(p *pack.Pack, fault *pack.Fault) string {
	switch {
	case fault != nil:
		at := fault.Location
		return fmt.Sprintf("%s:%d:%d (in %.7s): %s", at.File, at.Start.Line, at.Start.Column, b.tree.SHA(), fault.Message)
	case p == nil:
		return "its root is no object"
	}
	return ""
}

// find returns the file that a pack is compared with: that of its own name, unless
// it holds another pack and the first file that holds a pack of its pack_id stands
// elsewhere. A pack is who it says it is and not where it stands: moved to another
// folder it would otherwise be new, and nobody would see what else was changed on
// the way. Nil means a new pack.
func (b *baseline) find(ctx context.Context, w *workspace, u *repo.Unit) (*packFile, error) {
	src, ok, err := b.read(u.Name, w.config.Limits.MaxBytes)
	if err != nil {
		return nil, err
	}
	var own *packFile
	if ok {
		own = &packFile{u.Name, src}
	}
	if u.Pack == nil || !u.Pack.PackMeta.PackID.OK {
		return own, nil
	}
	id := u.Pack.PackMeta.PackID.Value
	if own != nil {
		if p, _ := b.open(w, own); p == nil || p.PackMeta.PackID.Value == id {
			return own, nil
		}
	}
	if b.byID == nil {
		if b.byID, err = b.index(ctx, w); err != nil {
			return nil, err
		}
	}
	if elsewhere := b.byID[id]; elsewhere != nil {
		return elsewhere, nil
	}
	return own, nil
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

// removed returns the pack files of the baseline that the workspace has no more,
// sorted; none where only a part of the workspace was asked for.
func (b *baseline) removed(ctx context.Context, w *workspace) ([]string, error) {
	if b == nil || !w.whole {
		return nil, nil
	}
	entries, err := b.tree.List(ctx, func(name string) bool {
		name, ok := b.relative(name)
		return ok && w.isPack(name) && !slices.Contains(w.packs, name)
	})
	var names []string
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		names = append(names, name)
	}
	return names, err
}

// noticeRemoved says what a removed pack leaves behind. One that was moved is none.
func (r *run) noticeRemoved(w *workspace, names []string) {
	for _, name := range names {
		if !r.moved[name] {
			r.notice("the pack %s is removed; versions that are published stay, deprecate them in the registry", w.files.Show(name))
		}
	}
}

// relative returns a path of the git repository relative to the workspace; ok is
// false where it lies outside.
func (b *baseline) relative(name string) (string, bool) {
	if b.prefix == "." {
		return name, true
	}
	return strings.CutPrefix(name, b.prefix+"/")
}

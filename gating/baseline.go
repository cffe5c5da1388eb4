package gating

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
)

// Baseline is the version that the packs of a workspace are compared with: the files of
// a commit. The nil baseline compares nothing.
type Baseline struct {
	*Commit
	w *Workspace
	// Alone says that it is the last commit, for want of a default branch that the
	// work could have begun with.
	Alone bool
	// ConfigName is the config file, relative to the root of the workspace.
	ConfigName string
	// reading is held by who reads its files: git objects are read by one at a time.
	reading sync.Mutex
	// byID holds its packs by pack_id; nil until it is needed.
	byID map[string]*packFile
	// listed is what it has of packs and the files beside them; nil until it is needed.
	listed *listing
}

// OpenBaseline opens the files of a git revision; nil for the revision "". The caller
// closes them.
func OpenBaseline(w *Workspace, revision string) (*Baseline, error) {
	if revision == "" {
		return nil, nil
	}
	return openBaseline(w, Revision(revision))
}

// OpenForkPoint opens the files that the work in the workspace began with. The caller
// closes them.
func OpenForkPoint(w *Workspace) (*Baseline, error) {
	b, err := openBaseline(w, forkPoint)
	if err == nil {
		b.Alone = b.Ref == "HEAD"
	}
	return b, err
}

func openBaseline(w *Workspace, choose Choice) (*Baseline, error) {
	c, err := OpenCommit(w.Dir, nil, choose)
	if err != nil {
		return nil, err
	}
	return &Baseline{Commit: c, w: w, ConfigName: w.ConfigName()}, nil
}

// Baseline returns the commit as that with which the packs of a workspace are compared.
// Closing it closes the commit.
func (c *Commit) Baseline(w *Workspace) (*Baseline, error) {
	prefix, err := prefixOf(c.Git, w.Dir)
	if err != nil {
		return nil, err
	}
	here := *c
	here.dir, here.prefix = w.Dir, prefix
	return &Baseline{Commit: &here, w: w, ConfigName: w.ConfigName()}, nil
}

// Close releases the repository. The nil baseline holds none.
func (b *Baseline) Close() error {
	if b == nil {
		return nil
	}
	return b.Commit.Close()
}

// Revision returns the baseline in the report's form; nil for the nil baseline.
func (b *Baseline) Revision() *model.Revision {
	if b == nil {
		return nil
	}
	return b.Commit.Revision()
}

// packFile is a pack file of the baseline: its name, relative to the root of the
// workspace, and its bytes.
type packFile struct {
	name   string
	source []byte
}

// identity says what packs are compared with. A commit never changes.
func (b *Baseline) identity() string {
	if b == nil {
		return ""
	}
	return fields(b.Tree.SHA(), b.prefix)
}

// Comparison is what came of comparing a pack with its baseline. All of it is empty
// where the pack has no baseline.
type Comparison struct {
	Diff *diffing.Diff // nil where nothing was compared
	File string        // of the baseline, with which the pack was compared
	// Reason says why it was not compared, or not all of it.
	Reason string
}

// Compare compares a pack with its baseline. Overrides are the config's of the class
// table. The error is for what could not be read of the git repository.
func (b *Baseline) Compare(ctx context.Context, u *repo.Unit, overrides []diffing.Override) (c Comparison, err error) {
	if b == nil {
		return c, nil
	}
	old, err := b.find(ctx, u)
	if err != nil || old == nil {
		return c, err
	}
	c.File = old.name
	base, fault := b.open(old)
	why := b.explain(base, fault)
	switch {
	case u.Pack == nil && base == nil:
		c.Reason = "neither the pack nor that of the base could be read; of the base: " + why
		return c, nil
	case u.Pack == nil:
		c.Reason = "the pack could not be read"
		return c, nil
	case base == nil:
		c.Reason = "the pack of the base could not be read: " + why
		return c, nil
	}
	c.Diff, err = diffing.Compare(base, u.Pack, overrides)
	switch {
	case errors.Is(err, diffing.ErrIncomparable) && fault == nil:
		c.Reason = "the pack has faults that leave open what it says"
	case errors.Is(err, diffing.ErrIncomparable) && len(u.Faults) > 0:
		c.Reason = "the pack and that of the base have faults that leave open what they say; in the base: " + why
	case errors.Is(err, diffing.ErrIncomparable):
		c.Reason = "the pack of the base has a fault that leaves open what it says: " + why
	case err != nil:
		return Comparison{}, err
	default:
		c.Reason, err = reservation(base)
		return c, err
	}
	return c, nil
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
func (b *Baseline) open(f *packFile) (*pack.Pack, *pack.Fault) {
	doc, faults := pack.Read(b.w.Files.Show(f.name), f.source, b.w.Config.Limits)
	doc.Revision = b.Tree.SHA()
	if len(faults) > 0 {
		return pack.New(doc), &faults[0]
	}
	return pack.New(doc), nil
}

// explain words what is wrong with a pack of the baseline, with its place; "" where
// nothing is.
func (b *Baseline) explain(p *pack.Pack, fault *pack.Fault) string {
	switch {
	case fault != nil:
		at := fault.Location
		return fmt.Sprintf("%s:%d:%d (in %.7s): %s", at.File, at.Start.Line, at.Start.Column, b.Tree.SHA(), fault.Message)
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
func (b *Baseline) find(ctx context.Context, u *repo.Unit) (*packFile, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	src, ok, err := b.Read(u.Name, b.w.Config.Limits.MaxBytes)
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
		if p, _ := b.open(own); p == nil || p.PackMeta.PackID.Value == id {
			return own, nil
		}
	}
	if b.byID == nil {
		if b.byID, err = b.index(ctx); err != nil {
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
func (b *Baseline) index(ctx context.Context) (map[string]*packFile, error) {
	entries, err := b.list(ctx, b.w.IsPack)
	if err != nil {
		return nil, err
	}
	byID := map[string]*packFile{}
	for _, e := range entries {
		if e.Kind != github.KindFile {
			continue
		}
		src, ok, err := b.Read(e.Path, b.w.Config.Limits.MaxBytes)
		if errors.Is(err, github.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := &packFile{e.Path, src}
		if p, _ := b.open(f); ok && p != nil && byID[p.PackMeta.PackID.Value] == nil {
			byID[p.PackMeta.PackID.Value] = f
		}
	}
	delete(byID, "")
	return byID, nil
}

package gating

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/workflows"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
)

// Baseline is the version that the packs of a workspace are compared with: the files of
// a commit. The nil baseline compares nothing.
type Baseline struct {
	*Commit
	w *Workspace
	// Alone is set if it is the last commit because there is no default branch that the work could
	// have started from.
	Alone bool
	// ConfigName is the config file, relative to the root of the workspace.
	ConfigName string
	// Open opens other commits.
	Open Trees
	// reading is held while its files are read: only one goroutine at a time may read git objects.
	reading sync.Mutex
	// byID holds its packs by pack_id; nil until it is needed.
	byID map[string]*packFile
	// listed is its packs and the files beside them; nil until it is needed.
	listed *listing
	// line is its history; nil until it is needed.
	line *lineage
	// running is how its workflows run packgate; nil until it is needed.
	running *workflows.Gates
}

// OpenBaseline opens a git revision as the baseline of a workspace; it returns nil for the revision
// "". The caller closes the baseline.
func OpenBaseline(w *Workspace, revision string) (*Baseline, error) {
	if revision == "" {
		return nil, nil
	}
	return openBaseline(w, Revision(revision))
}

// OpenForkPoint opens the commit that the work in the workspace started from as its baseline. The
// caller closes the baseline.
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
	return newBaseline(c, w), nil
}

// newBaseline returns a commit as a baseline that opens only commits of the clone.
func newBaseline(c *Commit, w *Workspace) *Baseline {
	return &Baseline{Commit: c, w: w, ConfigName: w.ConfigName(), Open: func(_ context.Context, sha string) (*github.Tree, error) {
		return c.Git.Tree(sha)
	}}
}

// Baseline returns the commit as the baseline of a workspace. Closing the baseline closes the commit.
func (c *Commit) Baseline(w *Workspace) (*Baseline, error) {
	prefix, err := prefixOf(c.Git, w.Dir)
	if err != nil {
		return nil, err
	}
	here := *c
	here.dir, here.prefix = w.Dir, prefix
	return newBaseline(&here, w), nil
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

// packFile is a pack file of a commit: its name, relative to the root of the workspace,
// and its bytes.
type packFile struct {
	at     *Commit
	name   string
	source []byte
	why    string // why it cannot be read although it is there; "" if it can be read
	module bool   // it is in a submodule, whose files no commit has
}

// identity tells the baseline from others, for the cache. A commit never changes.
func (b *Baseline) identity() string {
	if b == nil {
		return ""
	}
	return fields(b.Tree.SHA(), b.prefix)
}

// Comparison is the result of comparing a pack with its baseline. It is empty if the pack has no
// baseline.
type Comparison struct {
	Diff *diffing.Diff // nil where nothing was compared
	File string        // of the baseline, with which the pack was compared
	// Reason is why it was not compared, or not all of it.
	Reason string
	// unread is about a version of the baseline that could not be read, and what was done instead;
	// nil if it could be read, and for a pack that the baseline never had.
	unread    *version.Unread
	from      *packFile // what File names; nil where there is nothing, or a published version
	published *Release  // that the pack was compared with, because no commit has it; nil for none
	searched  bool      // commits before the baseline were looked at, as far as the clone has them
	// absent is set if the baseline does not have the pack, so that all of it is new to agents, and it
	// is compared with an earlier version nevertheless.
	absent bool
}

// findings returns the finding about a version of the baseline that could not be read (VER011).
func (c *Comparison) findings() []finding.Finding {
	if c.unread == nil {
		return nil
	}
	return []finding.Finding{c.unread.Finding()}
}

// Compare compares a pack with its baseline. If the baseline's version cannot be read, or the baseline
// no longer has the pack, the newest earlier version that can be read takes its place. The overrides
// are those of the class table by the config. The error is for a git repository that could not be read.
func (b *Baseline) Compare(ctx context.Context, u *repo.Unit, overrides []diffing.Override) (c Comparison, err error) {
	if b == nil {
		return c, nil
	}
	old, err := b.find(ctx, u)
	if err != nil || old == nil && u.Pack == nil {
		return c, err
	}
	if u.Pack == nil {
		return Comparison{File: old.name, from: old, Reason: "the pack could not be read"}, nil
	}
	var base *pack.Pack
	why := ""
	if old != nil {
		base, why = b.readable(old)
	}
	if base == nil {
		was := old
		if old, c.unread, err = b.instead(ctx, u, was, why); err != nil {
			return c, err
		}
		c.searched = true
		if old == nil {
			if was != nil {
				c.Reason = "the pack of the base could not be read: " + why
			}
			return c, nil
		}
		base, _ = b.readable(old)
		c.absent = was == nil
	}
	c.File, c.from = old.name, old
	if err = c.between(base, u.Pack, overrides, b.w.Environments); err == nil && c.Diff != nil {
		c.Reason, err = reservation(base)
	}
	return c, err
}

// between compares two versions of a pack, and notes why if one of them has faults.
func (c *Comparison) between(base, head *pack.Pack, overrides []diffing.Override, environments []*repo.Environment) (err error) {
	c.Diff, err = diffing.Compare(base, head, overrides, repo.Writing(environments)...)
	if errors.Is(err, diffing.ErrIncomparable) {
		c.Diff, c.Reason = nil, "the pack has faults that leave open what it says"
		return nil
	}
	return err
}

// reservation returns what the reader of a comparison has to know if the base is not a valid Context
// Pack, such as one from before there was a gate; "" if it is valid. What can be read of it is compared.
func reservation(base *pack.Pack) (string, error) {
	violations, err := schemas.Validate("context-pack", base.Node.Any())
	if err != nil || len(violations) == 0 {
		return "", err
	}
	at, message := repo.Describe(base.Node.Document(), violations[0])
	text := fmt.Sprintf("the pack of the base is not valid, and is compared as far as it can be read: %s:%d:%d (in %.7s): %s",
		at.File, at.Start.Line, at.Start.Column, at.Revision, message)
	if more := len(violations) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text, nil
}

// open reads a pack, and returns the first fault that the reader found in it, nil for none. The pack is
// nil if it cannot be read.
func (b *Baseline) open(f *packFile) (*pack.Pack, *pack.Fault) {
	doc, faults := pack.Read(b.w.Files.Show(f.name), f.source, b.w.Config.Limits)
	doc.Revision = f.at.Tree.SHA()
	p := pack.New(doc)
	b.w.Config.Share(p)
	if len(faults) > 0 {
		return p, &faults[0]
	}
	return p, nil
}

// readable reads a pack that can be compared with; otherwise it returns nil, and why.
func (b *Baseline) readable(f *packFile) (p *pack.Pack, why string) {
	if f.why != "" {
		return nil, f.why
	}
	p, fault := b.open(f)
	switch {
	case fault != nil:
		at := fault.Location
		return nil, fmt.Sprintf("%s:%d:%d (in %.7s): %s", at.File, at.Start.Line, at.Start.Column, f.at.Tree.SHA(), fault.Message)
	case p == nil:
		return nil, "its root is not an object"
	}
	return p, ""
}

// file reads a pack file of a commit; nil if the commit has nothing of that name.
func (b *Baseline) file(c *Commit, name string) (*packFile, error) {
	src, ok, err := c.Read(name, b.w.Config.Limits.MaxBytes)
	var other *github.NotFileError
	switch {
	case errors.As(err, &other) && other.Kind == github.KindSubmodule:
		return &packFile{at: c, name: name, why: fmt.Sprintf("it is in the submodule %s, whose files no commit of this repository has", other.At), module: true}, nil
	case errors.Is(err, github.ErrTooLarge), errors.Is(err, fs.ErrInvalid):
		return &packFile{at: c, name: name, why: err.Error()}, nil
	case err != nil || !ok:
		return nil, err
	}
	return &packFile{at: c, name: name, source: src}, nil
}

// find returns the file of the baseline that a pack is compared with: the file of the same name, unless
// that holds another pack and another file holds the pack's pack_id. A pack is identified by its
// pack_id and not by its place: if it moved to another folder it would otherwise be new, and nobody
// would see what else was changed on the way. Nil means a new pack.
func (b *Baseline) find(ctx context.Context, u *repo.Unit) (*packFile, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	own, err := b.file(b.Commit, u.Name)
	if err != nil {
		return nil, err
	}
	if u.Pack == nil || !u.Pack.PackMeta.PackID.OK {
		return own, nil
	}
	id := u.Pack.PackMeta.PackID.Value
	if own != nil {
		if p, _ := b.readable(own); p == nil || p.PackMeta.PackID.Value == id {
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
		f, err := b.file(b.Commit, e.Path)
		if err != nil {
			return nil, err
		}
		if f == nil || f.why != "" {
			continue
		}
		if p, _ := b.open(f); p != nil && byID[p.PackMeta.PackID.Value] == nil {
			byID[p.PackMeta.PackID.Value] = f
		}
	}
	delete(byID, "")
	return byID, nil
}

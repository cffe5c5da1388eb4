package gating

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/go-git/go-git/v5/plumbing"
)

// The bounds of the search for a version before the baseline's: commits, and pack files
// that changed in them.
const (
	mostGenerations = 50
	mostEarlier     = 2000
)

// lineage is the history of a baseline: its first parents, the newest first.
type lineage struct {
	generations []generation
	cut         bool // the clone does not have the next one
}

// generation is a commit, with those of its packs that the next one changes or no longer has: their
// files by pack_id.
type generation struct {
	*Commit
	byID map[string]string
}

// ancestors returns the history of the baseline. The caller holds reading.
func (b *Baseline) ancestors(ctx context.Context) (*lineage, error) {
	if b.line != nil {
		return b.line, nil
	}
	l, child, read := &lineage{}, b.Commit, 0
	for len(l.generations) < mostGenerations && read < mostEarlier {
		tree, err := child.Tree.Parent()
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			l.cut = true
			break
		}
		if err != nil {
			return nil, err
		}
		if tree == nil {
			break
		}
		parent := *b.Commit
		parent.Tree, parent.Ref = tree, ""
		byID, err := b.replaced(ctx, &parent, child)
		if err != nil {
			return nil, err
		}
		read += len(byID)
		l.generations = append(l.generations, generation{&parent, byID})
		child = &parent
	}
	b.line = l
	return l, nil
}

// replaced returns the packs of a commit that the next one changes or no longer has.
func (b *Baseline) replaced(ctx context.Context, parent, child *Commit) (map[string]string, error) {
	changes, err := github.Between(ctx, parent.Tree, child.Tree)
	if err != nil {
		return nil, err
	}
	byID := map[string]string{}
	for _, c := range changes {
		name, ok := b.Relative(c.Path)
		if !ok || c.Kind == github.Added || !b.w.IsPack(name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := b.file(parent, name)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if p, _ := b.readable(f); p != nil && byID[p.PackMeta.PackID.Value] == "" {
			byID[p.PackMeta.PackID.Value] = name
		}
	}
	delete(byID, "")
	return byID, nil
}

// instead returns the newest version of a pack before the baseline's that can be read, with a note
// about that; nil if there is none. Unread is the version that cannot be read, nil if the baseline
// has none: then the pack is new, unless it was there before.
func (b *Baseline) instead(ctx context.Context, u *repo.Unit, unread *packFile, why string) (*packFile, *version.Unread, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	l, err := b.ancestors(ctx)
	if err != nil {
		return nil, nil, err
	}
	note := &version.Unread{
		File: u.Document.File, What: "the version of the base cannot be read (" + why + ")", Cut: l.cut,
		Otherwise: "it is judged as a first version (class initial)",
	}
	if unread == nil {
		note.What = "the base no longer has this pack"
	}
	for i := range l.generations {
		f, err := b.ofGeneration(&l.generations[i], u, unread != nil)
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			note.Instead = f.at.Tree.SHA()
			return f, note, nil
		}
	}
	if unread == nil {
		return nil, nil, nil
	}
	note.Pointer = pack.IsPointer(unread.source)
	note.Cut = note.Cut && !unread.module
	return nil, note, nil
}

// ofGeneration returns the version of a pack in a commit, nil if it cannot be read: the file of the
// same name if own is set, or else the replaced file that has its pack_id.
func (b *Baseline) ofGeneration(g *generation, u *repo.Unit, own bool) (*packFile, error) {
	if own {
		f, err := b.file(g.Commit, u.Name)
		if err != nil {
			return nil, err
		}
		if f != nil {
			if p, _ := b.readable(f); p != nil {
				return f, nil
			}
		}
	}
	if name := g.byID[u.Pack.PackMeta.PackID.Value]; name != "" {
		return b.file(g.Commit, name)
	}
	return nil, nil
}

// gap is what cannot be read of a version and the files beside it.
type gap struct {
	why     string
	pointer bool // it is a Git LFS pointer
}

// whole reads a version as subject does, and also returns what of it cannot be read, nil if all of it
// can. The subject is nil if nothing is known of it.
func (b *Baseline) whole(c *Commit, name string) (*gate.Subject, *gap, error) {
	s, lacks, err := b.subject(c, name)
	switch {
	case errors.Is(err, repo.ErrUse):
		return nil, &gap{why: err.Error(), pointer: strings.Contains(err.Error(), pack.PointerMessage)}, nil
	case err != nil:
		return nil, nil, err
	}
	for _, f := range s.Unit.Files {
		if f.Document.Root == nil && len(f.Faults) > 0 {
			return s, &gap{f.Document.File + ": " + f.Faults[0].Message, pack.IsPointer(f.Document.Source)}, nil
		}
	}
	return s, lacks, nil
}

// wholeBefore returns the newest version before the one that a pack is compared with whose files can
// all be read, nil if there is none, with the finding about that.
func (b *Baseline) wholeBefore(ctx context.Context, j *judged, lacks *gap) (*gate.Subject, []finding.Finding, error) {
	from := j.compared.from
	b.reading.Lock()
	l, err := b.ancestors(ctx)
	b.reading.Unlock()
	if err != nil {
		return nil, nil, err
	}
	j.compared.searched = true
	note := version.Unread{
		File: j.subject.Unit.Document.File, Cut: l.cut, Pointer: lacks.pointer, Otherwise: "what that version proved is not known",
		What: fmt.Sprintf("the files beside the version in %.7s cannot all be read (%s)", from.at.Tree.SHA(), lacks.why),
	}
	first := 1 + slices.IndexFunc(l.generations, func(g generation) bool { return g.Commit == from.at })
	for _, g := range l.generations[first:] {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s, lacks, err := b.whole(g.Commit, from.name)
		switch {
		case err != nil:
			return nil, nil, err
		case lacks == nil && s.Pack != nil:
			note.Instead = g.Tree.SHA()
			return s, []finding.Finding{note.Finding()}, nil
		}
	}
	return nil, []finding.Finding{note.Finding()}, nil
}

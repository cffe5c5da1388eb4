package gating

import (
	"context"
	"slices"
	"strings"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Trees opens a commit by its SHA, from the clone or from wherever else it can be fetched.
type Trees func(ctx context.Context, sha string) (*github.Tree, error)

// Alike reports whether gating reads the same files in two commits of a pull request: in the commits
// themselves, and in the commits where they branched off the baseline's history. If cut is set,
// neither the clone nor the API has enough of that history to tell. False for both may also mean that
// it is not certain.
func (b *Baseline) Alike(ctx context.Context, earlier, head string) (same, cut bool) {
	if !b.sameToGating(ctx, earlier, head) {
		return false, false
	}
	was, known, err := b.Git.MergeBase(ctx, b.Tree.SHA(), earlier)
	if err != nil || !known {
		return false, err == nil
	}
	is, known, err := b.Git.MergeBase(ctx, b.Tree.SHA(), head)
	if err != nil || !known {
		return false, err == nil
	}
	return b.sameToGating(ctx, was, is), false
}

func (b *Baseline) sameToGating(ctx context.Context, one, other string) bool {
	if one == other {
		return true
	}
	x, err := b.Open(ctx, one)
	if err != nil {
		return false
	}
	y, err := b.Open(ctx, other)
	if err != nil {
		return false
	}
	names, ok := between(ctx, x, y)
	return ok && !slices.ContainsFunc(names, b.mayBeRead)
}

// between returns the names of files that differ between two commits, and the names by which links
// lead to them; ok is false if a link or a submodule differs, or if the difference is not known.
func between(ctx context.Context, x, y *github.Tree) (names []string, ok bool) {
	changes, err := github.Between(ctx, x, y)
	if err != nil {
		return nil, false
	}
	changed := map[string]bool{}
	for _, c := range changes {
		changed[c.Path] = true
	}
	var links []github.Link
	for _, t := range []*github.Tree{x, y} {
		own, err := t.Links(ctx)
		if err != nil || slices.ContainsFunc(own, func(l github.Link) bool { return changed[l.Path] }) {
			return nil, false
		}
		files, err := t.List(ctx, func(name string) bool { return changed[name] })
		if err != nil || slices.ContainsFunc(files, func(e github.Entry) bool { return e.Kind != github.KindFile }) {
			return nil, false
		}
		links = append(links, own...)
	}
	reached, all := reach(changes, links)
	for name := range reached {
		names = append(names, name)
	}
	return names, !all
}

// mayBeRead reports whether gating may read the file of a name in the git repository, or is run by it.
func (b *Baseline) mayBeRead(name string) bool {
	here, inside := b.Relative(name)
	return strings.HasPrefix(name, ".github/") || b.calls(name) ||
		inside && (repo.MayHoldPack(here) || b.w.IsPack(here) || b.w.IsCatalog(here) || here == b.ConfigName || b.w.isTrustedRoot(here))
}

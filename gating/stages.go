package gating

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/go-git/go-git/v5/plumbing"
)

// mostStages bounds the commits between a baseline and a head.
const mostStages = 1000

// Stage is a part of the history between a baseline and a head: one step from a first parent to its
// child, or several in a row.
type Stage struct{ From, To *github.Tree }

// Head returns the stage from the baseline to the commit that is checked out.
func (b *Baseline) Head() (Stage, error) {
	sha, err := b.Git.Resolve("HEAD")
	if err != nil {
		return Stage{}, err
	}
	head, err := b.Git.Tree(sha)
	return Stage{b.Tree, head}, err
}

// Stages returns the steps from the baseline to a commit, by first parents, the oldest first. It is an
// error if the first parents of the commit do not lead to the baseline (github.ErrRejected), or if the
// clone does not have them (github.ErrIncomplete).
func (b *Baseline) Stages(ctx context.Context, head *github.Tree) (list []Stage, err error) {
	for to := head; to.SHA() != b.Tree.SHA(); {
		from, err := parent(ctx, to, fmt.Sprintf("from %.7s to %.7s", b.Tree.SHA(), head.SHA()))
		if err != nil {
			return nil, err
		}
		if from == nil || len(list) == mostStages {
			return nil, &fault.Error{Kind: github.ErrRejected,
				Message: fmt.Sprintf("%.7s is not one of the %d first parents of %.7s that packgate read", b.Tree.SHA(), len(list), head.SHA()),
				Hint:    "merge into the default branch, and do not push to it with force"}
		}
		list = append(list, Stage{from, to})
		to = from
	}
	slices.Reverse(list)
	return list, nil
}

// parent returns the first parent of a commit; nil if it has none. If the clone does not have it, the
// error tells whose history is missing.
func parent(ctx context.Context, of *github.Tree, history string) (*github.Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	tree, err := of.Parent()
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, &fault.Error{Kind: github.ErrIncomplete, Cause: err,
			Message: "this clone does not have the history " + history,
			Hint:    "set `fetch-depth: 0` on actions/checkout"}
	}
	return tree, err
}

// At returns a baseline like b at another commit.
func (b *Baseline) At(tree *github.Tree) *Baseline {
	c := *b.Commit
	c.Tree, c.Ref = tree, ""
	return &Baseline{Commit: &c, w: b.w, ConfigName: b.ConfigName, Open: b.Open}
}

// Reads reports whether gating may read anything that a stage changed. True may also mean that it is
// not certain.
func (b *Baseline) Reads(ctx context.Context, s Stage) bool {
	names, ok := between(ctx, s.From, s.To)
	return !ok || slices.ContainsFunc(names, b.mayBeRead)
}

// Concerns reports whether the gating of a pack reads anything that a stage changed. True may also mean
// that it is not certain.
func (b *Baseline) Concerns(ctx context.Context, s Stage, pack string) bool {
	names, ok := between(ctx, s.From, s.To)
	return !ok || slices.ContainsFunc(names, func(name string) bool {
		here, inside := b.Relative(name)
		return inside && (repo.Belongs(pack, here) || repo.Holds(pack, here) || b.w.IsCatalog(here) || here == b.ConfigName)
	})
}

// Brings reports whether every file that a stage changed, and that gating may read, is as a commit of a
// pull request has it, so that nothing else came with it. False may also mean that it is not certain.
func (b *Baseline) Brings(ctx context.Context, s Stage, commit string) bool {
	proposed, err := b.Open(ctx, commit)
	if err != nil {
		return false
	}
	changed, ok := between(ctx, s.From, s.To)
	others, known := between(ctx, proposed, s.To)
	return ok && known && !slices.ContainsFunc(changed, func(name string) bool {
		return b.mayBeRead(name) && slices.Contains(others, name)
	})
}

// Whole reports whether a stage changed all of the files that a pull request changes, as far as gating
// may read them. False may also mean that it is not certain.
func (b *Baseline) Whole(ctx context.Context, s Stage, files []github.ChangedFile) bool {
	names, ok := between(ctx, s.From, s.To)
	lacks := func(name string) bool { return name != "" && b.mayBeRead(name) && !slices.Contains(names, name) }
	return ok && !slices.ContainsFunc(files, func(f github.ChangedFile) bool { return lacks(f.Path) || lacks(f.Previous) })
}

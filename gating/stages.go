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

// Stage is a part of the history between a baseline and a head: what one first parent, or
// several one after another, brought.
type Stage struct{ From, To *github.Tree }

// Head returns all that is between the baseline and the commit that is checked out.
func (b *Baseline) Head() (Stage, error) {
	sha, err := b.Git.Resolve("HEAD")
	if err != nil {
		return Stage{}, err
	}
	head, err := b.Git.Tree(sha)
	return Stage{b.Tree, head}, err
}

// Stages returns what brought the baseline to a commit, by the first parents of that, the
// oldest first. It is an error where these do not lead to the baseline, or where the clone
// does not have them.
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

// parent returns the first parent of a commit; nil where it has none. Where the clone does not
// have it, the error says whose history is missing.
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

// At returns the baseline with another commit in its place.
func (b *Baseline) At(tree *github.Tree) *Baseline {
	c := *b.Commit
	c.Tree, c.Ref = tree, ""
	return &Baseline{Commit: &c, w: b.w, ConfigName: b.ConfigName, Open: b.Open}
}

// Reads reports whether gating may read anything of what a stage brought.
func (b *Baseline) Reads(ctx context.Context, s Stage) bool {
	names, ok := between(ctx, s.From, s.To)
	return !ok || slices.ContainsFunc(names, b.mayBeRead)
}

// Concerns reports whether the gating of a pack reads anything of what a stage brought.
func (b *Baseline) Concerns(ctx context.Context, s Stage, pack string) bool {
	names, ok := between(ctx, s.From, s.To)
	return !ok || slices.ContainsFunc(names, func(name string) bool {
		here, inside := b.Relative(name)
		return inside && (repo.Belongs(pack, here) || repo.Holds(pack, here) || b.w.IsCatalog(here) || here == b.ConfigName)
	})
}

// Brings reports whether all that gating may read of what a stage brought is as a commit of a
// pull request has it, so that nothing else came with it. False also means that it is not
// certain.
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

// Whole reports whether a stage brought all of the files that a pull request changes, as far
// as gating may read them.
func (b *Baseline) Whole(ctx context.Context, s Stage, files []github.ChangedFile) bool {
	names, ok := between(ctx, s.From, s.To)
	lacks := func(name string) bool { return name != "" && b.mayBeRead(name) && !slices.Contains(names, name) }
	return ok && !slices.ContainsFunc(files, func(f github.ChangedFile) bool { return lacks(f.Path) || lacks(f.Previous) })
}

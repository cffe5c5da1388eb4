package gating

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/go-git/go-git/v5/plumbing"
)

// Pins reads a pins file of the baseline by its name; nil where it has none. The error is of
// kind repo.ErrUse where it is not valid.
func (b *Baseline) Pins(name string) (*repo.Pins, error) {
	src, ok, err := b.Read(name, b.w.Config.Limits.MaxBytes)
	if err != nil || !ok {
		return nil, err
	}
	pins, err := repo.ParsePins(b.w.Files.Show(name), src, b.w.Config.Limits)
	return pins, OfSide(fmt.Sprintf("the pins of %.7s", b.Tree.SHA()), err)
}

// EnvironmentsAt returns the environments of a commit; none for nil. What cannot be read of
// them nobody could have relied on.
func (b *Baseline) EnvironmentsAt(tree *github.Tree) ([]*repo.Environment, error) {
	if tree == nil {
		return nil, nil
	}
	files, err := b.At(tree).files(b.prefix, b.w.Files.Prefix)
	if err != nil {
		return nil, err
	}
	environments, err := files.Environments(b.w.Config)
	if errors.Is(err, repo.ErrUse) {
		err = nil
	}
	return environments, err
}

// Brought returns what brought the line of a pack to a pins file of the baseline as it is,
// by the first parents of that: the newest stage before which it was another one, or which
// began the file. Its From is nil where it is in the first commit of all.
func (b *Baseline) Brought(ctx context.Context, name, packID string, line *repo.Pinned) (s Stage, err error) {
	s.To = b.Tree
	for range mostStages {
		if err := ctx.Err(); err != nil {
			return Stage{}, err
		}
		from, err := s.To.Parent()
		switch {
		case errors.Is(err, plumbing.ErrObjectNotFound):
			return Stage{}, &fault.Error{Kind: github.ErrIncomplete, Cause: err,
				Message: fmt.Sprintf("this clone does not have the history of %s", b.w.Files.Show(name)),
				Hint:    "set `fetch-depth: 0` on actions/checkout"}
		case err != nil || from == nil:
			return s, err
		}
		s.From = from
		pins, err := b.At(from).Pins(name)
		if err != nil && !errors.Is(err, repo.ErrUse) {
			return Stage{}, err
		}
		if err != nil || pins == nil || !sameLine(pins.Pinned(packID), line) {
			return s, nil
		}
		s = Stage{To: from}
	}
	return Stage{}, &fault.Error{Kind: github.ErrRejected,
		Message: fmt.Sprintf("none of the last %d commits brought the line of %q to %s", mostStages, packID, b.w.Files.Show(name)),
		Hint:    "propose it again in a pull request"}
}

// sameLine reports whether two lines say the same; nil is none.
func sameLine(a, b *repo.Pinned) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Version == b.Version && a.Digest == b.Digest
}

// PromotionOf returns a line of a pins file as what an environment is to run, nil for none, by
// the rules of the environment's catalogs.
func PromotionOf(environment, packID string, wanted *repo.Pinned, environments []*repo.Environment) *Promotion {
	return &Promotion{Environment: environment, Pack: packID, Wanted: wanted, catalogs: catalogsOf(environments, environment)}
}

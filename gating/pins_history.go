package gating

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Pins reads a pins file of the baseline by its name; nil if it has none. If the file is not valid,
// the error matches repo.ErrUse.
func (b *Baseline) Pins(name string) (*repo.Pins, error) {
	src, ok, err := b.Read(name, b.w.Config.Limits.MaxBytes)
	if err != nil || !ok {
		return nil, err
	}
	pins, err := repo.ParsePins(b.w.Files.Show(name), src, b.w.Config.Limits)
	return pins, OfSide(fmt.Sprintf("the pins of %.7s", b.Tree.SHA()), err)
}

// Brought returns the stage that gave a pins file of the baseline its present line for a pack, by
// first parents: the newest stage before which the line was different, or which added the file. Its
// From is nil if that is the first commit of all. It is an error if none of the last commits did, or if
// the clone does not have them.
func (b *Baseline) Brought(ctx context.Context, name, packID string, line *repo.Pinned) (s Stage, err error) {
	s.To = b.Tree
	for range mostStages {
		from, err := parent(ctx, s.To, "of "+b.w.Files.Show(name))
		if err != nil || from == nil {
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

// sameLine reports whether two lines are equal; nil is none.
func sameLine(a, b *repo.Pinned) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Version == b.Version && a.Digest == b.Digest
}

// PromotionOf returns a line of a pins file (nil for none) as a promotion, under the rules of the
// environment's catalogs as they are, and as they were before the line was added.
func (b *Baseline) PromotionOf(environment, packID string, wanted *repo.Pinned, brought Stage) (*Promotion, error) {
	p := &Promotion{Environment: environment, Pack: packID, Wanted: wanted}
	if brought.From != nil {
		before, err := b.rulesAt(brought.From, environment)
		if err != nil {
			return nil, err
		}
		p.catalogs = before.catalogs
	}
	p.catalogs = append(p.catalogs, catalogsOf(b.w.Environments, environment)...)
	return p, nil
}

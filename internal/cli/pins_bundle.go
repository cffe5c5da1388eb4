package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
)

// same looks at a line that was applied: where an overlay or the catalog changed alone, the version
// has a newer bundle than the one that runs, and the environment is moved to it. The version is the
// same, so it need not run elsewhere first; who approves a line approves this, in each pull request
// that changed a file that the bundle is made of. A rollback holds until its line is changed.
func (l *line) same(ctx context.Context) error {
	last := l.is.Last
	if l.want == nil || last == nil || last.Stopped || last.By == statement.ByRollback || l.is.Verdict == nil || !l.usable() {
		return l.finish(ctx)
	}
	target, err := l.wanted(ctx)
	if err != nil {
		return err
	}
	now, next := l.is.Verdict.Build, target.Verdict.Build
	switch {
	case next == nil || l.is.Verdict.Manifest != target.Verdict.Manifest:
		return l.finish(ctx)
	case now == nil && last.By != statement.ByPinsFile: // an earlier packgate pinned the version alone
		return l.finish(ctx)
	case now != nil && now.Statement.Manifest == next.Statement.Manifest:
		return l.finish(ctx)
	}
	if last.Commit != "" {
		if err := l.after(ctx); err != nil {
			return err
		}
	}
	approvals, reason, err := l.rebuilt(ctx, now, next)
	if err != nil {
		return err
	}
	return l.move(ctx, publish.PinChange{Actor: l.house.actor(), Reason: reason, Commit: l.reviews.base.Ref, Approvals: approvals})
}

// rebuilt holds a move to another bundle of the version that runs against the rules, and returns who
// has approved it.
func (l *line) rebuilt(ctx context.Context, now, next *publish.Build) (approvals []statement.Approval, reason string, err error) {
	stages, err := l.changedSources(ctx, now, next)
	if err != nil {
		return nil, "", err
	}
	still, err := l.reviews.heldRules(ctx, l.e.Name())
	if err != nil {
		return nil, "", err
	}
	reasons := []string{next.Name.String()}
	for _, stage := range stages {
		p, err := l.reviews.base.PromotionOf(l.e.Name(), l.pack, l.want, stage)
		if err != nil {
			return nil, "", err
		}
		held := still.add(p)
		m := p.Move()
		m.Demands = nil // it runs already
		if err := l.stands(ctx, m, held); err != nil {
			return nil, "", err
		}
		given, why, err := l.approved(ctx, p, still, stage)
		if err != nil {
			return nil, "", withNotes(err, held)
		}
		approvals = append(approvals, given...)
		if why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return approvalsOnce(approvals), strings.Join(reasons, ", "), nil
}

// changedSources returns the parts of the history, since the bundle that runs was signed, that
// changed a file of which the next one is made in another way.
func (l *line) changedSources(ctx context.Context, now, next *publish.Build) (stages []gating.Stage, err error) {
	from, before := l.is.Last.Commit, []statement.SourceFile(nil)
	if now != nil {
		from, before = now.Statement.Source.Commit, now.Statement.Sources
	}
	after := next.Statement.Sources
	changed := func(path string) bool {
		of := func(sources []statement.SourceFile) int {
			return slices.IndexFunc(sources, func(s statement.SourceFile) bool { return s.Path == path })
		}
		i, j := of(before), of(after)
		return i != j && (i < 0 || j < 0) || i >= 0 && before[i] != after[j]
	}
	if from == "" {
		return nil, refusedBecause("promote the version again", "nobody can tell at which commit the bundle was signed that the environment runs")
	}
	start, err := l.reviews.base.Open(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("the bundle that the environment runs was signed at commit %.7s, which cannot be read: %w", from, err)
	}
	all, err := l.reviews.base.At(start).Stages(ctx, l.reviews.base.Tree)
	if err != nil {
		return nil, noReview(err)
	}
	for _, stage := range all {
		changes, err := github.Between(ctx, stage.From, stage.To)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(changes, func(c github.Change) bool { return changed(c.Path) }) {
			stages = append(stages, stage)
		}
	}
	if len(stages) == 0 {
		return nil, refusedBecause("propose the overlay or the catalog again in a pull request", "nobody can tell which commit since %.7s changed what %q is made of", from, next.Name)
	}
	return stages, nil
}

package cli

import (
	"context"
	"errors"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/report/model"
)

// withNotes adds to a refusal what is to be said of rules that still hold.
func withNotes(err error, held []model.Problem) error {
	if refusal := new(refusedError); errors.As(err, &refusal) {
		return &refusedError{append(refusal.problems, held...)}
	}
	return err
}

// stands holds a move against the rules of the environment; held is what to say of those that still
// hold.
func (l *line) stands(ctx context.Context, m promotion.Move, held []model.Problem) error {
	asked := records{func() (*publish.Checker, error) { return l.Checker(), nil }}
	lookup := &gating.Lookup{Published: asked.published, Running: asked.running}
	judged, err := lookup.JudgeMove(ctx, m, l.w.Environments, l.env.Now())
	if err != nil || len(judged.Found) == 0 {
		return err
	}
	var problems []model.Problem
	for _, f := range judged.Found {
		problems = append(problems, problemAt(f.Location, f.Rule+": "+f.Message, f.Hint))
	}
	return &refusedError{append(problems, held...)}
}

// approved returns who has approved what a stage of the history makes the environment run: the roles
// that the rules require, and those that reviews require for the class of the change.
func (l *line) approved(ctx context.Context, p *gating.Promotion, still *heldRules, stage gating.Stage) ([]statement.Approval, string, error) {
	ofClass, notes, err := l.classRoles(ctx, still, stage)
	if err != nil {
		return nil, "", err
	}
	approvals, reason, err := l.reviews.stageApprovals(ctx, l.e.Name(), stage, gating.RolesOnce(p.Roles(), ofClass))
	return approvals, reason, withNotes(err, notes)
}

// classRoles returns the roles that reviews require for the class of what a line changes in its
// environment, by the config before the line and by what still holds, and what to say of the
// latter.
func (l *line) classRoles(ctx context.Context, held *heldRules, stage gating.Stage) (roles []string, notes []model.Problem, err error) {
	config := l.w.Config
	if stage.From != nil {
		if config, err = l.reviews.configAt(ctx, stage.From.SHA()); err != nil {
			return nil, nil, err
		}
	}
	if !config.Reviews.Demanded() && len(held.configs) == 0 {
		return nil, nil, nil
	}
	class, err := l.class(ctx)
	if err != nil {
		return nil, nil, err
	}
	roles, notes = held.reviews(config, class.String())
	return roles, notes, nil
}

// class returns the class of what a line changes in its environment: major where one of the two
// sides is no version, or is not known.
func (l *line) class(ctx context.Context) (diffing.Class, error) {
	v := l.is.Verdict
	if l.want == nil || v == nil || l.is.Content == nil || !l.usable() && v.Status != publish.Revoked {
		return diffing.Major, nil
	}
	wanted, err := l.wanted(ctx)
	if err != nil {
		return 0, err
	}
	if pack.DigestOf(wanted.Content()) != l.want.Digest {
		return diffing.Major, nil // which is refused before it moves anything
	}
	return l.w.ClassOfMove(ctx, l.is.Content, wanted.Runs())
}

// wanted returns what the line wants the environment to run, as it was found first: what is decided
// about is what it is moved to.
func (l *line) wanted(ctx context.Context) (_ *publish.Target, err error) {
	if l.target == nil {
		l.target, err = l.Target(ctx, registry.Ref{Pack: l.pack, Version: l.want.Version}, l.e.Name())
	}
	return l.target, err
}

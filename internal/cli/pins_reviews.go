package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/report/model"
)

// approved finds the approvals of the roles in the pull request that brought a line, by those
// who held the roles before it: a change does not say who may approve it. The reason names the
// pull request.
func (l *line) approved(ctx context.Context, stage gating.Stage, roles []string) (approvals []statement.Approval, reason string, err error) {
	r := l.reviews
	switch {
	case len(roles) == 0:
		return nil, "", nil
	case r.event == nil:
		return nil, "", misuse("leave it to the workflow that publishes", "the catalog of %q requires the approval of %s, and only a run on GitHub can see who approved", l.e.Name(), strings.Join(roles, ", "))
	case stage.From == nil:
		return nil, "", refusedBecause("propose it in a pull request", "the line is in the first commit of the history, which nobody can have approved")
	}
	config, err := r.configAt(ctx, stage.From.SHA())
	if err != nil {
		return nil, "", err
	}
	q := r.asking(config.Reviews.Members())
	found, err := q.brought(ctx, []gating.Stage{stage}, func(ctx context.Context, s gating.Stage) (github.PullRequest, error) {
		return r.client.MergedPull(ctx, s.To.SHA())
	})
	if err != nil {
		return nil, "", noReview(err)
	}
	if len(found) == 0 {
		return nil, "", refusedBecause("propose it in a pull request", "nobody can tell which pull request brought the line")
	}
	part, err := q.part(ctx, found[0], roles)
	if err != nil {
		return nil, "", err
	}
	if problems := missing(found[0].pull, part.Approvals, q.cut); len(problems) > 0 {
		return nil, "", &refusedError{problems}
	}
	for _, g := range part.Granted {
		approvals = append(approvals, statement.Approval{Role: g.Role, Login: g.Login})
	}
	slices.SortFunc(approvals, func(a, b statement.Approval) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Login, b.Login))
	})
	return approvals, fmt.Sprintf("pull request %d", found[0].pull.Number), nil
}

// loosened adds to the rules of a line those that were loosened since the newest record of the
// environment, unless the roles that they required approved that: nobody takes a rule away with
// one change and profits with the next. It returns what to say of them where the line is refused.
func (l *line) loosened(ctx context.Context, p *gating.Promotion) (held []model.Problem, err error) {
	var since *github.Tree
	if last := l.is.Last; last != nil && last.Commit != "" {
		if since, err = l.reviews.base.Open(ctx, last.Commit); err != nil {
			return nil, err
		}
	}
	changes, err := l.reviews.base.Loosened(ctx, l.e.Name(), since)
	if err != nil {
		return nil, noReview(err)
	}
	for _, change := range changes {
		roles, by := change.Roles(), "in a change that no role was required to approve"
		if len(roles) > 0 {
			by = "without the approval of " + strings.Join(roles, ", ")
		}
		if l.reviews.event != nil && len(roles) > 0 {
			_, _, err := l.approved(ctx, change.Stage, roles)
			if err == nil {
				continue
			}
			if exitCode(err) != gating.ExitFindings {
				return nil, err
			}
		}
		p.StillHolds(change)
		held = append(held, model.Problem{
			Message: fmt.Sprintf("the rules of %q still hold as they were before commit %.7s, which loosened them %s", l.e.Name(), change.To.SHA(), by),
			Hint:    "ask the roles that they name to approve the line, or revert the commit and propose it again with their approval",
		})
	}
	return held, nil
}

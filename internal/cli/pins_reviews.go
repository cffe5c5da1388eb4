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
	members := config.Reviews.Members()
	for _, h := range l.joined {
		members[h.Role] = slices.DeleteFunc(members[h.Role], func(member string) bool { return member == h.Member })
	}
	q := r.asking(members)
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
	for _, change := range slices.Backward(changes) {
		note, err := l.weigh(ctx, p, change)
		if err != nil {
			return nil, err
		}
		held = append(held, note...)
	}
	return held, nil
}

// weigh has what a change loosened count or not, by whether those approved it who had to.
func (l *line) weigh(ctx context.Context, p *gating.Promotion, change gating.Loosened) (notes []model.Problem, err error) {
	approved := func(roles []string) (bool, error) {
		if l.reviews.event == nil || len(roles) == 0 {
			return false, nil
		}
		_, _, err := l.approved(ctx, change.Stage, roles)
		if err != nil && exitCode(err) == gating.ExitFindings {
			return false, nil
		}
		return err == nil, err
	}
	note := func(what string, roles []string, hint string) {
		by := "in a change that no role was required to approve"
		if len(roles) > 0 {
			by = "without the approval of " + strings.Join(roles, ", ")
		}
		notes = append(notes, model.Problem{Message: fmt.Sprintf("%s commit %.7s, %s", what, change.To.SHA(), by), Hint: hint})
	}
	if change.Less {
		roles := change.Roles()
		ok, err := approved(roles)
		if err != nil {
			return nil, err
		}
		if !ok {
			p.StillHolds(change)
			note(fmt.Sprintf("the rules of %q still hold as they were before they were loosened in", l.e.Name()), roles,
				"ask the roles that they name to approve the line, or revert the commit and propose it again with their approval")
		}
	}
	if len(change.Joined) > 0 {
		ok, err := approved(change.ConfigRoles())
		if err != nil {
			return nil, err
		}
		if !ok {
			l.joined = append(l.joined, change.Joined...)
			first := change.Joined[0]
			note(fmt.Sprintf("%q holds the role %s since a change of the config, and does not count yet; it was made in", first.Member, first.Role), change.ConfigRoles(),
				"ask somebody who held the role before, or revert the commit and propose it again with their approval")
		}
	}
	return notes, nil
}

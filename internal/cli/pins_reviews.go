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

// heldRules adds to the rules of a line those that were loosened without the approval of the
// roles that they required, unless they were set again and then loosened with it: nobody takes a
// rule away with one change and profits with a later one. It returns what to say of them where
// the line is refused.
func (l *line) heldRules(ctx context.Context, p *gating.Promotion) (notes []model.Problem, err error) {
	changes, known := l.applying.loosened[l.e.Name()]
	if !known {
		if changes, err = l.reviews.base.Loosened(ctx, l.e.Name()); err != nil {
			return nil, noReview(err)
		}
		l.applying.loosened[l.e.Name()] = changes
	}
	var rules, holders []model.Problem
	for _, change := range slices.Backward(changes) {
		if change.Less {
			if err := l.weighRules(ctx, p, change, &rules); err != nil {
				return nil, err
			}
		}
		if len(change.Joined) > 0 {
			if err := l.weighHolders(ctx, change, &holders); err != nil {
				return nil, err
			}
		}
	}
	if !p.HeldMore() { // they were set again
		p.LetGo()
		rules = nil
	}
	if len(l.joined) == 0 {
		holders = nil
	}
	return append(rules, holders...), nil
}

// weighRules has the rules before a change hold on, or lets go of them where their roles approved it.
func (l *line) weighRules(ctx context.Context, p *gating.Promotion, change gating.Loosened, notes *[]model.Problem) error {
	roles := slices.Concat(change.Roles(), p.HeldRoles())
	slices.Sort(roles)
	roles = slices.Compact(roles)
	ok, err := l.loosenedBy(ctx, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		p.LetGo()
		*notes = nil
		return nil
	}
	p.StillHolds(change)
	*notes = append(*notes, unapproved(change, fmt.Sprintf("the rules of %q still hold as they were before they were loosened in", l.e.Name()), roles,
		"ask the roles that they name to approve the line, or revert the commit and propose it again with their approval"))
	return nil
}

// weighHolders keeps those who joined a role from approving, unless the change was approved.
func (l *line) weighHolders(ctx context.Context, change gating.Loosened, notes *[]model.Problem) error {
	roles, first := change.ConfigRoles(), change.Joined[0]
	ok, err := l.loosenedBy(ctx, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		l.joined = slices.DeleteFunc(l.joined, func(h gating.Holder) bool { return slices.Contains(change.Joined, h) })
		return nil
	}
	l.joined = append(l.joined, change.Joined...)
	*notes = append(*notes, unapproved(change, fmt.Sprintf("%q holds the role %s since a change of the config, and does not count yet; it was made in", first.Member, first.Role), roles,
		"ask somebody who held the role before, or revert the commit and propose it again with their approval"))
	return nil
}

// loosenedBy reports whether all of the roles approved a change, of which there is at least one.
func (l *line) loosenedBy(ctx context.Context, change gating.Loosened, roles []string) (bool, error) {
	if l.reviews.event == nil || len(roles) == 0 {
		return false, nil
	}
	_, _, err := l.approved(ctx, change.Stage, roles)
	if err != nil && exitCode(err) == gating.ExitFindings {
		return false, nil
	}
	return err == nil, err
}

// unapproved says in which commit what was changed, and who did not approve it.
func unapproved(change gating.Loosened, what string, roles []string, hint string) model.Problem {
	by := "in a change that no role was required to approve"
	if len(roles) > 0 {
		by = "without the approval of " + strings.Join(roles, ", ")
	}
	return model.Problem{Message: fmt.Sprintf("%s commit %.7s, %s", what, change.To.SHA(), by), Hint: hint}
}

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
	for _, h := range l.held[l.e.Name()].joined {
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

// heldRules are what was loosened for an environment without the approval of those who had to
// approve it, and so still holds: nobody takes a rule away with one change and profits with a
// later one. What was set again, and then loosened with approval, is not among them.
type heldRules struct {
	rules  []gating.Loosened // the rules before these changes still hold
	joined []gating.Holder   // they hold a role and do not count
	// What to say of them where a line is refused.
	rulesNotes, joinedNotes []model.Problem
}

// heldRules returns what still holds of an environment, found once.
func (l *line) heldRules(ctx context.Context) (*heldRules, error) {
	name := l.e.Name()
	if h := l.held[name]; h != nil {
		return h, nil
	}
	h := &heldRules{}
	l.held[name] = h // those who do not count approve nothing that is looked at next
	changes, err := l.reviews.base.Loosened(ctx, name)
	for _, change := range slices.Backward(changes) {
		if change.Less && err == nil {
			err = l.weighRules(ctx, h, change)
		}
		if len(change.Joined) > 0 && err == nil {
			err = l.weighHolders(ctx, h, change)
		}
	}
	if err != nil {
		delete(l.held, name)
		return nil, noReview(err)
	}
	return h, nil
}

// add adds what still holds to the rules of a line, and returns what to say of it.
func (h *heldRules) add(p *gating.Promotion) (notes []model.Problem) {
	if p.Hold(h.rules...) { // otherwise they were set again
		notes = append(notes, h.rulesNotes...)
	}
	if len(h.joined) > 0 {
		notes = append(notes, h.joinedNotes...)
	}
	return notes
}

// weighRules has the rules before a change hold on, or lets go of all of them where their roles
// approved it.
func (l *line) weighRules(ctx context.Context, h *heldRules, change gating.Loosened) error {
	roles := change.Roles()
	for _, earlier := range h.rules {
		roles = append(roles, earlier.Roles()...)
	}
	slices.Sort(roles)
	roles = slices.Compact(roles)
	ok, err := l.loosenedBy(ctx, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		h.rules, h.rulesNotes = nil, nil
		return nil
	}
	h.rules = append(h.rules, change)
	h.rulesNotes = append(h.rulesNotes, unapproved(change, fmt.Sprintf("the rules of %q still hold as they were before they were loosened in", l.e.Name()), roles,
		"ask the roles that they name to approve the line, or revert the commit and propose it again with their approval"))
	return nil
}

// weighHolders keeps those who joined a role from approving, unless the change was approved.
func (l *line) weighHolders(ctx context.Context, h *heldRules, change gating.Loosened) error {
	roles, first := change.ConfigRoles(), change.Joined[0]
	ok, err := l.loosenedBy(ctx, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		h.joined = slices.DeleteFunc(h.joined, func(one gating.Holder) bool { return slices.Contains(change.Joined, one) })
		return nil
	}
	h.joined = append(h.joined, change.Joined...)
	h.joinedNotes = append(h.joinedNotes, unapproved(change, fmt.Sprintf("%q holds the role %s since a change of the config, and does not count yet; it was made in", first.Member, first.Role), roles,
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

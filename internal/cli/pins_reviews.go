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
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// stageApprovals finds the approvals of the roles in the pull request that brought a change of
// what an environment runs or requires, by those who held the roles before it: a change does not
// say who may approve it. The reason names the pull request.
func (r *reviewing) stageApprovals(ctx context.Context, environment string, stage gating.Stage, roles []string) (approvals []statement.Approval, reason string, err error) {
	switch {
	case len(roles) == 0:
		return nil, "", nil
	case r.event == nil:
		return nil, "", misuse("leave it to the workflow that publishes", "the catalog of %q requires the approval of %s, and only a run on GitHub can see who approved", environment, strings.Join(roles, ", "))
	case stage.From == nil:
		return nil, "", refusedBecause("propose it in a pull request", "the line is in the first commit of the history, which nobody can have approved")
	}
	config, err := r.configAt(ctx, stage.From.SHA())
	if err != nil {
		return nil, "", err
	}
	q := r.asking(r.held[environment].members(config))
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
		return nil, "", noReview(err)
	}
	if problems := missing(found[0].pull, part.Approvals, q.cut); len(problems) > 0 {
		return nil, "", &refusedError{problems}
	}
	for _, g := range part.Granted {
		approvals = append(approvals, statement.Approval{Role: g.Role, Login: g.Login})
	}
	return approvalsOnce(approvals), fmt.Sprintf("pull request %d", found[0].pull.Number), nil
}

// approvalsOnce returns approvals in the order of roles and logins, each once.
func approvalsOnce(list []statement.Approval) []statement.Approval {
	slices.SortFunc(list, func(a, b statement.Approval) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Login, b.Login))
	})
	return slices.Compact(list)
}

// heldRules are what was loosened for an environment without the approval of those who had to
// approve it, and so still holds: nobody takes a rule away with one change and profits with a
// later one. What was set again, and then loosened with approval, is not among them.
type heldRules struct {
	environment string
	rules       []gating.Loosened // the rules before these changes still hold
	configs     []gating.Loosened // the reviews before these changes are still required
	joined      []gating.Holder   // they hold a role and do not count
	// What to say of them where something is refused.
	rulesNotes, configsNotes, joinedNotes []model.Problem
}

// heldRules returns what still holds of an environment, found once.
func (r *reviewing) heldRules(ctx context.Context, environment string) (*heldRules, error) {
	if h := r.held[environment]; h != nil {
		return h, nil
	}
	h := &heldRules{environment: environment}
	if r.held == nil {
		r.held = map[string]*heldRules{}
	}
	r.held[environment] = h // those who do not count approve nothing that is looked at next
	changes, err := r.base.Loosened(ctx, environment)
	for _, change := range slices.Backward(changes) {
		if change.Less && err == nil {
			err = r.weighRules(ctx, h, change)
		}
		if (len(change.Joined) > 0 || change.Fewer) && err == nil {
			err = r.weighConfig(ctx, h, change)
		}
	}
	if err != nil {
		delete(r.held, environment)
		return nil, noReview(err)
	}
	return h, nil
}

// roles returns the roles that the rules require which still hold, sorted, each once.
func (h *heldRules) roles() (roles []string) {
	for _, change := range h.rules {
		roles = append(roles, change.Roles()...)
	}
	return gating.RolesOnce(roles)
}

// members returns who holds each role by a config, without those who do not count.
func (h *heldRules) members(config *repo.Config) map[string][]string {
	members := config.Reviews.Members()
	if h == nil {
		return members
	}
	for _, one := range h.joined {
		members[one.Role] = slices.DeleteFunc(members[one.Role], func(member string) bool { return member == one.Member })
	}
	return members
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
func (r *reviewing) weighRules(ctx context.Context, h *heldRules, change gating.Loosened) error {
	roles := gating.RolesOnce(h.roles(), change.Roles())
	ok, err := r.loosenedBy(ctx, h.environment, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		h.rules, h.rulesNotes = nil, nil
		return nil
	}
	h.rules = append(h.rules, change)
	h.rulesNotes = append(h.rulesNotes, unapproved(change, fmt.Sprintf("the rules of %q still hold as they were before they were loosened in", h.environment), roles,
		"ask the roles that they name to approve the line, or revert the commit and propose it again with their approval"))
	return nil
}

// weighConfig keeps those who joined a role from approving, and has the reviews before a change
// required on, unless the roles approved it that have to approve a looser config.
func (r *reviewing) weighConfig(ctx context.Context, h *heldRules, change gating.Loosened) error {
	var roles []string
	for _, one := range append(h.configs, change) {
		required := one.Reviews().ConfigRoles()
		if len(required) == 0 && one.Fewer {
			required = one.Reviews().All()
		}
		roles = append(roles, required...)
	}
	roles = gating.RolesOnce(roles)
	ok, err := r.loosenedBy(ctx, h.environment, change, roles)
	switch {
	case err != nil:
		return err
	case ok:
		h.joined = slices.DeleteFunc(h.joined, func(one gating.Holder) bool { return slices.Contains(change.Joined, one) })
		if change.Fewer {
			h.configs, h.configsNotes = nil, nil
		}
		return nil
	}
	hint := "or revert the commit and propose it again with their approval"
	if change.Fewer {
		h.configs = append(h.configs, change)
		h.configsNotes = append(h.configsNotes, unapproved(change, "the reviews that the config required are still required; fewer are since", roles, "ask the roles that it named, "+hint))
	}
	if len(change.Joined) > 0 {
		first := change.Joined[0]
		h.joined = append(h.joined, change.Joined...)
		h.joinedNotes = append(h.joinedNotes, unapproved(change, fmt.Sprintf("%q holds the role %s since a change of the config, and does not count yet; it was made in", first.Member, first.Role), roles,
			"ask somebody who held the role before, "+hint))
	}
	return nil
}

// reviews returns the roles that reviews require for a class: those of the config before a line,
// and those that are still required.
func (h *heldRules) reviews(config *repo.Config, class string) (roles []string, notes []model.Problem) {
	roles = config.Reviews.Of(class)
	for _, one := range h.configs {
		for _, role := range one.Reviews().Of(class) {
			if !slices.Contains(roles, role) {
				roles, notes = append(roles, role), h.configsNotes
			}
		}
	}
	return roles, notes
}

// loosenedBy reports whether all of the roles approved a change, of which there is at least one.
func (r *reviewing) loosenedBy(ctx context.Context, environment string, change gating.Loosened, roles []string) (bool, error) {
	if r.event == nil || len(roles) == 0 {
		return false, nil
	}
	_, _, err := r.stageApprovals(ctx, environment, change.Stage, roles)
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

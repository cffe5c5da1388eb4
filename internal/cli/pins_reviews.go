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
		return nil, "", misuse("leave it to the workflow that publishes", "the catalog of %q demands the approval of %s, and only a run on GitHub can see who approved", l.e.Name(), strings.Join(roles, ", "))
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

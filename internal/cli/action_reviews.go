package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
)

// approvals asks GitHub who has approved the pull request that the event is about, by the
// roles of the config that is in force; nil where nobody has to, or there is none.
func (a *actionRun) approvals(ctx context.Context, in gating.Inputs) *gating.Approvals {
	reviews := in.Config.Reviews
	if len(reviews.All()) == 0 {
		return nil
	}
	out := &gating.Approvals{Merged: a.event.Name == github.EventPush}
	pull, err := a.pull(ctx, in.Base)
	switch {
	case errors.Is(err, github.ErrNoPullRequest) && out.Merged:
		return out // so nobody has approved it
	case err == nil && pull.Number == 0:
		return nil
	case err == nil:
		out.Approvals, err = a.historian().Approvals(ctx, github.Question{
			Pull: pull, Roles: reviews.All(), Members: reviews.Members(),
			Same: func(ctx context.Context, commit string) bool {
				return in.Base.Alike(ctx, a.trees(in.Base), commit, pull.HeadSHA)
			},
		})
	}
	if out.Unknown = err; err != nil {
		a.Notice("who has approved the change is not known, so no approval counts: %v", err)
	}
	return out
}

// trees opens commits for the run, from wherever they can be had.
func (a *actionRun) trees(base *gating.Baseline) gating.Trees {
	return func(ctx context.Context, sha string) (*github.Tree, error) {
		return base.Git.At(ctx, a.event, a.inputs.token, sha)
	}
}

// pull returns the pull request that the event is about: the one that is open, that is queued,
// or that was merged by what was pushed; one without a number where the event is about none.
// All that changed has to be of it.
func (a *actionRun) pull(ctx context.Context, base *gating.Baseline) (none github.PullRequest, err error) {
	event, client := a.event, a.historian()
	switch {
	case !event.Proposal() && event.Name != github.EventMergeGroup && event.Name != github.EventPush:
		return none, nil
	case client == nil:
		return none, misuse("leave the input token as it is, or give it one that may read pull requests", "there is no token to ask GitHub with")
	case event.Proposal():
		return github.PullRequest{Number: event.PullRequest, Author: event.Author, HeadSHA: event.HeadSHA, BaseSHA: event.BaseSHA}, nil
	}
	var pull github.PullRequest
	switch {
	case event.Name == github.EventPush:
		pull, err = client.MergedPull(ctx, event.HeadSHA)
	case event.PullRequest == 0:
		err = &fault.Error{Kind: github.ErrRejected, Message: "the name of the merge group's branch has no pull request in it"}
	default:
		pull, err = client.PullRequest(ctx, event.PullRequest)
	}
	if err == nil && !base.Brings(ctx, a.trees(base), pull.HeadSHA) {
		err = &fault.Error{Kind: github.ErrRejected,
			Message: fmt.Sprintf("what is judged has other files than pull request %d, or more of them", pull.Number),
			Hint:    "merge it by itself, once it is up to date and approved; a merge queue whose groups have one pull request each does that"}
	}
	return pull, err
}

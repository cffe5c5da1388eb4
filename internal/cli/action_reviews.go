package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
)

// approvals asks GitHub who has approved the pull requests that the event is about, by the
// roles of the config that is in force; nil where nobody has to, or there is none.
func (a *actionRun) approvals(ctx context.Context, in gating.Inputs) *gating.Approvals {
	reviews, roles := in.Config.Reviews, in.Roles()
	if len(roles) == 0 {
		return nil
	}
	client := a.historian()
	out := &gating.Approvals{Merged: a.event.Name == github.EventPush}
	var err error
	switch {
	case !a.event.Proposal() && a.event.Name != github.EventMergeGroup && !out.Merged:
		return nil
	case client == nil:
		err = misuse("leave the input token as it is, or give it one that may read pull requests", "there is no token to ask GitHub with")
	default:
		q := &asking{client: client, base: in.Base, members: reviews.Members()}
		out.Parts, err = a.parts(ctx, q, roles)
		if len(q.cut) > 0 {
			a.Notice("%s", shallow(q.cut))
		}
		for _, part := range out.Parts {
			if len(part.Approvals.Own) > 0 {
				a.Notice("pull request %d: %s", part.Number, ownWords(part.Approvals.Own))
			}
		}
	}
	if errors.Is(err, github.ErrNoPullRequest) && out.Merged {
		return out // so nobody has approved it
	}
	if out.Unknown = err; err != nil {
		out.Step = nextStep(err)
		a.Notice("who has approved the change is not known, so no approval counts: %s", withStep(err))
	}
	return out
}

// trees opens commits for the run, from wherever they can be had.
func (a *actionRun) trees(base *gating.Baseline) gating.Trees {
	return func(ctx context.Context, sha string) (*github.Tree, error) {
		return base.Git.At(ctx, a.event, a.inputs.token, sha)
	}
}

// withStep returns what an error says, and what to do about it.
func withStep(err error) string {
	if step := nextStep(err); step != "" {
		return err.Error() + "; " + step
	}
	return err.Error()
}

// parts returns the pull requests that the event is about: the one that is open, or those that
// are queued, or that were merged by what was pushed.
func (a *actionRun) parts(ctx context.Context, q *asking, roles []string) ([]gating.Part, error) {
	event := a.event
	if event.Proposal() {
		pull := github.PullRequest{Number: event.PullRequest, Author: event.Author, HeadSHA: event.HeadSHA, BaseSHA: event.BaseSHA}
		part, err := q.part(ctx, brought{pull: pull}, roles)
		return []gating.Part{part}, err
	}
	all, err := q.base.Head()
	if err != nil {
		return nil, err
	}
	found, err := a.brought(ctx, q, all)
	if err != nil {
		return nil, err
	}
	var parts []gating.Part
	for _, b := range found {
		part, err := q.part(ctx, b, roles)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// brought returns the pull requests that brought all that gating reads of what a merge group
// or a push has: the one that is named for it, where it brought all, and else each one that
// brought a part.
func (a *actionRun) brought(ctx context.Context, q *asking, all gating.Stage) ([]brought, error) {
	one, err := a.pull(ctx, q.client)
	if err == nil && q.base.Brings(ctx, all, one.HeadSHA) {
		return []brought{{pull: one}}, nil
	}
	if err != nil && !errors.Is(err, github.ErrNoPullRequest) && !errors.Is(err, github.ErrRejected) {
		return nil, err
	}
	stages, several := q.base.Stages(ctx, all.To)
	switch {
	case several != nil && err != nil:
		return nil, err
	case several != nil:
		return nil, fmt.Errorf("what is judged has other files than pull request %d, or more of them, and %w", one.Number, several)
	case err == nil && len(stages) == 1:
		return nil, otherFiles(one.Number)
	}
	find := a.merged(q.client)
	if a.event.Name == github.EventMergeGroup {
		find = a.queued(q)
	}
	return q.brought(ctx, stages, find)
}

// pull returns the pull request that a merge group or a push is named for.
func (a *actionRun) pull(ctx context.Context, client *github.Client) (github.PullRequest, error) {
	switch {
	case a.event.Name == github.EventPush:
		return client.MergedPull(ctx, a.event.HeadSHA)
	case a.event.PullRequest == 0:
		return github.PullRequest{}, &fault.Error{Kind: github.ErrRejected, Message: "the name of the merge group's branch has no pull request in it"}
	}
	return client.PullRequest(ctx, a.event.PullRequest)
}

// merged finds the pull request that was merged as a stage.
func (a *actionRun) merged(client *github.Client) finder {
	return func(ctx context.Context, s gating.Stage) (github.PullRequest, error) {
		return client.MergedPull(ctx, s.To.SHA())
	}
}

// queuedTitle is how GitHub names the commits of a merge queue: merged, or squashed.
var queuedTitle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Merge pull request #([0-9]+) from |\(#([0-9]+)\)$`)
})

// queued finds the pull request that is queued as a stage of a merge group. The title of its
// commit says which one; since people can write titles, it has to be open, and the stage has
// to bring all of what it changes.
func (a *actionRun) queued(q *asking) finder {
	return func(ctx context.Context, s gating.Stage) (none github.PullRequest, err error) {
		title, err := s.To.Title()
		if err != nil {
			return none, err
		}
		unknown := func(why string) error {
			return &fault.Error{Kind: github.ErrRejected,
				Message: fmt.Sprintf("which pull request commit %.7s of the merge group is of cannot be known: %s", s.To.SHA(), why),
				Hint:    "use the merge method merge or squash in the merge queue, or groups of one pull request each"}
		}
		number := 0
		for _, text := range queuedTitle().FindStringSubmatch(title) {
			if n, err := strconv.Atoi(text); err == nil {
				number = n
			}
		}
		if number == 0 {
			return none, unknown(fmt.Sprintf("its title is %q", title))
		}
		pull, err := q.client.PullRequest(ctx, number)
		if err != nil {
			return none, err
		}
		if !pull.Open {
			return none, unknown(fmt.Sprintf("its title names pull request %d, which is not open", number))
		}
		files, err := q.client.PullRequestFiles(ctx, number)
		if err == nil && (len(files) == 0 || !q.base.Whole(ctx, s, files)) {
			err = unknown(fmt.Sprintf("its title names pull request %d, which changes other files", number))
		}
		return pull, err
	}
}

// finder finds the pull request that brought a stage.
type finder func(ctx context.Context, s gating.Stage) (github.PullRequest, error)

// brought is what a pull request brought; all that is judged where the stage has no commits.
type brought struct {
	pull  github.PullRequest
	stage gating.Stage
}

// asking asks who has approved pull requests.
type asking struct {
	client  *github.Client
	base    *gating.Baseline
	members map[string][]string
	cut     []string // commits that were approved, of which the clone has too little history
}

// maxPulls bounds the pull requests that are judged together.
const maxPulls = 20

// brought returns the pull requests that brought stages of which gating reads anything.
func (q *asking) brought(ctx context.Context, stages []gating.Stage, find finder) (list []brought, err error) {
	for _, s := range stages {
		if !q.base.Reads(ctx, s) {
			continue
		}
		pull, err := find(ctx, s)
		if err != nil {
			return nil, err
		}
		if last := len(list) - 1; last >= 0 && list[last].pull.Number == pull.Number {
			list[last].stage.To = s.To
			continue
		}
		if len(list) == maxPulls {
			return nil, refusedBecause("merge fewer of them at a time", "more than %d pull requests are judged together", maxPulls)
		}
		list = append(list, brought{pull, s})
	}
	for _, b := range list {
		if !q.base.Brings(ctx, b.stage, b.pull.HeadSHA) {
			return nil, otherFiles(b.pull.Number)
		}
	}
	return list, nil
}

// otherFiles is the error for what a pull request did not bring, or not alone.
func otherFiles(pull int) error {
	return &fault.Error{Kind: github.ErrRejected,
		Message: fmt.Sprintf("what is judged has other files than pull request %d, or more of them", pull),
		Hint:    "merge it by itself, once it is up to date and approved"}
}

// part asks for the approvals of a pull request: of its last commit, and of those before it
// that give gating the same to read.
func (q *asking) part(ctx context.Context, b brought, roles []string) (part gating.Part, err error) {
	part.Number = b.pull.Number
	base := q.base
	if b.stage.From != nil {
		base = q.base.At(b.stage.From)
		part.Concerns = func(pack string) bool { return q.base.Concerns(ctx, b.stage, pack) }
	}
	part.Approvals, err = q.client.Approvals(ctx, github.Question{
		Pull: b.pull, Roles: roles, Members: q.members, Same: q.same(base, b.pull.HeadSHA),
	})
	return part, err
}

// same says whether an earlier commit than the head of a pull request gives gating the same
// to read.
func (q *asking) same(base *gating.Baseline, head string) func(context.Context, string) bool {
	return func(ctx context.Context, commit string) bool {
		same, cut := base.Alike(ctx, commit, head)
		if cut && !slices.Contains(q.cut, commit) {
			q.cut = append(q.cut, commit)
		}
		return same
	}
}

// ownWords says whose approvals do not count, and why.
func ownWords(authors []github.Author) string {
	words := make([]string, len(authors))
	for i, a := range authors {
		words[i] = fmt.Sprintf("the approval of %s does not count: %s", a.Login, a.Why)
	}
	return strings.Join(words, "; ")
}

// shallow says which approvals do not count for want of history.
func shallow(cut []string) string {
	short := make([]string, len(cut))
	for i, sha := range cut {
		short[i] = fmt.Sprintf("%.7s", sha)
	}
	return fmt.Sprintf("approvals of earlier commits (%s) do not count: this clone has too little of the history to tell from what they started, and GitHub did not tell; `fetch-depth: 0` on actions/checkout fetches the history of every branch",
		strings.Join(short, ", "))
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/report"
)

// reviewing finds out who approved what a version brings.
type reviewing struct {
	env    *Env
	dryRun bool
	w      *workspace
	event  *github.Event // nil outside of GitHub
	client *github.Client
	token  string
	pulls  map[int]github.Approvals
}

// start reads the event, once.
func (r *reviewing) start() error {
	env := r.env
	if r.event != nil || env.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	event, err := github.ReadEvent(env.Getenv, os.ReadFile)
	if err != nil {
		return err
	}
	r.token = env.Getenv("INPUT_TOKEN")
	if r.token == "" {
		r.token = env.Getenv("GITHUB_TOKEN")
	}
	r.event, r.pulls = event, map[int]github.Approvals{}
	r.client, err = newClient(env, event, r.token)
	return err
}

// source returns where a pack file was read.
func (r *reviewing) source(ctx context.Context, name string, content []byte) (statement.Source, error) {
	if err := r.start(); err != nil {
		return statement.Source{}, err
	}
	address, sha := "", ""
	if r.event != nil {
		address, sha = r.event.ServerURL+"/"+r.event.Repository, r.event.HeadSHA
	}
	return sourceOf(ctx, r.w, name, content, address, sha)
}

// ask finds the approvals that the class of a version needs, in every pull request
// that changed the pack file since the version before. Without roles in the config
// nobody is asked.
func (r *reviewing) ask(ctx context.Context, c *publish.Candidate, before *publish.Verdict, out *report.Publication) error {
	wanted := r.w.config.Reviews.Of(c.Class)
	if len(wanted) == 0 {
		return nil
	}
	if r.event == nil {
		if r.dryRun {
			out.NotChecked = append(out.NotChecked, fmt.Sprintf("reviews by %s: only a run on GitHub can see who approved", strings.Join(wanted, ", ")))
			return nil
		}
		return &usageError{
			message: fmt.Sprintf("the config demands reviews by %s for a version of the class %s, and only a run on GitHub can see who approved", strings.Join(wanted, ", "), c.Class),
			hint:    "publish from the workflow, or try it with --dry-run",
		}
	}
	if c.Source.Path == "" {
		return &refusedError{[]report.Problem{{Message: "the pack file is not as the commit has it, so nobody can have reviewed it", Hint: "publish what is merged, without changing it in the job"}}}
	}
	pulls, err := r.changes(ctx, c, before)
	if err != nil {
		return err
	}
	return r.approved(ctx, c, pulls, wanted, out)
}

// maxChanges bounds the commits that a version may consist of.
const maxChanges = 20

// changes returns the merged pull requests that changed a pack file since the
// published version before, newest first.
func (r *reviewing) changes(ctx context.Context, c *publish.Candidate, before *publish.Verdict) ([]github.PullRequest, error) {
	commits, err := r.client.History(ctx, c.Source.Commit, c.Source.Path, maxChanges+1)
	if err != nil {
		return nil, err
	}
	var pulls []github.PullRequest
	for i, sha := range commits {
		if i > 0 {
			published, err := r.published(ctx, sha, c.Source.Path, before)
			if err != nil || published {
				return pulls, err
			}
		}
		if i == maxChanges {
			return nil, &refusedError{[]report.Problem{{
				Message: fmt.Sprintf("more than %d commits changed %s since the published version before", maxChanges, c.Source.Path),
				Hint:    "propose the version again in one pull request, from the published one on",
			}}}
		}
		pull, err := r.client.MergedPull(ctx, sha)
		if err != nil {
			return nil, noReview(err)
		}
		if !slices.ContainsFunc(pulls, func(p github.PullRequest) bool { return p.Number == pull.Number }) {
			pulls = append(pulls, pull)
		}
	}
	return pulls, nil
}

// published reports whether a commit has the pack file as it was published before.
func (r *reviewing) published(ctx context.Context, sha, name string, before *publish.Verdict) (bool, error) {
	if before == nil {
		return false, nil
	}
	git, err := github.OpenWith(r.w.dir, r.client)
	if err != nil {
		return false, err
	}
	defer git.Close() // only read from
	tree, err := git.At(ctx, r.event, r.token, sha)
	if err != nil {
		return false, err
	}
	src, err := tree.ReadFile(name, int64(r.w.config.Limits.MaxBytes))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && digestOf(src) == before.Content, err
}

// noReview turns the answer that there is no pull request into a refusal.
func noReview(err error) error {
	if errors.Is(err, github.ErrNoPullRequest) || errors.Is(err, github.ErrRejected) {
		return &refusedError{problemsOf(err)}
	}
	return err
}

// approved looks for the roles in each pull request, and notes who approved.
func (r *reviewing) approved(ctx context.Context, c *publish.Candidate, pulls []github.PullRequest, wanted []string, out *report.Publication) error {
	var problems []report.Problem
	for _, pull := range pulls {
		a, err := r.client.Approvals(ctx, pull, r.w.config.Reviews.Members(), wanted)
		if err != nil {
			return err
		}
		problems = append(problems, missing(pull, a)...)
		for _, g := range a.Granted {
			c.Approvals = append(c.Approvals, statement.Approval{Role: g.Role, Login: g.Login})
		}
	}
	slices.SortFunc(c.Approvals, func(a, b statement.Approval) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Login, b.Login))
	})
	c.Approvals = slices.Compact(c.Approvals)
	c.PullRequest = fmt.Sprintf("%s/%s/pull/%d", r.event.ServerURL, r.event.Repository, pulls[0].Number)
	out.PullRequest = c.PullRequest
	for _, a := range c.Approvals {
		out.Approvals = append(out.Approvals, report.Approval{Role: a.Role, Login: a.Login})
	}
	if len(problems) > 0 {
		return &refusedError{problems}
	}
	return nil
}

// missing words what keeps a pull request from being approved.
func missing(pull github.PullRequest, a github.Approvals) (problems []report.Problem) {
	say := func(hint, format string, args ...any) {
		problems = append(problems, report.Problem{Message: fmt.Sprintf("pull request %d: ", pull.Number) + fmt.Sprintf(format, args...), Hint: hint})
	}
	if len(a.Missing) > 0 {
		say("have them approve the last commit of a pull request that proposes the version", "nobody of %s has approved the last commit", strings.Join(a.Missing, ", "))
	}
	for _, o := range a.Against {
		say("settle it, and propose the version again", "%s requests changes for %s", o.Login, o.Role)
	}
	for _, n := range a.NotChecked {
		say(n.Hint, "whether %s approved is not known: %s", n.Role, n.Reason)
	}
	return problems
}

package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// StartedBy is the key of the line that says who started a pull request which a program opened:
// in the message of one of its commits, and in its body. Whoever it names counts as an author. It
// takes approvals away and gives none, so that nobody gains by writing one.
const StartedBy = "Packgate-Started-By"

// StarterLine returns the line that names a login.
func StarterLine(login string) string { return StartedBy + ": " + login }

// starters returns the logins that a text names as those who started it, in lower case. A line
// counts wherever it is, and however Markdown or a merge has set it off.
func starters(text string) (logins []string) {
	const around = " \t\r>*_`-#"
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.Trim(line, around+"\n"), ":")
		if !ok || !strings.EqualFold(strings.TrimRight(key, around), StartedBy) {
			continue
		}
		for _, login := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,\t@`*", r) }) {
			logins = append(logins, strings.ToLower(login))
		}
	}
	return logins
}

// maxPullCommits is how many commits of a pull request GitHub lists at most.
const maxPullCommits = 250

// starters returns the logins that count as authors of a pull request beside the one who opened
// it, in lower case. The errors have the kinds of a Client; it is of kind ErrTooLarge where
// GitHub does not list all commits.
func (c *Client) starters(ctx context.Context, number int) ([]string, error) {
	const what = "read who started the pull request"
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
	if err != nil {
		return nil, c.failed(what, err)
	}
	logins, count := starters(p.GetBody()), 0
	for commit, err := range pages(c, what, maxPullCommits/pageSize+1, func(page github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
		return c.api.PullRequests.ListCommits(ctx, c.owner, c.repo, number, &page)
	}) {
		if err != nil {
			return nil, err
		}
		count++
		logins = append(logins, starters(commit.GetCommit().GetMessage())...)
	}
	if count < p.GetCommits() || count == 0 {
		return nil, &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("cannot %s %d: GitHub lists %d of its %d commits", what, number, count, p.GetCommits()),
			Hint:    fmt.Sprintf("split the change, or squash its commits; GitHub lists %d at most", maxPullCommits)}
	}
	return logins, nil
}

// unstarted returns the reviews without the approvals of those who started the pull request, and
// whose approvals these were. Nobody is asked where nothing was approved.
func (c *Client) unstarted(ctx context.Context, pull PullRequest, all []review) (list []review, started []string, err error) {
	approves := func(r review) bool { return r.state == reviewApproved && r.current }
	if !slices.ContainsFunc(all, approves) {
		return all, nil, nil
	}
	logins, err := c.starters(ctx, pull.Number)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		if approves(r) && slices.Contains(logins, strings.ToLower(r.login)) {
			started = append(started, r.login)
			continue
		}
		list = append(list, r)
	}
	return list, started, nil
}

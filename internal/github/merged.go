package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// History returns the newest commits that changed a file, among a commit and those
// before it, newest first, and at most limit of them (which is at most 100). They
// are what reviews are to be asked of: the newest commit of a branch may belong to
// another change than the ones that made the file what it is. The error is of kind
// ErrNotFound where no commit changed it, and has else the kinds of a Client.
func (c *Client) History(ctx context.Context, sha, path string, limit int) ([]string, error) {
	if !isSHA(sha) || path == "" {
		return nil, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%q at %q is no file of a commit", clip(path, 80), clip(sha, 80))}
	}
	const what = "look for the commits that changed the file"
	address := fmt.Sprintf("repos/%s/%s/commits?sha=%s&path=%s&per_page=%d", c.owner, c.repo, sha, url.QueryEscape(path), min(limit, pageSize))
	req, err := c.api.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, c.failed(what, err)
	}
	var list []struct{ SHA string }
	if _, err := c.api.Do(ctx, req, &list); err != nil {
		return nil, c.failed(what, err)
	}
	if len(list) == 0 {
		return nil, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("no commit up to %s changed %q", sha, path)}
	}
	commits := make([]string, len(list))
	for i, one := range list {
		if commits[i] = strings.ToLower(one.SHA); !isSHA(commits[i]) {
			return nil, &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named the commit %q", what, clip(one.SHA, 80))}
		}
	}
	return commits, nil
}

// MergedPull returns the pull request by which a commit came to the default branch:
// the one that was merged as this commit, or else the only merged one that has it
// among its own.
//
// The error is of kind ErrNoPullRequest where there is none, so that nobody can have
// reviewed the commit there; of kind ErrRejected where several have it and none was
// merged as it; and has else the kinds of a Client.
func (c *Client) MergedPull(ctx context.Context, sha string) (PullRequest, error) {
	if !isSHA(sha) {
		return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("the commit is %q, wanted 40 or 64 hexadecimal digits", clip(sha, 80))}
	}
	var as, with []PullRequest
	err := c.pages("look for the merged pull request", 3, func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, sha, &page)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			pull := pullRequest(p)
			switch {
			case pull.MergeSHA == "" || !pull.Default:
			case pull.MergeSHA == sha || pull.HeadSHA == sha:
				as = append(as, pull)
			default:
				with = append(with, pull)
			}
		}
		return resp, nil
	})
	if err != nil {
		return PullRequest{}, err
	}
	found := as
	if len(found) == 0 {
		found = with
	}
	switch len(found) {
	case 0:
		return PullRequest{}, &fault.Error{Kind: ErrNoPullRequest,
			Message: fmt.Sprintf("commit %s came to the default branch without a pull request", sha),
			Hint:    "propose the change in a pull request; a rule of the branch can demand one"}
	case 1:
		return found[0], nil
	}
	return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%d merged pull requests have the commit %s, wanted one", len(found), sha)}
}

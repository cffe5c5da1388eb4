package github

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// maxFiles is how many files of a pull request GitHub lists at most.
const maxFiles = 3000

// PullRequest is a pull request as far as packgate looks at it.
type PullRequest struct {
	Number           int
	Author           string // the login of whoever opened it
	HeadSHA, BaseSHA string // the newest commit of it, BaseSHA the tip of the branch it is for
	Open             bool   // false once it is merged or closed
	Files            int    // how many files it changes, zero where GitHub did not say: it does for one that is read by itself
	// MergeSHA is the commit that the branch it is for got when it was merged: the merge
	// commit, the squashed commit, or the last one of those that were rebased; empty where
	// it was not merged.
	MergeSHA string
	Default  bool // true where it is for the default branch of the repository
	Labels   []string
}

func pullRequest(p *github.PullRequest) PullRequest {
	head, base := p.GetHead(), p.GetBase()
	pull := PullRequest{
		Number: p.GetNumber(), Author: p.GetUser().GetLogin(), HeadSHA: head.GetSHA(), BaseSHA: base.GetSHA(),
		Open: p.GetState() == "open", Files: p.GetChangedFiles(),
		Default: base.GetRef() != "" && base.GetRef() == base.GetRepo().GetDefaultBranch(),
	}
	for _, l := range p.Labels {
		pull.Labels = append(pull.Labels, l.GetName())
	}
	if p.MergedAt != nil { // else it is a commit that GitHub made to try the merge
		pull.MergeSHA = p.GetMergeCommitSHA()
	}
	return pull
}

// PullRequest reads one pull request. The errors have the kinds of a Client.
func (c *Client) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
	if err != nil {
		return PullRequest{}, c.failed("read the pull request", err)
	}
	return pullRequest(p), nil
}

// PullRequestAt finds the one open pull request whose head is a commit. Owner and
// branch are those of the head, as the payload of workflow_run names them; GitHub
// lists pull requests by them, but of a commit of a fork it knows no pull request.
// Where either is empty, GitHub is asked by the commit, which does for branches of
// the same repository.
//
// The error is of kind ErrNotFound where the head has moved on or the pull request
// is closed, and of kind ErrRejected where several have this head.
func (c *Client) PullRequestAt(ctx context.Context, sha, owner, branch string) (PullRequest, error) {
	if !isSHA(sha) {
		return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("the head is %q, wanted a commit", clip(sha, 80))}
	}
	var found []PullRequest
	for p, err := range pages(c, "look for the pull request", 3, func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		if owner == "" || branch == "" {
			return c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, sha, &page)
		}
		return c.api.PullRequests.List(ctx, c.owner, c.repo,
			&github.PullRequestListOptions{State: "open", Head: owner + ":" + branch, ListOptions: page})
	}) {
		if err != nil {
			return PullRequest{}, err
		}
		if p := pullRequest(p); p.Open && p.HeadSHA == sha {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return PullRequest{}, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("no open pull request has the head %s", sha)}
	case 1:
		return found[0], nil
	}
	return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%d open pull requests have the head %s", len(found), sha)}
}

// ChangedFile is one file that a pull request changes.
type ChangedFile struct {
	Path, Previous string // where it is now, Previous where it was if it moved
}

// PullRequestFiles returns what a pull request changes, in GitHub's order. GitHub
// lists 3,000 files at most; a list that may be shorter than the change is an error of
// kind ErrTooLarge, because nothing may be concluded from part of a change.
func (c *Client) PullRequestFiles(ctx context.Context, number int) ([]ChangedFile, error) {
	var files []ChangedFile
	for f, err := range c.files(ctx, number) {
		if err != nil {
			return nil, err
		}
		files = append(files, ChangedFile{Path: f.GetFilename(), Previous: f.GetPreviousFilename()})
	}
	if len(files) < maxFiles {
		return files, nil
	}
	// Only a pull request that is read by itself says how many files it has.
	pull, err := c.PullRequest(ctx, number)
	if err == nil && pull.Files != len(files) {
		err = &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("GitHub lists %d of %d changed files", len(files), pull.Files),
			Hint:    "split the change; GitHub lists 3,000 files at most",
		}
	}
	return files, err
}

func (c *Client) files(ctx context.Context, number int) iter.Seq2[*github.CommitFile, error] {
	return pages(c, "list the changed files", maxFiles/pageSize, func(page github.ListOptions) ([]*github.CommitFile, *github.Response, error) {
		return c.api.PullRequests.ListFiles(ctx, c.owner, c.repo, number, &page)
	})
}

// History returns the newest commits that changed a file, among a commit and those
// before it, newest first, and at most limit of them (which is at most 100). They
// are what reviews are to be asked of: the newest commit of a branch may belong to
// another change than the ones that made the file what it is. The error is of kind
// ErrNotFound where no commit changed it, and has else the kinds of a Client.
func (c *Client) History(ctx context.Context, sha, path string, limit int) ([]string, error) {
	if !isSHA(sha) || path == "" {
		return nil, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%q at %q is not a file of a commit", clip(path, 80), clip(sha, 80))}
	}
	const what = "look for the commits that changed the file"
	list, _, err := c.api.Repositories.ListCommits(ctx, c.owner, c.repo,
		&github.CommitsListOptions{SHA: sha, Path: path, ListOptions: github.ListOptions{PerPage: min(limit, pageSize)}})
	if err != nil {
		return nil, c.failed(what, err)
	}
	if len(list) == 0 {
		return nil, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("no commit up to %s changed %q", sha, path)}
	}
	commits := make([]string, len(list))
	for i, one := range list {
		if commits[i] = strings.ToLower(one.GetSHA()); !isSHA(commits[i]) {
			return nil, &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named the commit %q", what, clip(one.GetSHA(), 80))}
		}
	}
	return commits, nil
}

// mergeBase returns the best common ancestor of two commits, be they on a branch or not.
func (c *Client) mergeBase(ctx context.Context, base, sha string) (string, error) {
	const what = "compare the commits"
	if !isSHA(base) || !isSHA(sha) {
		return "", &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%q and %q are not two commits", clip(base, 80), clip(sha, 80))}
	}
	between, _, err := c.api.Repositories.CompareCommits(ctx, c.owner, c.repo, base, sha, &github.ListOptions{PerPage: 1})
	if err != nil {
		return "", c.failed(what, err)
	}
	parted := strings.ToLower(between.GetMergeBaseCommit().GetSHA())
	if !isSHA(parted) {
		return "", &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named the commit %q", what, clip(parted, 80))}
	}
	return parted, nil
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
	for p, err := range pages(c, "look for the merged pull request", 3, func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, sha, &page)
	}) {
		if err != nil {
			return PullRequest{}, err
		}
		pull := pullRequest(p)
		switch {
		case pull.MergeSHA == "" || !pull.Default:
		case pull.MergeSHA == sha || pull.HeadSHA == sha:
			as = append(as, pull)
		default:
			with = append(with, pull)
		}
	}
	found := as
	if len(found) == 0 {
		found = with
	}
	switch len(found) {
	case 0:
		return PullRequest{}, &fault.Error{Kind: ErrNoPullRequest,
			Message: fmt.Sprintf("commit %s came to the default branch without a pull request", sha),
			Hint:    "propose the change in a pull request; a rule of the branch can require one"}
	case 1:
		return found[0], nil
	}
	return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%d merged pull requests have the commit %s, wanted one", len(found), sha)}
}

package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// maxFiles is how many files of a pull request GitHub lists at most.
const maxFiles = 3000

// PullRequest is a pull request as far as packgate looks at it.
type PullRequest struct {
	Number int
	// Author is the login of whoever opened it.
	Author string
	// HeadSHA is the newest commit of it, BaseSHA the tip of the branch it is for.
	HeadSHA, BaseSHA string
	// Fork is true where the head is in another repository, or in none any more.
	Fork bool
	// Open is false once it is merged or closed.
	Open bool
	// Files is how many files it changes, zero where GitHub did not say.
	Files int
	// URL is its address, for people.
	URL string
	// Base is the branch that it is for, and MergeSHA the commit that this branch got
	// when it was merged: the merge commit, the squashed commit, or the last one of
	// those that were rebased. MergeSHA is empty where it was not merged.
	Base, MergeSHA string
	// Default is true where Base is the default branch of the repository.
	Default bool
}

func pullRequest(p *github.PullRequest) PullRequest {
	head, base := p.GetHead(), p.GetBase()
	pull := PullRequest{
		Number: p.GetNumber(), Author: p.GetUser().GetLogin(), HeadSHA: head.GetSHA(), BaseSHA: base.GetSHA(),
		Fork: head.GetRepo().GetID() == 0 || head.GetRepo().GetID() != base.GetRepo().GetID(),
		Open: p.GetState() == "open", Files: p.GetChangedFiles(), URL: p.GetHTMLURL(), Base: base.GetRef(),
		Default: base.GetRef() != "" && base.GetRef() == base.GetRepo().GetDefaultBranch(),
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
	err := c.pages("look for the pull request", 3, func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.pullRequestsOf(ctx, sha, owner, branch, page)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if p := pullRequest(p); p.Open && p.HeadSHA == sha {
				found = append(found, p)
			}
		}
		return resp, nil
	})
	switch {
	case err != nil:
		return PullRequest{}, err
	case len(found) == 0:
		return PullRequest{}, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("no open pull request has the head %s", sha)}
	case len(found) > 1:
		return PullRequest{}, &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("%d open pull requests have the head %s", len(found), sha)}
	}
	return found[0], nil
}

func (c *Client) pullRequestsOf(ctx context.Context, sha, owner, branch string, page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
	if owner == "" || branch == "" {
		return c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, sha, &page)
	}
	return c.api.PullRequests.List(ctx, c.owner, c.repo,
		&github.PullRequestListOptions{State: "open", Head: owner + ":" + branch, ListOptions: page})
}

// ChangedFile is one file that a pull request changes.
type ChangedFile struct {
	// Path is where it is now, Previous where it was if it moved.
	Path, Previous string
	// Status is GitHub's word: added, removed, modified, renamed, copied, changed
	// or unchanged.
	Status string
	// Patch is the difference in unified form. GitHub leaves it out of large and
	// binary files.
	Patch string
}

// PullRequestFiles returns what a pull request changes, in GitHub's order. GitHub
// lists 3,000 files at most; a list that is shorter than want, which is
// PullRequest.Files or the changed_files of the event, is an error of kind
// ErrTooLarge, because nothing may be concluded from part of a change.
func (c *Client) PullRequestFiles(ctx context.Context, number, want int) ([]ChangedFile, error) {
	var files []ChangedFile
	err := c.pages("list the changed files", maxFiles/pageSize, func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.PullRequests.ListFiles(ctx, c.owner, c.repo, number, &page)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			files = append(files, ChangedFile{
				Path: f.GetFilename(), Previous: f.GetPreviousFilename(), Status: strings.ToLower(f.GetStatus()), Patch: f.GetPatch(),
			})
		}
		return resp, nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) < want {
		return nil, &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("GitHub lists %d of %d changed files", len(files), want),
			Hint:    "split the change; GitHub lists 3,000 files at most",
		}
	}
	return files, nil
}

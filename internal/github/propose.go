package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// Proposal is a pull request that changes one file, on a branch of its own.
type Proposal struct {
	Branch     string // of it
	Into, Head string // the branch that it is for, and the commit of that which it changes
	Path       string // of the file
	Content    []byte // what the file is to say
	Message    string // of the commit
	Title      string
	Body       string
	// Beyond says what a commit that the branch has already has beyond the branch it is for.
	Beyond func(ctx context.Context, commit string) (Beyond, error)
}

// Beyond is what a branch has that the one it is for has not.
type Beyond int

// The values of Beyond.
const (
	BeyondOther Beyond = iota // something else than the change
	BeyondNone                // no commit
	BeyondSame                // the change, and nothing else
)

// Proposed is what became of a proposal.
type Proposed struct {
	Number int    // of the pull request; 0 where there is none yet
	URL    string // of its page
	Known  bool   // it was there before
	// What is on GitHub of it: the branch, and the commit.
	HasBranch, HasCommit bool
}

// Find looks for the pull request of a proposal, and for what there is of it, and writes nothing.
// A branch that has something else, and one whose pull request was closed or merged, is an error of
// kind ErrRejected. The errors have else the kinds of a Client.
func (c *Client) Find(ctx context.Context, p Proposal) (Proposed, error) {
	_, found, err := c.find(ctx, p)
	return found, err
}

// Propose opens the pull request of a proposal, or finds the one that is open: it goes on with what
// an earlier run left. What is written is written once; after a write of which it is not known
// whether it was carried out, it is looked up. What it returns beside an error is what is there.
func (c *Client) Propose(ctx context.Context, p Proposal) (Proposed, error) {
	for tries := 1; ; tries++ {
		done, err := c.propose(ctx, p)
		var write *writeError
		if !errors.As(err, &write) {
			return done, err
		}
		if !c.again(ctx, err, tries) {
			return done, write.error
		}
	}
}

// DefaultBranch returns the name of the repository's default branch, and its newest commit.
func (c *Client) DefaultBranch(ctx context.Context) (name, sha string, err error) {
	r, _, err := c.api.Repositories.Get(ctx, c.owner, c.repo)
	if err != nil {
		return "", "", c.failed("read the repository", err)
	}
	name = r.GetDefaultBranch()
	sha, err = c.branchHead(ctx, name)
	if err == nil && sha == "" {
		err = &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("the repository %s/%s has no default branch with a commit", c.owner, c.repo)}
	}
	return name, sha, err
}

// branchHead returns the newest commit of a branch; "" for no such branch.
func (c *Client) branchHead(ctx context.Context, name string) (string, error) {
	const what = "read the branch"
	ref, resp, err := c.api.Git.GetRef(ctx, c.owner, c.repo, "heads/"+name)
	if resp != nil && resp.StatusCode == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", c.failed(what, err)
	}
	if sha := ref.GetObject().GetSHA(); isSHA(sha) && ref.GetRef() == "refs/heads/"+name {
		return sha, nil
	}
	return "", &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named %q at %q", what, clip(ref.GetRef(), 80), clip(ref.GetObject().GetSHA(), 80))}
}

// find returns the newest commit of a proposal's branch, and what there is of the proposal.
func (c *Client) find(ctx context.Context, p Proposal) (sha string, found Proposed, err error) {
	if sha, err = c.branchHead(ctx, p.Branch); err != nil || sha == "" {
		return "", found, err
	}
	found.HasBranch = true
	beyond, err := p.Beyond(ctx, sha)
	if err != nil || beyond == BeyondNone {
		return sha, found, err
	}
	if beyond == BeyondOther {
		return sha, found, taken("the branch %q has other changes than this one", p.Branch)
	}
	found.HasCommit = true
	for pull, err := range pages(c, "look for the pull request", 3, func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.List(ctx, c.owner, c.repo,
			&github.PullRequestListOptions{State: "all", Head: c.owner + ":" + p.Branch, Base: p.Into, ListOptions: page})
	}) {
		if err != nil {
			return sha, found, err
		}
		switch one := pullRequest(pull); {
		case one.Open:
			found.Number, found.URL, found.Known = one.Number, pull.GetHTMLURL(), true
			return sha, found, nil
		case one.HeadSHA != sha: // of a branch of this name that is gone
		case one.MergeSHA != "":
			return sha, found, taken("the branch %q is that of pull request %d, which was merged", p.Branch, one.Number)
		default:
			return sha, found, taken("the branch %q is that of pull request %d, which was closed", p.Branch, one.Number)
		}
	}
	commit, _, err := c.api.Git.GetCommit(ctx, c.owner, c.repo, sha)
	if err != nil {
		return sha, found, c.failed("read the commit", err)
	}
	if len(starters(commit.GetMessage())) == 0 {
		return sha, found, taken("the branch %q has the change in a commit that does not say who started it", p.Branch)
	}
	return sha, found, nil
}

// taken is the error for a branch that is used for something else.
func taken(format string, args ...any) error {
	return &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf(format, args...),
		Hint: "look at the branch; where it is not needed any more, delete it on GitHub and run the same command again"}
}

// propose does what is not done yet.
func (c *Client) propose(ctx context.Context, p Proposal) (Proposed, error) {
	sha, done, err := c.find(ctx, p)
	if err != nil || done.Known {
		return done, err
	}
	if !done.HasCommit {
		if sha != p.Head {
			if err := c.putBranch(ctx, p, sha == ""); err != nil {
				return done, err
			}
			done.HasBranch = true
		}
		if _, err := c.commitFile(ctx, p); err != nil {
			return done, &writeError{error: mayNot(err)}
		}
		done.HasCommit = true
	}
	pull, _, err := c.api.PullRequests.Create(ctx, c.owner, c.repo, &github.NewPullRequest{
		Title: &p.Title, Head: &p.Branch, Base: &p.Into, Body: &p.Body, MaintainerCanModify: ptr(false),
	})
	if err != nil {
		return done, &writeError{error: mayNot(c.failed("open the pull request", err))}
	}
	done.Number, done.URL = pull.GetNumber(), pull.GetHTMLURL()
	return done, nil
}

// putBranch makes the branch of a proposal at the commit that it changes, or moves one that has
// nothing of its own forward to it.
func (c *Client) putBranch(ctx context.Context, p Proposal, isNew bool) error {
	ref := &github.Reference{Ref: ptr("refs/heads/" + p.Branch), Object: &github.GitObject{SHA: &p.Head}}
	what := "create the branch " + p.Branch
	var err error
	if isNew {
		_, _, err = c.api.Git.CreateRef(ctx, c.owner, c.repo, ref)
	} else {
		what = "move the branch " + p.Branch + " forward"
		_, _, err = c.api.Git.UpdateRef(ctx, c.owner, c.repo, ref, false)
	}
	if err == nil {
		return nil
	}
	err = mayNot(c.failed(what, err))
	if e := new(fault.Error); errors.As(err, &e) && errors.Is(err, ErrRejected) {
		e.Hint = "look whether a rule of the repository protects the name of the branch, and let the token create packgate/promote-*"
	}
	return &writeError{error: err}
}

// mayNot says of a write that was refused what the token needs.
func mayNot(err error) error {
	var e *fault.Error
	if errors.As(err, &e) && (errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)) {
		e.Hint = "give GITHUB_TOKEN a valid token that has contents: write and pull-requests: write in this repository; an App needs to be installed there, with both"
	}
	return err
}

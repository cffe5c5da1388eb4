package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// Author is somebody who counts as an author of a pull request beside the one who opened it.
type Author struct {
	Login string
	Why   string // as "commit 1234567 is theirs"
}

// maxPullCommits is how many commits of a pull request GitHub lists at most.
const maxPullCommits = 250

// webFlow is the account as which GitHub itself commits what is done on its pages.
const webFlow = "web-flow"

// authors collects who counts as an author of a pull request, by login in lower case.
type authors struct {
	why     map[string]string
	shared  []string // commits whose messages name co-authors
	starter bool     // a line StartedBy names somebody
}

// add notes an author, for the reason that is known first.
func (a *authors) add(login, why string) {
	if login = strings.ToLower(login); login != "" && a.why[login] == "" {
		a.why[login] = why
	}
}

// authors returns who counts as an author of a pull request beside the one who opened it: who
// wrote and who committed each of its commits, as GitHub knows them by the e-mail address, their
// co-authors where GitHub knows them, and whom a line StartedBy names.
//
// The errors have the kinds of a Client. It is of kind ErrTooLarge where GitHub does not list all
// commits, and of kind ErrRejected where the head is not among them, where GitHub knows no
// account of who wrote or committed one, or where the branch is that of a promotion and no line
// says who started it: that may be an approver.
func (c *Client) authors(ctx context.Context, pull PullRequest) (*authors, error) {
	const what = "read who wrote the pull request"
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, pull.Number)
	if err != nil {
		return nil, c.failed(what, err)
	}
	a, count, head := &authors{why: map[string]string{}}, 0, false
	a.started(p.GetBody())
	for commit, err := range pages(c, what, maxPullCommits/pageSize+1, func(page github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
		return c.api.PullRequests.ListCommits(ctx, c.owner, c.repo, pull.Number, &page)
	}) {
		if err == nil {
			err = a.commit(commit)
		}
		if err != nil {
			return nil, err
		}
		count++
		head = head || strings.EqualFold(commit.GetSHA(), pull.HeadSHA)
	}
	switch {
	case count < p.GetCommits() || count == 0:
		return nil, &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("cannot %s %d: GitHub lists %d of its %d commits", what, pull.Number, count, p.GetCommits()),
			Hint:    fmt.Sprintf("split the change, or squash its commits; GitHub lists %d at most", maxPullCommits)}
	case !head:
		return nil, &fault.Error{Kind: ErrRejected,
			Message: fmt.Sprintf("commit %.7s is not among the commits of pull request %d any more", pull.HeadSHA, pull.Number),
			Hint:    "look at the run for its newest commit"}
	case !a.starter && strings.HasPrefix(p.GetHead().GetRef(), PromotionBranch):
		return nil, &fault.Error{Kind: ErrRejected,
			Message: fmt.Sprintf("nobody knows who started pull request %d: its branch %q is one of packgate promote, and no line %s is left in it", pull.Number, p.GetHead().GetRef(), StartedBy),
			Hint:    "close it and run packgate promote --open again, and protect such branches by a ruleset; a branch that you pushed yourself needs another name"}
	case len(a.shared) == 0:
		return a, nil
	}
	return a, c.coauthors(ctx, pull.Number, a)
}

// started notes whom the lines of a text name.
func (a *authors) started(text string) {
	for _, login := range starters(text) {
		a.add(login, "a line "+StartedBy+" names an author")
		a.starter = true
	}
}

// commit notes who wrote and who committed a commit, and whom its message names.
func (a *authors) commit(commit *github.RepositoryCommit) error {
	sha, message := commit.GetSHA(), commit.GetCommit().GetMessage()
	for _, one := range []struct{ did, login string }{{"wrote", commit.GetAuthor().GetLogin()}, {"committed", commit.GetCommitter().GetLogin()}} {
		switch {
		case one.login == "" || one.login == webFlow && one.did == "wrote":
			return &fault.Error{Kind: ErrRejected,
				Message: fmt.Sprintf("GitHub knows no account of who %s commit %.7s: it may be that of whoever approved it", one.did, sha),
				Hint:    "add the e-mail address of the commit to the account of its owner, or propose the change again with an address that GitHub knows"}
		case one.login != webFlow:
			a.add(one.login, fmt.Sprintf("they %s commit %.7s", one.did, sha))
		}
	}
	a.started(message)
	if strings.Contains(strings.ToLower(message), "co-authored-by") {
		a.shared = append(a.shared, strings.ToLower(sha))
	}
	return nil
}

// coauthored is the answer to coauthorsQuery.
type coauthored struct {
	Repository struct {
		PullRequest struct {
			Commits struct {
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
				Nodes []struct {
					Commit struct {
						OID     string
						Authors struct {
							TotalCount int
							Nodes      []struct{ User struct{ Login string } }
						}
					}
				}
			}
		}
	}
}

// coauthorsQuery asks for the authors of commits, which are those of git and those that trailers
// of the message name.
const coauthorsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { commits(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { commit { oid authors(first: 100) { totalCount nodes { user { login } } } } }
  } } }
}`

// coauthors notes the co-authors whom GitHub knows of the commits that name some. Which account an
// e-mail address is of, only the GraphQL API tells.
func (c *Client) coauthors(ctx context.Context, number int, a *authors) error {
	const what = "read who else wrote the pull request"
	unseen := slices.Clone(a.shared)
	for after, page := any(nil), 0; page <= maxPullCommits/pageSize; page++ {
		var data coauthored
		if err := c.graphql(ctx, what, coauthorsQuery, map[string]any{"owner": c.owner, "name": c.repo, "number": number, "after": after}, &data); err != nil {
			return err
		}
		commits := data.Repository.PullRequest.Commits
		for _, node := range commits.Nodes {
			sha, wrote := strings.ToLower(node.Commit.OID), node.Commit.Authors
			if len(wrote.Nodes) < wrote.TotalCount {
				return &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("cannot %s %d: commit %.7s has %d authors", what, number, sha, wrote.TotalCount)}
			}
			for _, one := range wrote.Nodes {
				a.add(one.User.Login, fmt.Sprintf("commit %.7s names them as an author", sha))
			}
			unseen = slices.DeleteFunc(unseen, func(one string) bool { return one == sha })
		}
		if !commits.PageInfo.HasNextPage {
			break
		}
		after = commits.PageInfo.EndCursor
	}
	if len(unseen) > 0 {
		return &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s %d: GitHub does not say who wrote commit %.7s", what, number, unseen[0])}
	}
	return nil
}

// unwritten returns the reviews without the approvals of the authors of the pull request, and
// whose approvals these were. Nobody is asked where nothing was approved.
func (c *Client) unwritten(ctx context.Context, pull PullRequest, all []review) (list []review, own []Author, err error) {
	approves := func(r review) bool { return r.state == reviewApproved && r.current }
	if !slices.ContainsFunc(all, approves) {
		return all, nil, nil
	}
	a, err := c.authors(ctx, pull)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		if why := a.why[strings.ToLower(r.login)]; why != "" && approves(r) {
			own = append(own, Author{r.login, why})
			continue
		}
		list = append(list, r)
	}
	return list, own, nil
}

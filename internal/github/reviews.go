package github

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// maxPages bounds the pages of a list of reviews.
const maxPages = 20

// The states of a review that count, as GitHub spells them.
const (
	ReviewApproved         = "APPROVED"
	ReviewChangesRequested = "CHANGES_REQUESTED"
	ReviewDismissed        = "DISMISSED"
)

// Review is what one reviewer decided last.
type Review struct {
	// Login is the reviewer.
	Login string
	// State is one of the Review constants.
	State string
	// SHA is the commit that was reviewed.
	SHA string
	// Current is true where that is the head of the pull request: an approval of
	// another commit says nothing about what would be merged.
	Current bool
	// Association is what the reviewer is to the repository: OWNER, MEMBER,
	// COLLABORATOR, CONTRIBUTOR, NONE. Anybody may approve a public pull request.
	Association string
}

// Reviews returns the last decision of each reviewer of a pull request, sorted by
// login. A comment decides nothing and does not undo a decision; the author of the
// pull request is left out. The errors have the kinds of a Client; with one of
// them nothing is known, and nothing is returned.
func (c *Client) Reviews(ctx context.Context, number int, author, head string) ([]Review, error) {
	last := map[string]Review{}
	err := c.pages("read the reviews", maxPages, func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.PullRequests.ListReviews(ctx, c.owner, c.repo, number, &page)
		if err != nil {
			return nil, err
		}
		// GitHub lists reviews in the order in which they were submitted.
		for _, r := range list {
			login := r.GetUser().GetLogin()
			state := strings.ToUpper(r.GetState())
			decides := slices.Contains([]string{ReviewApproved, ReviewChangesRequested, ReviewDismissed}, state)
			if login == "" || strings.EqualFold(login, author) || !decides {
				continue
			}
			last[strings.ToLower(login)] = Review{
				Login: login, State: state, SHA: r.GetCommitID(), Current: head != "" && r.GetCommitID() == head,
				Association: r.GetAuthorAssociation(),
			}
		}
		return resp, nil
	})
	if err != nil {
		return nil, err
	}
	reviews := make([]Review, 0, len(last))
	for _, r := range last {
		reviews = append(reviews, r)
	}
	slices.SortFunc(reviews, func(a, b Review) int { return cmp.Compare(a.Login, b.Login) })
	return reviews, nil
}

// isName reports whether s can be the name of an account, a team or a repository,
// none of which needs to be escaped in an address.
func isName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.[]"
	return strings.Trim(s, letters) == "" && strings.Trim(s, ".") != ""
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Label is the one label, of several that exclude each other, that a pull request should have.
type Label struct {
	PullRequest int    // the number of the pull request
	HeadSHA     string // what was judged; a pull request with another head is left alone
	Name        string // "" for none of them
	Group       []string
}

// Label gives a pull request a label, and takes the others of the group from it. Labels beside
// the group stay. After a write of which it is not known whether it was carried out, the labels
// are looked at again. The errors have the kinds of a Client.
func (c *Client) Label(ctx context.Context, l Label) error {
	for tries := 1; ; tries++ {
		err := c.exchange(ctx, l)
		var write *writeError
		if !errors.As(err, &write) { // a read that failed has been tried often enough
			return err
		}
		if !c.again(ctx, err, tries) {
			return write.error
		}
	}
}

// exchange looks at the labels that are there, and writes what differs.
func (c *Client) exchange(ctx context.Context, l Label) error {
	pull, err := c.PullRequest(ctx, l.PullRequest)
	if err != nil || !pull.Open || pull.HeadSHA != l.HeadSHA {
		return err // a newer run labels it
	}
	if l.Name != "" && !containsFold(pull.Labels, l.Name) {
		if err := c.addLabel(ctx, l); err != nil {
			return err
		}
	}
	for _, name := range pull.Labels {
		if containsFold(l.Group, name) && !strings.EqualFold(name, l.Name) {
			if err := c.removeLabel(ctx, l.PullRequest, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// containsFold reports whether a list has a name, as GitHub compares those of labels.
func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// addLabel adds a label. GitHub makes one that the repository does not have.
func (c *Client) addLabel(ctx context.Context, l Label) error {
	address := fmt.Sprintf("repos/%s/%s/issues/%d/labels", c.owner, c.repo, l.PullRequest)
	request, err := c.api.NewRequest(http.MethodPost, address, map[string][]string{"labels": {l.Name}})
	if err == nil {
		_, err = c.api.Do(ctx, request, nil)
	}
	if err != nil {
		return &writeError{error: c.failed("add the label", err)}
	}
	return nil
}

// removeLabel takes a label away.
func (c *Client) removeLabel(ctx context.Context, number int, name string) error {
	if _, err := c.api.Issues.RemoveLabelForIssue(ctx, c.owner, c.repo, number, url.PathEscape(name)); err != nil {
		return &writeError{error: c.failed("remove the label", err)}
	}
	return nil
}

package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/report/render"
	"github.com/google/go-github/v62/github"
)

// MaxComment is the longest body of a comment that GitHub takes, in characters.
const MaxComment = 65536

// maxCommentPages bounds the pages on which a comment is looked for.
const maxCommentPages = 50

// CommentMode says when a comment is written that is not there yet. One that is
// there is brought up to date in every mode but CommentNever: a failure of
// yesterday must not stand above a change that passes.
type CommentMode string

// The modes, by the value of the input comment.
const (
	CommentAlways    CommentMode = "always"     // whenever there is something to report
	CommentOnChange  CommentMode = "on-change"  // when a pack changed in a way that has a class
	CommentOnFailure CommentMode = "on-failure" // when the verdict is not pass
	CommentNever     CommentMode = "never"      // not at all, and nothing is looked up

	// CommentThere is no value of the input: only a comment that is there is written.
	CommentThere CommentMode = "there"
)

// CommentModes returns the values of the input comment, sorted.
func CommentModes() []string {
	return []string{string(CommentAlways), string(CommentNever), string(CommentOnChange), string(CommentOnFailure)}
}

// Comment is the comment on a pull request that should be there.
type Comment struct {
	PullRequest int // the number of the pull request
	// Body begins with a report.Marker, which says by key which comment it is, and
	// by head, run and attempt how new. The run is the one that gave the verdict,
	// also where a second one delivers it.
	Body string
	// Mode decides with the next three whether a new comment is written.
	Mode CommentMode
	// Nothing is true where there is nothing to report, Changed where a pack
	// changed in a way that has a class, Failed where the verdict is not pass.
	Nothing, Changed, Failed bool
}

// CommentAction is what was done about a comment.
type CommentAction string

// The values of CommentAction.
const (
	CommentCreated   CommentAction = "created"
	CommentUpdated   CommentAction = "updated"
	CommentUnchanged CommentAction = "unchanged" // it already said so
	CommentOutdated  CommentAction = "outdated"  // a newer run has written it
	CommentUnwanted  CommentAction = "unwanted"  // the mode wants none
)

// CommentResult is what became of a comment.
type CommentResult struct {
	Action  CommentAction // what was done
	URL     string        // the comment's address, empty where there is none
	Foreign string        // the login that a new comment was written as, where that is not the login that was expected: the next run will not find it
}

// Comment brings the comment on a pull request up to date.
//
// The comment is found by the marker at the start of its body and by its author,
// which is the login that the token writes as: anybody can write a marker, and
// nobody else can write as a login. The author is on every comment of the list, so
// that costs no call. A run that is older than the one that wrote the comment
// leaves it alone. After a write of which it is not known whether it was carried
// out, the comments are looked through again before anything is written.
//
// The errors have the kinds of a Client; with ErrTooLong a shorter body may do.
func (c *Client) Comment(ctx context.Context, comment Comment) (CommentResult, error) {
	if comment.Mode == CommentNever {
		return CommentResult{Action: CommentUnwanted}, nil
	}
	marker, ok := render.ParseMarker(comment.Body)
	if !ok {
		return CommentResult{}, &fault.Error{Kind: ErrRejected, Message: "the comment has no marker at its start"}
	}
	if n := utf8.RuneCountInString(comment.Body); n > MaxComment {
		return CommentResult{}, &fault.Error{Kind: ErrTooLong, Message: fmt.Sprintf("the comment has %d characters, wanted at most %d", n, MaxComment)}
	}
	var tried CommentAction // by a write that failed, and may have been carried out
	for tries := 1; ; tries++ {
		result, err := c.comment(ctx, comment, marker)
		var write *writeError
		if !errors.As(err, &write) { // a read that failed has been tried often enough
			if err == nil && result.Action == CommentUnchanged && tried != "" {
				result.Action = tried
			}
			return result, err
		}
		tried = CommentAction(write.action)
		if !c.again(ctx, err, tries) {
			return CommentResult{}, write.error
		}
	}
}

// writeError marks an error of a write, after which it is worth a look what is there.
type writeError struct {
	error
	action string // one of CommentAction or IssueAction
}

func (e *writeError) Unwrap() error { return e.error }

// comment looks for the comment and writes once at most.
func (c *Client) comment(ctx context.Context, comment Comment, marker render.Marker) (CommentResult, error) {
	old, stamp, err := c.findComment(ctx, comment.PullRequest, marker.Key)
	if err != nil {
		return CommentResult{}, err
	}
	switch {
	case old == nil && !comment.wanted():
		return CommentResult{Action: CommentUnwanted}, nil
	case old == nil:
		return c.createComment(ctx, comment)
	case strings.TrimSpace(old.GetBody()) == strings.TrimSpace(comment.Body): // GitHub may trim it
		return CommentResult{Action: CommentUnchanged, URL: old.GetHTMLURL()}, nil
	case newer(stamp, marker) > 0:
		return CommentResult{Action: CommentOutdated, URL: old.GetHTMLURL()}, nil
	}
	written, _, err := c.api.Issues.EditComment(ctx, c.owner, c.repo, old.GetID(), &github.IssueComment{Body: &comment.Body})
	if err != nil {
		return CommentResult{}, &writeError{c.failed("edit the comment", err), string(CommentUpdated)}
	}
	return CommentResult{Action: CommentUpdated, URL: written.GetHTMLURL()}, nil
}

// wanted reports whether a comment that is not there is to be written.
func (comment Comment) wanted() bool {
	switch comment.Mode {
	case CommentOnChange:
		return !comment.Nothing && comment.Changed
	case CommentOnFailure:
		return comment.Failed
	case CommentThere:
		return false
	}
	return !comment.Nothing
}

// newer compares two runs by their number, which grows, and their attempt. An old
// run that is started again keeps its number, and so stays older than the run of
// a later head.
func newer(a, b render.Marker) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Attempt, b.Attempt))
}

func (c *Client) createComment(ctx context.Context, comment Comment) (CommentResult, error) {
	written, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.repo, comment.PullRequest, &github.IssueComment{Body: &comment.Body})
	if err != nil {
		return CommentResult{}, &writeError{c.failed("write the comment", err), string(CommentCreated)}
	}
	result := CommentResult{Action: CommentCreated, URL: written.GetHTMLURL()}
	if login := written.GetUser().GetLogin(); !strings.EqualFold(login, c.author) {
		result.Foreign = login
	}
	return result, nil
}

// findComment returns the newest comment of ours that goes by a key, and its
// marker; nil where there is none. There are two only where two runs began at the
// same time.
func (c *Client) findComment(ctx context.Context, number int, key string) (*github.IssueComment, render.Marker, error) {
	author, err := c.login(ctx)
	if err != nil {
		return nil, render.Marker{}, err
	}
	type own struct {
		*github.IssueComment
		render.Marker
	}
	var found []own
	for comment, err := range pages(c, "read the comments", maxCommentPages, func(page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return c.api.Issues.ListComments(ctx, c.owner, c.repo, number, &github.IssueListCommentsOptions{ListOptions: page})
	}) {
		if err != nil {
			return nil, render.Marker{}, err
		}
		marker, ok := render.ParseMarker(comment.GetBody())
		if ok && marker.Key == key && strings.EqualFold(comment.GetUser().GetLogin(), author) {
			found = append(found, own{comment, marker})
		}
	}
	if len(found) == 0 {
		return nil, render.Marker{}, nil
	}
	newest := slices.MaxFunc(found, func(a, b own) int { return newer(a.Marker, b.Marker) })
	return newest.IssueComment, newest.Marker, nil
}

package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
)

// Contents returns a file as it was at a commit, of at most limit bytes. It is for
// a base that the checkout does not have.
//
// The error is of kind ErrNotFound only where the commit can be read and has no
// such file. A token that may not read, or a commit that is not there, is answered
// by GitHub in the same way, so the commit is asked for before a file is taken to
// be absent; the error is then of kind ErrBaseUnreadable. A folder is an error of
// kind ErrRejected. GitHub follows a symbolic link within the repository and does
// not say so.
func (c *Client) Contents(ctx context.Context, sha, path string, limit int64) ([]byte, error) {
	if !isSHA(sha) {
		return nil, &fault.Error{Kind: ErrBaseUnreadable, Message: fmt.Sprintf("the base is %q, wanted a commit", clip(sha, 80))}
	}
	what := fmt.Sprintf("read %q at %s", clip(path, 200), sha)
	if !fs.ValidPath(path) {
		return nil, &fault.Error{Kind: ErrRejected, Message: "cannot " + what + ": it is no path within a repository"}
	}
	req, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/contents/%s?ref=%s", c.owner, c.repo, pathEscape(path), sha), nil)
	if err != nil {
		return nil, c.failed(what, err)
	}
	req.Header.Set("Accept", "application/vnd.github.raw+json")
	var content bytes.Buffer
	resp, err := c.api.Do(ctx, req, &content)
	if err = c.failed(what, err); errors.Is(err, ErrNotFound) {
		return nil, cmp.Or(c.canRead(ctx, sha), err)
	} else if err != nil {
		return nil, err
	}
	// A folder is listed as JSON, whatever was asked for.
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" {
		return nil, &fault.Error{Kind: ErrRejected, Message: "cannot " + what + ": it is no file"}
	}
	if int64(content.Len()) > limit {
		return nil, &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("cannot %s: it has %d bytes, wanted at most %d", what, content.Len(), limit)}
	}
	return content.Bytes(), nil
}

// canRead makes sure, once for each commit, that it is there to be read.
func (c *Client) canRead(ctx context.Context, sha string) error {
	if c.readable[sha] {
		return nil
	}
	_, _, err := c.api.Git.GetCommit(ctx, c.owner, c.repo, sha)
	if err != nil {
		// As text: wrapped, it would say of the file that it is not found.
		return unreadable(sha, errors.New(c.failed("read the commit", err).Error()))
	}
	c.readable[sha] = true
	return nil
}

// pathEscape escapes each segment of a path and keeps the slashes between them.
func pathEscape(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.Join(segments, "/")
}

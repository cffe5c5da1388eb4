package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// reviewRequest is a review as it is sent.
type reviewRequest struct {
	Body     string          `json:"body"`
	Event    string          `json:"event"`
	Commit   string          `json:"commit_id"`
	Comments []ReviewComment `json:"comments"`
}

// createReview takes the review of a comment with comments at lines of the new
// side, as GitHub does: at lines that the difference shows alone.
func (g *GitHub) createReview(r *http.Request, body []byte) answer {
	var sent reviewRequest
	n := number(r, "pull_number")
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case !g.hasPull(n):
		return missing
	case sent.Event != "COMMENT" || sent.Body == "":
		return unprocessable("Body can't be blank, and the event is COMMENT")
	case g.Commits[sent.Commit] == nil:
		return unprocessable("No commit found for SHA: " + sent.Commit)
	}
	for i := range sent.Comments {
		if bad := g.placed(n, &sent.Comments[i]); bad.status != 0 {
			return bad
		}
	}
	review := Review{Pull: n, Author: g.Login, State: "COMMENTED", SHA: sent.Commit, Status: "NONE"}
	g.Reviews = append(g.Reviews, review)
	for _, c := range sent.Comments {
		c.ID, c.Pull, c.Author = g.newID(), n, g.Login
		g.ReviewComments = append(g.ReviewComments, c)
	}
	return found(g.review(review))
}

// placed refuses a comment that has no place in the difference.
func (g *GitHub) placed(pull int64, c *ReviewComment) answer {
	if c.Body == "" || utf8.RuneCountInString(c.Body) > 65536 {
		return TooLong.answer()
	}
	first := c.Line
	if c.StartLine != 0 {
		first = c.StartLine
	}
	i := slices.IndexFunc(g.Files, func(f File) bool { return f.Pull == pull && f.Path == c.Path })
	if i < 0 || c.Side != "RIGHT" || first < 1 || c.StartLine >= c.Line || !inHunk(g.Files[i].Patch, first, c.Line) {
		return unprocessable("Pull request review thread line must be part of the diff")
	}
	return answer{}
}

// inHunk reports by the headers of a difference whether one hunk of it shows lines
// of the new side.
func inHunk(patch string, first, last int) bool {
	for line := range strings.SplitSeq(patch, "\n") {
		_, after, ok := strings.Cut(line, " +")
		if !strings.HasPrefix(line, "@@ -") || !ok {
			continue
		}
		from, count := 0, 1
		if n, _ := fmt.Sscanf(after, "%d,%d", &from, &count); n > 0 && from <= first && last < from+count {
			return true
		}
	}
	return false
}

func (g *GitHub) listReviewComments(r *http.Request, _ []byte) answer {
	n := number(r, "pull_number")
	if !g.hasPull(n) {
		return missing
	}
	var list []ReviewComment
	for _, c := range g.ReviewComments {
		if c.Pull == n {
			list = append(list, c)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, g.reviewComment), header: link}
}

func (g *GitHub) reviewComment(c ReviewComment) object {
	address := g.api("/repos/%s/pulls/comments/%d", g.Repository, c.ID)
	pull, page := g.api("/repos/%s/pulls/%d", g.Repository, c.Pull), g.web("/pull/%d#discussion_r%d", c.Pull, c.ID)
	return object{
		"id": c.ID, "node_id": "PRRC_1", "url": address, "html_url": page, "pull_request_url": pull, "pull_request_review_id": 1,
		"diff_hunk": "@@", "path": c.Path, "commit_id": Head, "original_commit_id": Head, "user": g.user(c.Author), "body": c.Body,
		"created_at": moment, "updated_at": moment, "author_association": "NONE", "line": c.Line, "side": "RIGHT",
		"_links": object{"self": object{"href": address}, "html": object{"href": page}, "pull_request": object{"href": pull}},
	}
}

package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Issue is an issue. Pull requests, which GitHub lists among them, are made of State.Pulls.
type Issue struct {
	Number      int64
	Author      string
	Title, Body string
	Closed      bool
	Reason      string // why it is closed or was opened again
}

// listIssues lists issues and pull requests, the newest first, as GitHub does.
func (g *GitHub) listIssues(r *http.Request, _ []byte) answer {
	q := r.URL.Query()
	wanted := func(closed bool, author string) bool {
		return (q.Get("state") == "all" || closed == (q.Get("state") == "closed")) && (q.Get("creator") == "" || strings.EqualFold(q.Get("creator"), author))
	}
	var list []object
	for i := range g.Issues {
		if one := g.Issues[len(g.Issues)-1-i]; wanted(one.Closed, one.Author) {
			list = append(list, g.issue(one))
		}
	}
	for _, p := range g.Pulls {
		if wanted(p.Closed, p.Author) {
			o := g.issue(Issue{Number: p.Number, Author: p.Author, Title: "A change", Closed: p.Closed})
			o["pull_request"] = object{"url": g.api("/repos/%s/pulls/%d", g.Repository, p.Number), "html_url": g.web("/pull/%d", p.Number), "diff_url": g.web("/pull/%d.diff", p.Number), "patch_url": g.web("/pull/%d.patch", p.Number)}
			list = append(list, o)
		}
	}
	list, link := page(g, r, list)
	if list == nil {
		list = []object{}
	}
	return answer{status: http.StatusOK, value: list, header: link}
}

// issueRequest is what is sent of an issue; nil for what stays.
type issueRequest struct {
	Title       *string `json:"title"`
	Body        *string `json:"body"`
	State       *string `json:"state"`
	StateReason *string `json:"state_reason"`
}

func readIssue(body []byte) (sent issueRequest, bad answer) {
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return sent, failure(http.StatusBadRequest, "Problems parsing JSON")
	case sent.Title != nil && utf8.RuneCountInString(*sent.Title) > 256:
		return sent, unprocessable("title is too long (maximum is 256 characters)")
	case sent.Body != nil && utf8.RuneCountInString(*sent.Body) > 65536:
		return sent, TooLong.answer()
	case sent.State != nil && *sent.State != "open" && *sent.State != "closed":
		return sent, unprocessable("state is neither open nor closed")
	}
	return sent, answer{}
}

func (g *GitHub) createIssue(_ *http.Request, body []byte) answer {
	sent, bad := readIssue(body)
	switch {
	case bad.status != 0:
		return bad
	case sent.Title == nil || *sent.Title == "":
		return unprocessable("title can't be blank")
	}
	one := Issue{Number: g.newID(), Author: g.Login, Title: *sent.Title}
	if sent.Body != nil {
		one.Body = *sent.Body
	}
	g.Issues = append(g.Issues, one)
	return answer{status: http.StatusCreated, value: g.issue(one)}
}

func (g *GitHub) updateIssue(r *http.Request, body []byte) answer {
	sent, bad := readIssue(body)
	if bad.status != 0 {
		return bad
	}
	n := number(r, "issue_number")
	for i := range g.Issues {
		one := &g.Issues[i]
		if one.Number != n {
			continue
		}
		for _, part := range []struct{ from, to *string }{{sent.Title, &one.Title}, {sent.Body, &one.Body}, {sent.StateReason, &one.Reason}} {
			if part.from != nil {
				*part.to = *part.from
			}
		}
		if sent.State != nil {
			one.Closed = *sent.State == "closed"
			if !one.Closed {
				one.Reason = "reopened"
			}
		}
		return found(g.issue(*one))
	}
	return missing
}

func (g *GitHub) issue(one Issue) object {
	state, reason, closed := "open", any(nil), any(nil)
	if one.Reason != "" {
		reason = one.Reason
	}
	if one.Closed {
		state, closed = "closed", moment
	}
	o := object{
		"id": one.Number, "node_id": "I_1", "number": one.Number, "title": one.Title, "body": one.Body, "state": state, "state_reason": reason,
		"user": g.user(one.Author), "labels": []object{}, "assignee": nil, "assignees": []object{}, "milestone": nil, "locked": false,
		"comments": 0, "closed_at": closed, "created_at": moment, "updated_at": moment, "author_association": "NONE",
		"repository_url": g.api("/repos/%s", g.Repository), "html_url": g.web("/issues/%d", one.Number),
		"url": g.api("/repos/%s/issues/%d", g.Repository, one.Number), "labels_url": g.api("/repos/%s/issues/%d/labels{/name}", g.Repository, one.Number),
	}
	for _, name := range []string{"comments", "events"} {
		o[name+"_url"] = g.api("/repos/%s/issues/%d/%s", g.Repository, one.Number, name)
	}
	return o
}

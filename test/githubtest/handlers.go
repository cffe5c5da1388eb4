package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

var missing = failure(http.StatusNotFound, "Not Found")

func found(value any) answer { return answer{status: http.StatusOK, value: value} }

func (g *GitHub) getUser(*http.Request, []byte) answer {
	if strings.HasSuffix(g.Login, "[bot]") {
		return Forbidden.answer()
	}
	return found(g.privateUser())
}

func (g *GitHub) hasPull(n int64) bool {
	return slices.ContainsFunc(g.Pulls, func(p Pull) bool { return p.Number == n })
}

func (g *GitHub) listComments(r *http.Request, _ []byte) answer {
	n := number(r, "issue_number")
	if !g.hasPull(n) {
		return missing
	}
	var list []Comment
	for _, c := range g.Comments {
		if c.Pull == n {
			list = append(list, c)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, g.comment), header: link}
}

func commentBody(body []byte) (string, answer) {
	var sent struct {
		Body *string `json:"body"`
	}
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return "", failure(http.StatusBadRequest, "Problems parsing JSON")
	case sent.Body == nil || *sent.Body == "":
		return "", unprocessable("Body cannot be blank")
	case utf8.RuneCountInString(*sent.Body) > 65536:
		return "", TooLong.answer()
	}
	return *sent.Body, answer{}
}

func (g *GitHub) createComment(r *http.Request, body []byte) answer {
	text, bad := commentBody(body)
	n := number(r, "issue_number")
	if bad.status != 0 {
		return bad
	}
	if !g.hasPull(n) {
		return missing
	}
	c := Comment{ID: g.newID(), Pull: n, Author: g.Login, Body: text}
	g.Comments = append(g.Comments, c)
	return answer{status: http.StatusCreated, value: g.comment(c)}
}

func (g *GitHub) updateComment(r *http.Request, body []byte) answer {
	text, bad := commentBody(body)
	if bad.status != 0 {
		return bad
	}
	id := number(r, "comment_id")
	for i := range g.Comments {
		if c := &g.Comments[i]; c.ID == id {
			if c.Author != g.Login {
				return Forbidden.answer()
			}
			c.Body = text
			return found(g.comment(*c))
		}
	}
	return missing
}

type checkRequest struct {
	Name       string `json:"name"`
	Head       string `json:"head_sha"`
	ExternalID string `json:"external_id"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	Details    string `json:"details_url"`
	Output     struct {
		Title       string       `json:"title"`
		Summary     string       `json:"summary"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
}

func readCheck(body []byte) (checkRequest, answer) {
	var sent checkRequest
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return sent, failure(http.StatusBadRequest, "Problems parsing JSON")
	case len(sent.Output.Annotations) > 50:
		return sent, unprocessable(fmt.Sprintf("No more than 50 items are allowed; %d were supplied.", len(sent.Output.Annotations)))
	case len(sent.Output.Summary) > 65535:
		return sent, unprocessable("Summary is too long")
	case sent.Output.Title == "" || sent.Output.Summary == "":
		return sent, unprocessable("Output needs title and summary")
	}
	return sent, answer{}
}

func (g *GitHub) createCheckRun(_ *http.Request, body []byte) answer {
	sent, bad := readCheck(body)
	switch {
	case bad.status != 0:
		return bad
	case g.Commits[sent.Head] == nil:
		return unprocessable("No commit found for SHA: " + sent.Head)
	case sent.Status == "completed" && sent.Conclusion == "":
		return unprocessable("Conclusion is missing")
	}
	run := CheckRun{
		ID: g.newID(), Name: sent.Name, Head: sent.Head, ExternalID: sent.ExternalID, Conclusion: sent.Conclusion, Details: sent.Details,
		Title: sent.Output.Title, Summary: sent.Output.Summary, Annotations: sent.Output.Annotations,
	}
	g.CheckRuns = append(g.CheckRuns, run)
	return answer{status: http.StatusCreated, value: g.checkRun(run)}
}

func (g *GitHub) updateCheckRun(r *http.Request, body []byte) answer {
	sent, bad := readCheck(body)
	if bad.status != 0 {
		return bad
	}
	id := number(r, "check_run_id")
	for i := range g.CheckRuns {
		if run := &g.CheckRuns[i]; run.ID == id {
			run.Title, run.Summary = sent.Output.Title, sent.Output.Summary
			run.Annotations = append(run.Annotations, sent.Output.Annotations...)
			return found(g.checkRun(*run))
		}
	}
	return missing
}

func (g *GitHub) listCheckRuns(r *http.Request, _ []byte) answer {
	name := r.URL.Query().Get("check_name")
	var list []CheckRun
	for _, run := range g.CheckRuns {
		if run.Head == r.PathValue("ref") && (name == "" || run.Name == name) {
			list = append(list, run)
		}
	}
	total := len(list)
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: object{"total_count": total, "check_runs": each(list, g.checkRun)}, header: link}
}

func (g *GitHub) getPull(r *http.Request, _ []byte) answer {
	n := number(r, "pull_number")
	for _, p := range g.Pulls {
		if p.Number == n {
			return found(g.pull(p, true))
		}
	}
	return missing
}

func (g *GitHub) listPulls(r *http.Request, _ []byte) answer {
	q := r.URL.Query()
	var list []Pull
	for _, p := range g.Pulls {
		if base := q.Get("base"); base != "" && base != cmp.Or(p.Into, "main") {
			continue
		}
		if head := q.Get("head"); (head == "" || head == p.Owner+":"+p.Branch) && (q.Get("state") == "all" || !p.Closed) {
			list = append(list, p)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, func(p Pull) object { return g.pull(p, false) }), header: link}
}

// listCommitPulls knows the commits of the repository itself alone, as GitHub does:
// those of its branches, and those that a pull request was merged as.
func (g *GitHub) listCommitPulls(r *http.Request, _ []byte) answer {
	owner, _, _ := strings.Cut(g.Repository, "/")
	var list []Pull
	for _, p := range g.Pulls {
		sha, own := r.PathValue("commit_sha"), p.Owner == owner || p.Merged != ""
		if own && (p.Head == sha || p.Merged == sha || slices.Contains(p.Commits, sha)) {
			list = append(list, p)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, func(p Pull) object { return g.pull(p, false) }), header: link}
}

func (g *GitHub) listFiles(r *http.Request, _ []byte) answer {
	n := number(r, "pull_number")
	var list []File
	for _, f := range g.Files {
		if f.Pull == n && len(list) < 3000 {
			list = append(list, f)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, g.file), header: link}
}

func (g *GitHub) listReviews(r *http.Request, _ []byte) answer {
	n := number(r, "pull_number")
	var list []Review
	for _, review := range g.Reviews {
		if review.Pull == n {
			list = append(list, review)
		}
	}
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: each(list, g.review), header: link}
}

// commitsOf returns the commits of a pull request that GitHub lists, 250 at most, oldest first.
func (g *GitHub) commitsOf(number int64) (list []string, author string) {
	i := slices.IndexFunc(g.Pulls, func(p Pull) bool { return p.Number == number })
	if i < 0 {
		return nil, ""
	}
	all := append(slices.Clone(g.Pulls[i].Commits), g.Pulls[i].Head)
	return all[:min(len(all), 250)], g.Pulls[i].Author
}

func (g *GitHub) listPullCommits(r *http.Request, _ []byte) answer {
	all, author := g.commitsOf(number(r, "pull_number"))
	if all == nil {
		return missing
	}
	list, link := page(g, r, all)
	written := func(sha string) object { return g.written(sha, Writers{author, author}) }
	return answer{status: http.StatusOK, value: each(list, written), header: link}
}

func (g *GitHub) getCommit(r *http.Request, _ []byte) answer {
	sha := r.PathValue("commit_sha")
	if g.Commits[sha] == nil {
		return missing
	}
	return found(g.commit(sha))
}

// listCommits knows of a file the commits that changed it, at any commit that is not
// one of them, and at one of them it and those before.
func (g *GitHub) listCommits(r *http.Request, _ []byte) answer {
	q := r.URL.Query()
	commits := g.Changed[q.Get("path")]
	commits = commits[max(slices.Index(commits, q.Get("sha")), 0):]
	list, link := page(g, r, commits)
	return answer{status: http.StatusOK, value: each(list, g.history), header: link}
}

// compareCommits knows where the histories of two commits parted, and of nothing that they
// changed.
func (g *GitHub) compareCommits(r *http.Request, _ []byte) answer {
	base, _, _ := strings.Cut(r.PathValue("basehead"), "...")
	parted, ok := g.Parted[r.PathValue("basehead")]
	if !ok {
		return missing
	}
	page := g.api("/repos/%s/compare/%s", g.Repository, r.PathValue("basehead"))
	return found(object{
		"url": page, "html_url": page, "permalink_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch",
		"base_commit": g.history(base), "merge_base_commit": g.history(parted), "status": "diverged",
		"ahead_by": 1, "behind_by": 1, "total_commits": 1, "commits": []object{}, "files": []object{},
	})
}

func (g *GitHub) getRunAttempt(r *http.Request, _ []byte) answer {
	id, attempt := number(r, "run_id"), number(r, "attempt_number")
	for _, run := range g.Runs {
		if run.ID == id && run.Attempt == attempt {
			return found(g.run(run))
		}
	}
	return missing
}

func (g *GitHub) listArtifacts(r *http.Request, _ []byte) answer {
	run, name := number(r, "run_id"), r.URL.Query().Get("name")
	var list []Artifact
	for _, a := range g.Artifacts {
		if a.Run == run && (name == "" || a.Name == name) {
			list = append(list, a)
		}
	}
	total := len(list)
	list, link := page(g, r, list)
	return answer{status: http.StatusOK, value: object{"total_count": total, "artifacts": each(list, g.artifact)}, header: link}
}

func (g *GitHub) downloadArtifact(r *http.Request, _ []byte) answer {
	id := number(r, "artifact_id")
	for _, a := range g.Artifacts {
		if a.ID == id {
			return answer{status: http.StatusFound, header: map[string]string{"Location": fmt.Sprintf("%s/%d?sig=secret", g.store.URL, id)}}
		}
	}
	return failure(http.StatusGone, "Artifact has expired")
}

// serveStore gives out artifacts to whoever has the address.
func (g *GitHub) serveStore(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.Leaked = g.Leaked || r.Header.Get("Authorization") != ""
	fault, failing := g.next(Store)
	a := answer{status: http.StatusNotFound}
	for _, stored := range g.Artifacts {
		if r.URL.Path == fmt.Sprintf("/%d", stored.ID) {
			a = answer{status: http.StatusOK, raw: stored.Archive}
		}
	}
	g.mu.Unlock()
	switch {
	case failing && !fault.Kind.answers():
		fault.Kind.breakOff(w, r, a.raw)
		return
	case failing:
		a = fault.Kind.answer()
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	w.Write(a.bytes())
}

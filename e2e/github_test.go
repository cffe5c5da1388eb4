package e2e

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/e2e/openapi"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
)

// githubDescription returns a server's description of what the stand-in does.
func githubDescription(t *testing.T, server string) *openapi.Description {
	t.Helper()
	folder := filepath.Join("node_modules", ".packgate")
	trimmed, err := openapi.Fetch(t.Context(), folder, server, githubtest.Operations(), func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Load(t.Context(), trimmed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// merged is the commit that a pull request of the stand-in was merged as.
const merged = "3e49ed0000000000000000000000000000000003"

// standIn is a stand-in of which every request and every answer is held against
// the description, but those of GraphQL, which are kept.
type standIn struct {
	*githubtest.GitHub
	wrong   []string
	seen    map[string]bool
	queries []query
}

func newStandIn(t *testing.T, d *openapi.Description) *standIn {
	t.Helper()
	s := &standIn{GitHub: githubtest.New(t), seen: map[string]bool{}}
	// Not the test's context, which ends before the server does.
	ctx := context.WithoutCancel(t.Context())
	s.Check = func(e githubtest.Exchange) {
		if e.Operation == githubtest.GraphQL {
			s.wrong = append(s.wrong, s.keep(e)...)
			return
		}
		s.seen[e.Operation] = true
		s.wrong = append(s.wrong, d.Check(ctx, openapi.Exchange{Request: e.Request, Status: e.Status, Header: e.Header, Answer: e.Answer})...)
	}
	s.Runs = []githubtest.Run{{ID: 5, Attempt: 2, Head: githubtest.Head, Conclusion: github.RunSucceeded}}
	s.Artifacts = []githubtest.Artifact{{ID: 3, Run: 5, Name: "packgate report", Archive: zipOf(t, "report.json", "{}")}}
	s.Commits[githubtest.Base]["packs/a b/pack.json"] = "{"
	s.Branches["behind"] = githubtest.Head
	s.Messages[githubtest.Head] = "Refunds\n\nCo-authored-by: Eve <eve@example.com>\nCo-authored-by: Bot <bot@example.org>"
	s.Changed["packs/a b/pack.json"] = []string{merged}
	s.Parted[githubtest.Base+"..."+githubtest.Head] = githubtest.Base
	for i := range 130 {
		s.Teams["acme/risk"] = append(s.Teams["acme/risk"], fmt.Sprintf("member-%d", i))
	}
	s.Teams["acme/risk"] = append(s.Teams["acme/risk"], "ann")
	s.Files = []githubtest.File{{Pull: 7, Path: "b", Previous: "a", Status: "renamed", Patch: "@@ -1 +1 @@"}, {Pull: 7, Path: "c", Status: "added", Patch: "@@ -0,0 +1,3 @@\n+{\n+\n+}"}}
	for range 130 {
		s.Reviews = append(s.Reviews, githubtest.Review{Pull: 7, Author: "ann", State: "APPROVED", SHA: githubtest.Head, Status: "MEMBER"})
		s.Comments = append(s.Comments, githubtest.Comment{ID: 1, Pull: 7, Author: "mona", Body: "hello"})
	}
	s.Pulls = append(s.Pulls, githubtest.Pull{Number: 8, Author: "bob", Head: githubtest.Base, Base: githubtest.Base, Owner: "acme", Branch: "next"},
		githubtest.Pull{Number: 9, Author: "bob", Head: githubtest.Head, Base: githubtest.Base, Owner: "bob", Branch: "old", Merged: merged})
	s.Reviews = append(s.Reviews, githubtest.Review{Pull: 9, Author: "ann", State: "APPROVED", SHA: githubtest.Head, Status: "MEMBER"},
		githubtest.Review{Pull: 9, Author: "robot[bot]", State: "CHANGES_REQUESTED", SHA: githubtest.Head, Status: "NONE"})
	return s
}

func zipOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *standIn) client(t *testing.T) *github.Client {
	t.Helper()
	c, err := github.NewClient(github.Options{
		APIURL: s.URL, Token: s.Token, Repository: s.Repository, Version: "1.2.3", Timeout: time.Minute,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func gateComment(run int64) github.Comment {
	marker := render.Marker{Key: "gate/.packgate.yaml", Head: githubtest.Head, Run: run, Attempt: 1}
	return github.Comment{PullRequest: 7, Body: marker.String() + "\ntext", Mode: github.CommentAlways}
}

func gateCheckRun() github.CheckRun {
	run := github.CheckRun{
		Name: "packgate", HeadSHA: githubtest.Head, ID: "gate/5/1", DetailsURL: "https://github.com/acme/packs/actions/runs/5",
		Conclusion: "failure", Title: strings.Repeat("t", 300), Summary: strings.Repeat("é", 80_000),
	}
	for i := range 120 {
		run.Annotations = append(run.Annotations, github.Annotation{
			Level: []string{"error", "warning", "notice"}[i%3], File: "packs/support/pack.json", Line: i + 1, Column: i % 5,
			EndLine: i + 1 + i%2, EndColumn: 9, Title: strings.Repeat("a", 300), Message: strings.Repeat("m", 70_000/(1+i)),
		})
	}
	return run
}

// everyCall makes every call of a client, and returns the errors by call.
func everyCall(ctx context.Context, c *github.Client) map[string]error {
	errs := map[string]error{}
	_, errs["new comment"] = c.Comment(ctx, gateComment(5))
	_, errs["old comment"] = c.Comment(ctx, gateComment(6))
	_, errs["check run"] = c.CheckRun(ctx, gateCheckRun())
	_, errs["suggestions"] = c.Suggest(ctx, 7, githubtest.Head, []github.Suggestion{
		{Path: "c", Fingerprint: "one", Line: 1, Before: []string{"{"}, After: []string{"["}, Text: "words"},
		{Path: "c", Fingerprint: "two", Line: 2, Before: []string{"", "}"}, After: []string{"[]"}, Text: "words"},
	})
	errs["label"] = c.Label(ctx, github.Label{PullRequest: 7, HeadSHA: githubtest.Head, Name: "packgate: minor", Group: []string{"packgate: minor", "packgate: major"}})
	errs["another label"] = c.Label(ctx, github.Label{PullRequest: 7, HeadSHA: githubtest.Head, Name: "packgate: major", Group: []string{"packgate: minor", "packgate: major"}})
	errs["issues"] = keepIssues(ctx, c)
	_, errs["pull request"] = c.PullRequest(ctx, 7)
	_, errs["pull request of a fork"] = c.PullRequestAt(ctx, githubtest.Head, "mona", "refunds")
	_, errs["pull request of a commit"] = c.PullRequestAt(ctx, githubtest.Base, "", "")
	_, errs["files"] = c.PullRequestFiles(ctx, 7)
	errs["base"] = readBase(ctx, c)
	_, errs["artifact"] = c.Artifact(ctx, 5, "packgate report", []github.ArtifactFile{{Name: "report.json", Limit: 1000}})
	_, errs["run"] = c.Conclusion(ctx, github.WorkflowRun{ID: 5, Attempt: 2, HeadSHA: githubtest.Head})
	_, errs["team"] = c.TeamMembers(ctx, "acme", "risk")
	_, errs["viewer"] = c.Viewer(ctx)
	errs["approvals"] = approve(ctx, c)
	errs["proposal"] = propose(ctx, c)
	return errs
}

// keepIssues opens an issue, edits it, closes it and opens it again.
func keepIssues(ctx context.Context, c *github.Client) error {
	issues, err := c.Issues(ctx)
	if err != nil {
		return err
	}
	for _, one := range []github.Issue{
		{Key: "kind/a b", Standing: true, Fact: "1", Title: "title", Body: "body"}, {Key: "kind/a b", Standing: true, Fact: "2", Body: "another"},
		{Key: "kind/a b", Body: "gone"}, {Key: "kind/a b", Standing: true, Fact: "1", Body: "back"},
	} {
		if _, err := issues.Keep(ctx, one); err != nil {
			return err
		}
	}
	return cmp.Or(issues.Settle(ctx), issues.Sent(ctx, "kind/a b", "hook", "event"))
}

// approve asks who approved the change that a file of a pack came with.
func approve(ctx context.Context, c *github.Client) error {
	commits, err := c.History(ctx, githubtest.Base, "packs/a b/pack.json", 5)
	if err != nil {
		return err
	}
	pull, err := c.MergedPull(ctx, commits[0])
	if err != nil {
		return err
	}
	got, err := c.Approvals(ctx, github.Question{
		Pull: pull, Roles: []string{"legal", "risk"}, Members: map[string][]string{"risk": {"@acme/risk"}, "legal": {"@acme/legal"}},
	})
	if err == nil && (pull.Number != 9 || !slices.Equal(got.Granted, []github.Approval{{Role: "risk", Login: "ann"}}) || len(got.NotChecked) != 1) {
		err = fmt.Errorf("pull request %d has %+v", pull.Number, got)
	}
	return err
}

// propose opens a pull request, finds it, and finds a branch that is behind.
func propose(ctx context.Context, c *github.Client) error {
	into, head, err := c.DefaultBranch(ctx)
	if err != nil {
		return err
	}
	p := github.Proposal{
		Branch: "packgate/promote-prod-a-1.0.0", Into: into, Head: head, Path: "pins/prod.json", Content: []byte("{}\n"),
		Message: "Promote\n\n" + github.StarterLine("mona"), Title: "Promote", Body: "body",
		Beyond: func(_ context.Context, sha string) (github.Beyond, error) {
			if sha == githubtest.Head {
				return github.BeyondNone, nil
			}
			return github.BeyondSame, nil
		},
	}
	done, err := c.Propose(ctx, p)
	if err != nil {
		return err
	}
	again, err := c.Propose(ctx, p)
	if err == nil && (done.Known || !again.Known || again.Number != done.Number) {
		err = fmt.Errorf("%+v, and then %+v", done, again)
	}
	if err != nil {
		return err
	}
	p.Branch = "behind"
	_, err = c.Propose(ctx, p)
	return err
}

// readBase reads a file of a commit that only the API has.
func readBase(ctx context.Context, c *github.Client) (err error) {
	dir, err := os.MkdirTemp("", "packgate-base-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := exec.CommandContext(ctx, "git", "init", "-q", dir).Run(); err != nil {
		return err
	}
	git, err := github.OpenWith(dir, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, git.Close()) }()
	tree, err := git.At(ctx, &github.Event{}, "", githubtest.Base)
	if err != nil {
		return err
	}
	if _, err = tree.ReadFile("packs/a b/pack.json", 100); err != nil {
		return err
	}
	parted, known, err := git.MergeBase(ctx, githubtest.Base, githubtest.Head)
	if err == nil && (!known || parted != githubtest.Base) {
		err = fmt.Errorf("the commits parted from %q", parted)
	}
	return err
}

// Every request of the client, and every answer of the stand-in, is as GitHub
// describes it, and every operation of the stand-in is among them.
func TestClientKeepsGitHubsContract(t *testing.T) {
	var asked []query
	for _, server := range []string{openapi.Cloud, openapi.Server} {
		t.Run(server, func(t *testing.T) { asked = keepsContract(t, githubDescription(t, server)) })
	}
	for _, wrong := range wrongQueries(t, asked) { // both servers were asked the same
		t.Error(wrong)
	}
}

// keepsContract returns the queries of GraphQL that were asked.
func keepsContract(t *testing.T, d *openapi.Description) []query {
	s := newStandIn(t, d)
	for name, err := range everyCall(t.Context(), s.client(t)) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Suggestions that are there are listed.
	if got, err := s.client(t).Suggest(t.Context(), 7, githubtest.Head, []github.Suggestion{
		{Path: "c", Fingerprint: "one", Line: 1, Before: []string{"{"}, After: []string{"["}, Text: "words"},
	}); err != nil || got.Known != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	// After an answer that was lost, the check run is looked up.
	s.Fail(githubtest.CreateCheckRun, githubtest.Fault{Kind: githubtest.Reset, Done: true})
	if _, err := s.client(t).CheckRun(t.Context(), gateCheckRun()); err != nil {
		t.Error(err)
	}
	// What is not there.
	if _, err := s.client(t).TeamMembers(t.Context(), "acme", "legal"); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a team is there that is not: %v", err)
	}
	if _, err := s.client(t).History(t.Context(), githubtest.Base, "none", 5); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a file changed that is not there: %v", err)
	}
	if _, err := s.client(t).MergedPull(t.Context(), githubtest.Base); !errors.Is(err, github.ErrNoPullRequest) {
		t.Errorf("a commit was merged that was not: %v", err)
	}
	// A person's token asks who it is.
	s.Token, s.Login = "ghp_"+"token", "mona"
	if _, err := s.client(t).Comment(t.Context(), gateComment(7)); err != nil {
		t.Error(err)
	}
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
	for _, name := range githubtest.Operations() {
		if !s.seen[name] {
			t.Errorf("no call does %s", name)
		}
	}
	return s.queries
}

// The answers by which the stand-in fails are GitHub's too.
func TestFailuresAreGitHubs(t *testing.T) {
	d := githubDescription(t, openapi.Cloud)
	for kindName, kind := range githubtest.Kinds() {
		if slices.Contains([]githubtest.Kind{githubtest.BadGateway, githubtest.Reset, githubtest.SlowBody, githubtest.Truncated}, kind) {
			continue // of a proxy and of the network
		}
		t.Run(kindName, func(t *testing.T) {
			s := newStandIn(t, d)
			for _, operation := range githubtest.Operations() {
				s.Fail(operation, githubtest.Fault{Kind: kind})
			}
			everyCall(t.Context(), s.client(t))
			for _, wrong := range s.wrong {
				t.Error(wrong)
			}
		})
	}
}

// The description notices what a client could get wrong, so that silence says
// something.
func TestDescriptionNotices(t *testing.T) {
	d := githubDescription(t, openapi.Cloud)
	many := strings.TrimSuffix(strings.Repeat(`{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"},`, 51), ",")
	check := `{"name":"n","head_sha":"` + githubtest.Head + `","output":{"title":"t","summary":"s","annotations":[%s]}}`
	for name, c := range map[string]struct{ operation, body string }{
		"no such address":      {"GET /repos/acme/packs/pull/7", ""},
		"unknown parameter":    {"GET /repos/acme/packs/issues/7/comments?sort=created", ""},
		"a page too long":      {"GET /repos/acme/packs/issues/7/comments?per_page=101", ""},
		"number that is none":  {"GET /repos/acme/packs/pulls/seven", ""},
		"no body":              {"POST /repos/acme/packs/issues/7/comments", `{"text":"hello"}`},
		"unknown member":       {"POST /repos/acme/packs/issues/7/comments", `{"body":"hello","text":"hello"}`},
		"long body":            {"POST /repos/acme/packs/issues/7/comments", `{"body":"` + strings.Repeat("x", 65537) + `"}`},
		"no conclusion":        {"POST /repos/acme/packs/check-runs", `{"name":"n","head_sha":"x","status":"completed"}`},
		"another conclusion":   {"POST /repos/acme/packs/check-runs", `{"name":"n","head_sha":"x","status":"completed","conclusion":"failed"}`},
		"51 annotations":       {"POST /repos/acme/packs/check-runs", fmt.Sprintf(check, many)},
		"a level of commands":  {"POST /repos/acme/packs/check-runs", fmt.Sprintf(check, `{"path":"a","start_line":1,"end_line":1,"annotation_level":"error","message":"m"}`)},
		"annotation, no place": {"POST /repos/acme/packs/check-runs", fmt.Sprintf(check, `{"path":"a","annotation_level":"notice","message":"m"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			method, address, _ := strings.Cut(c.operation, " ")
			r, err := http.NewRequestWithContext(t.Context(), method, "https://api.github.com"+address, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Authorization": "Bearer x", "User-Agent": "x", "X-GitHub-Api-Version": "2022-11-28", "Content-Type": "application/json",
			} {
				r.Header.Set(name, value)
			}
			refused := openapi.Exchange{Request: r, Status: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Answer: []byte("{}")}
			if len(d.Check(t.Context(), refused)) == 0 {
				t.Error("nothing is noticed")
			}
		})
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.github.com/repos/acme/packs/issues/7/comments", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer x"}, "User-Agent": {"x"}, "X-Github-Api-Version": {"2022-11-28"}}
	for _, answer := range []string{`[{"id":1}]`, `{}`, `[{`} {
		e := openapi.Exchange{Request: r, Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Answer: []byte(answer)}
		if len(d.Check(t.Context(), e)) == 0 {
			t.Errorf("nothing is noticed of the answer %s", answer)
		}
	}
}

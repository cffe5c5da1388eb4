package review_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/cli"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/gittest"
)

// What commits are called in testdata, where any edit of the example would change them.
const (
	baseSHA = "4959068000000000000000000000000000000000"
	headSHA = "87edae5000000000000000000000000000000000"
)

// event runs the action for a change, in its repository, as GitHub does on an event, and returns
// the report and what people are shown of it there.
type event func(t *testing.T, dir string) (*model.Report, string)

type object = map[string]any

// runner is where the action runs: its variables, and the files that it writes.
type runner struct {
	t         *testing.T
	dir       string
	variables map[string]string
}

// runnerOn returns the runner of an event in a repository, whose checkout it is.
func runnerOn(t *testing.T, dir, name string, payload object) *runner {
	t.Helper()
	files := t.TempDir()
	r := &runner{t, dir, map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": filepath.Join(files, "event.json"), "GITHUB_WORKFLOW": "packs",
		"GITHUB_REF": "refs/pull/7/merge", "GITHUB_REPOSITORY": "acme/packs",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_ACTOR": "mona", "GITHUB_WORKSPACE": dir, "GITHUB_OUTPUT": filepath.Join(files, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(files, "summary.md"),
	}}
	payload["repository"] = object{"full_name": "acme/packs", "default_branch": "main"}
	text, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"event.json": text, "output": nil, "summary.md": nil} {
		if err := os.WriteFile(filepath.Join(files, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// action runs the action with more variables. It has to end as a gate does; what it says is returned.
func (r *runner) action(variables map[string]string) string {
	r.t.Helper()
	r.t.Chdir(r.dir)
	maps.Copy(r.variables, variables)
	var out, errs bytes.Buffer
	code := cli.Main(r.t.Context(), cli.Env{
		Args: []string{"action"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Version: "v0.2.0",
		Getenv: func(name string) string { return r.variables[name] }, Now: func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) },
	})
	if code > 1 {
		r.t.Fatalf("the action ends with %d\n%s%s", code, &out, &errs)
	}
	return out.String()
}

func (r *runner) read(name string) []byte {
	r.t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return src
}

// report returns what the action reported, and the file.
func (r *runner) report() (*model.Report, []byte) {
	r.t.Helper()
	src := r.read(filepath.Join(r.dir, "packgate-report", render.JSONFile))
	report, err := model.Read(bytes.NewReader(src))
	if err != nil {
		r.t.Fatal(err)
	}
	return report, src
}

// stable gives the commits of a page the names that they have in testdata.
func stable(page, base, head string) string {
	return strings.NewReplacer(base, baseSHA, head, headSHA, base[:7], baseSHA[:7], head[:7], headSHA[:7]).Replace(page)
}

// tokenOf returns the variables of a run on a commit that has a token.
func tokenOf(g *githubtest.GitHub, sha string) map[string]string {
	return map[string]string{"GITHUB_API_URL": g.URL, "INPUT_TOKEN": g.Token, "GITHUB_SHA": sha}
}

// fromFork is a pull request from a fork. Its run has no token, so that it can neither ask who
// has approved nor comment: a second workflow posts what it reported.
func fromFork(t *testing.T, dir string) (*model.Report, string) {
	t.Helper()
	base := gittest.Git(t, dir, "rev-parse", "HEAD")
	gittest.Git(t, dir, "checkout", "-q", "-b", "change")
	head := gittest.Commit(t, dir, "change")
	gittest.Git(t, dir, "checkout", "-q", "--detach", base)
	gittest.Git(t, dir, "merge", "-q", "--no-ff", "-m", "merge", head)
	first := runnerOn(t, dir, "pull_request", object{"action": "opened", "number": 7, "pull_request": object{
		"number": 7, "user": object{"login": "mallory"},
		"base": object{"sha": base, "ref": "main", "repo": object{"full_name": "acme/packs"}},
		"head": object{"sha": head, "ref": "change", "repo": object{"full_name": "mallory/packs", "fork": true}},
	}})
	first.action(map[string]string{"GITHUB_SHA": gittest.Git(t, dir, "rev-parse", "HEAD")})
	report, src := first.report()

	g := githubtest.New(t)
	p := &g.Pulls[0]
	p.Head, p.Owner, p.Branch = head, "mallory", "change"
	g.Commits[head] = map[string]string{}
	g.Runs = []githubtest.Run{{ID: 42, Attempt: 1, Head: head, Conclusion: "failure"}}
	g.Artifacts = []githubtest.Artifact{{ID: 1, Run: 42, Name: "packgate-report", Archive: zipped(t, render.JSONFile, src)}}
	second := runnerOn(t, t.TempDir(), "workflow_run", object{"action": "completed", "workflow_run": object{
		"id": 42, "run_attempt": 1, "name": "packs", "event": "pull_request", "conclusion": "failure", "head_sha": head, "head_branch": "change",
		"pull_requests": []any{}, "head_repository": object{"full_name": "mallory/packs"},
	}})
	said := second.action(tokenOf(g, base))
	if len(g.Comments) != 1 {
		t.Fatalf("there are %d comments\n%s", len(g.Comments), said)
	}
	return report, stable(g.Comments[0].Body, base, head)
}

func zipped(t *testing.T, name string, src []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(src)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// queued is a merge group of a pull request that its owner has approved. There is no page to
// comment on: people read the summary of the job.
func queued(t *testing.T, dir string) (*model.Report, string) {
	t.Helper()
	base := gittest.Git(t, dir, "rev-parse", "HEAD")
	gittest.Git(t, dir, "checkout", "-q", "-b", "change")
	change := gittest.Commit(t, dir, "change")
	gittest.Git(t, dir, "checkout", "-q", "-b", "group", base)
	gittest.Git(t, dir, "merge", "-q", "--no-ff", "-m", "Merge pull request #7 from mona/change", change)
	head := gittest.Git(t, dir, "rev-parse", "HEAD")
	g := githubtest.New(t)
	p := &g.Pulls[0]
	p.Head, p.Author, p.Owner, p.Branch = change, "mona", "acme", "change"
	g.Commits[change] = map[string]string{}
	g.Teams = map[string][]string{"acme/packs": {"lena"}, "acme/risk": {"cid"}}
	g.Reviews = []githubtest.Review{{Pull: 7, Author: "lena", State: "APPROVED", SHA: change, Status: "MEMBER"}}
	r := runnerOn(t, dir, "merge_group", object{"action": "checks_requested", "merge_group": object{
		"base_sha": base, "base_ref": "refs/heads/main", "head_sha": head, "head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-7-%s", base),
	}})
	r.action(tokenOf(g, head))
	if len(g.Comments) > 0 {
		t.Errorf("a merge group has a comment: %s", g.Comments[0].Body)
	}
	report, _ := r.report()
	return report, stable(string(r.read(r.variables["GITHUB_STEP_SUMMARY"])), base, head)
}

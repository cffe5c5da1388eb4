package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// supportPack is the pack of the example repository that the changes here edit.
const supportPack = "packs/support/pack.json"

// reportFiles are what a run leaves in its report folder.
var reportFiles = []string{"report.html", "report.json", "report.junit.xml", "report.md", "report.sarif", "summary.json"}

// TestWorkflows runs the workflows that users copy, word for word, with act, which
// reads workflows and actions as GitHub's runner does.
func TestWorkflows(t *testing.T) {
	programs := buildActPrograms(t)
	example := func(dir string) { copyExample(t, dir) }
	lower := func(dir string) { edit(t, dir, supportPack, `"max": 50000`, `"max": 40000`) }
	bumped := func(dir string) {
		lower(dir)
		bump := exec.Command(programs.packgate, "bump", "packs/support", "--base", "main")
		bump.Dir = dir
		must(t, bump)
	}
	broken := func(dir string) {
		edit(t, dir, supportPack, `"order_lookup"`, `"no_such_evidence"`)
		edit(t, dir, supportPack, `"pack_version": "1.0.0"`, `"pack_version": "2.0.0"`)
	}
	back := func(dir string) { edit(t, dir, supportPack, `"pack_version": "1.0.0"`, `"pack_version": "0.9.0"`) }
	// The third forgets to raise the version, and the fourth lowers it, which is rejected.
	good, bad, forgot, lowered := newWorkspace(t, example, bumped), newWorkspace(t, example, broken), newWorkspace(t, example, lower), newWorkspace(t, example, back)
	for _, w := range []workspace{good, bad, forgot, lowered} {
		git(t, w.dir, "remote", "add", "origin", "https://github.com/octo/packs") // from which act takes the name
	}

	t.Run("pull request that passes", func(t *testing.T) { pullRequestPasses(t, programs, good) })
	t.Run("pull request that fails", func(t *testing.T) { pullRequestFails(t, programs, bad) })
	t.Run("pull request of a fork", func(t *testing.T) { forkIsCommented(t, programs, forgot) })
	t.Run("push that passes", func(t *testing.T) { pushEnds(t, programs, good, 0, "pass") })
	t.Run("push that is rejected", func(t *testing.T) { pushEnds(t, programs, lowered, 4, "reject") })
}

func pullRequestPasses(t *testing.T, programs actPrograms, w workspace) {
	g := pullRequestStandIn(t, w)
	o := gateRun(programs, g, w, "pull_request", w.payload).run(t)
	o.check(t, 0, "pass")
	o.wantOutputs(t, map[string]string{
		"class": "minor", "required-version": "", "errors": "0", "tool-surface-grew": "false",
		"report-json": "packgate-report/report.json", "report-html": "packgate-report/report.html",
		"report-sarif": "packgate-report/report.sarif", "report-md": "packgate-report/report.md", "report-summary": "packgate-report/summary.json",
	})
	if got, want := o.changedPacks(t), []string{"ctxpack.support@1.1.0"}; !slices.Equal(got, want) {
		t.Errorf("output changed-packs is %q; wanted %q", got, want)
	}
	o.wantFiles(t, o.reports, reportFiles...)
	o.wantUpload(t, w)
	o.wantPage(t, g)
	wantDelivered(t, g, w, "success", "Can merge")
}

func pullRequestFails(t *testing.T, programs actPrograms, w workspace) {
	g := pullRequestStandIn(t, w)
	o := gateRun(programs, g, w, "pull_request", w.payload).run(t)
	o.check(t, 1, "fail")
	if got := o.outputs["errors"]; got == "" || got == "0" {
		t.Errorf("output errors is %q; wanted a number above 0", got)
	}
	o.wantUpload(t, w) // although the step before it failed
	o.wantPage(t, g)
	wantDelivered(t, g, w, "failure", "Cannot merge")
}

// The run of a fork may not write. Its report is uploaded, and the second workflow
// posts it.
func forkIsCommented(t *testing.T, programs actPrograms, w workspace) {
	g := pullRequestStandIn(t, w)
	g.Pulls[0].Owner, g.ReadOnly = "mallory", true
	// The second time is the head's: the base comes first in the payload.
	at := strings.LastIndex(w.payload, `"head":{`)
	fork := w.payload[:at] + strings.Replace(w.payload[at:], "octo/packs", "mallory/packs", 1)
	if at < 0 || fork == w.payload {
		t.Fatal("the payload names no repository of its head")
	}
	o := gateRun(programs, g, w, "pull_request", fork).run(t)
	o.check(t, 1, "fail")
	o.wantOutputs(t, map[string]string{"class": "minor", "required-version": "1.1.0"})
	report := o.wantUpload(t, w)
	if calls := g.Calls(); len(calls) > 0 {
		t.Errorf("the run of a fork called %q; wanted no call", calls)
	}

	g.ReadOnly = false
	g.Runs = []githubtest.Run{{ID: 5, Attempt: 1, Head: w.head, Conclusion: "failure"}}
	g.Artifacts = []githubtest.Artifact{{ID: 3, Run: 5, Name: "packgate-report", Archive: zipOf(t, "summary.json", string(report))}}
	payload, err := json.Marshal(map[string]any{
		"action": "completed",
		"workflow_run": map[string]any{
			"id": 5, "run_attempt": 1, "name": "packs", "event": "pull_request", "conclusion": "failure", "head_sha": w.head,
			"head_branch": "change", "pull_requests": []string{}, "head_repository": map[string]any{"full_name": "mallory/packs"},
		},
		"repository": map[string]any{"full_name": "octo/packs", "default_branch": "main"},
	})
	if err != nil {
		t.Fatal(err)
	}
	second := actRun{programs: programs, standIn: g, dir: w.dir, workflow: "packs-comment.yml", event: "workflow_run", payload: string(payload)}.run(t)
	if second.status != 0 || second.jobs["comment"] != "success" {
		t.Errorf("the second stage ended with status %d and %q; wanted success\n%s", second.status, second.jobs, second.log)
	}
	second.wantPage(t, g)
	wantComment(t, g, "must become 1.1.0: minor change")
}

// pushEnds runs the workflow for the commit that came onto the main branch.
func pushEnds(t *testing.T, programs actPrograms, w workspace, status int, result string) {
	git(t, w.dir, "checkout", "-q", "-B", "main", w.merge)
	g := pullRequestStandIn(t, w)
	payload, err := json.Marshal(map[string]any{
		"ref": "refs/heads/main", "before": w.base, "after": w.merge, "deleted": false,
		"repository": map[string]any{"full_name": "octo/packs", "default_branch": "main"},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := gateRun(programs, g, w, "push", string(payload)).run(t)
	o.check(t, status, result)
	o.wantFiles(t, o.reports, reportFiles...)
	if _, err := os.Stat(o.uploaded); err == nil {
		t.Error("a push uploaded a report; wanted that of pull requests alone")
	}
	if calls := g.Calls(); len(calls) > 0 {
		t.Errorf("a push called %q; wanted no call", calls)
	}
}

// pullRequestStandIn is a stand-in that knows the pull request of a workspace.
func pullRequestStandIn(t *testing.T, w workspace) *githubtest.GitHub {
	t.Helper()
	g := githubtest.New(t)
	g.Repository = "octo/packs"
	p := &g.Pulls[0]
	p.Head, p.Base, p.Owner, p.Branch = w.head, w.base, "octo", "change"
	g.Commits = map[string]map[string]string{w.head: {}, w.base: {}}
	return g
}

// gateRun is a run of the first workflow.
func gateRun(programs actPrograms, g *githubtest.GitHub, w workspace, event, payload string) actRun {
	return actRun{programs: programs, standIn: g, dir: w.dir, workflow: "packs.yml", event: event, payload: payload}
}

// check holds what every run of the gate leaves, where the step of packgate ended
// with that status. The workflow's is 1 whatever a step failed with.
func (o actOutcome) check(t *testing.T, status int, result string) {
	t.Helper()
	failed, job := 0, "success"
	if status != 0 {
		failed, job = 1, "failure"
	}
	if o.packgate != status {
		t.Errorf("packgate ended with status %d; wanted %d", o.packgate, status)
	}
	if !maps.Equal(o.jobs, map[string]string{"gate": job}) {
		t.Errorf("the jobs ended as %v; wanted the job gate as %s", o.jobs, job)
	}
	o.outcome.check(t, failed, result)
}

func (o actOutcome) wantOutputs(t *testing.T, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got, ok := o.outputs[name]; !ok || got != value {
			t.Errorf("output %s is %q; wanted %q", name, got, value)
		}
	}
}

func (o actOutcome) wantFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q; wanted %q", filepath.Base(folder), got, want)
	}
}

// wantUpload returns the summary that was uploaded, which is the one that packgate
// wrote, about the commits of the workspace.
func (o actOutcome) wantUpload(t *testing.T, w workspace) []byte {
	t.Helper()
	folder := filepath.Join(o.uploaded, "packgate-report")
	o.wantFiles(t, folder, "summary.json")
	uploaded, err := os.ReadFile(filepath.Join(folder, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Result     string
		Base, Head struct{ SHA string }
	}
	decode(t, uploaded, &report)
	if report.Result != o.outputs["result"] || report.Base.SHA != w.base || report.Head.SHA != w.head {
		t.Errorf("the report says %+v; wanted %s, and base %s and head %s", report, o.outputs["result"], w.base, w.head)
	}
	return uploaded
}

// wantPage holds that the HTML report was uploaded as it is, and that the comment links to it.
func (o actOutcome) wantPage(t *testing.T, g *githubtest.GitHub) {
	t.Helper()
	o.wantFiles(t, filepath.Join(o.uploaded, "report.html"), "report.html")
	link := "[full report](<https://github.com/octo/packs/actions/runs/5/artifacts/11>)"
	if len(g.Comments) == 0 || !strings.Contains(g.Comments[0].Body, link) {
		t.Errorf("the comment does not say %s: %+v\n%s", link, g.Comments, o.log)
	}
}

// wantDelivered holds that the pull request has one comment, and its head one check
// run with the verdict.
func wantDelivered(t *testing.T, g *githubtest.GitHub, w workspace, conclusion, verdict string) {
	t.Helper()
	wantComment(t, g, verdict)
	if len(g.CheckRuns) != 1 {
		t.Fatalf("there are %d check runs; wanted one", len(g.CheckRuns))
	}
	if run := g.CheckRuns[0]; run.Conclusion != conclusion || run.Head != w.head {
		t.Errorf("the check run of %s concludes %q; wanted %q of %s", run.Head, run.Conclusion, conclusion, w.head)
	}
}

func wantComment(t *testing.T, g *githubtest.GitHub, verdict string) {
	t.Helper()
	if len(g.Comments) != 1 {
		t.Fatalf("there are %d comments; wanted one", len(g.Comments))
	}
	if c := g.Comments[0]; c.Pull != 7 || !strings.Contains(c.Body, verdict) || !strings.Contains(c.Body, "ctxpack.support") {
		t.Errorf("the comment on pull request %d is not about ctxpack.support and %q:\n%s", c.Pull, verdict, c.Body)
	}
}

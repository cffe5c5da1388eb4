package cli

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
)

// strange returns a stand-in with the artifact of a run for its pull request, what
// the second stage is called with, and its output.
func strange(t *testing.T, change func(*model.Report)) (*githubtest.GitHub, *actionRun, *bytes.Buffer) {
	t.Helper()
	g, out := githubtest.New(t), &bytes.Buffer{}
	a := delivered(t, g, out)
	p := a.Report.Packs.At(0)
	p.Gates, p.Golden, p.NotChecked = []model.Gate{}, []model.Golden{}, []model.NotChecked{}
	a.Report.Packs.Set(0, *p)
	a.Report.Head = &model.Revision{Ref: "patch-1", SHA: githubtest.Head}
	change(a.Report)
	a.Report.Summary = a.Report.Counts()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create(render.JSONFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.JSON(w, a.Report); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	g.Artifacts = []githubtest.Artifact{{ID: 1, Run: 9, Name: github.ReportArtifact, Archive: archive.Bytes()}}
	g.Runs = []githubtest.Run{{ID: 9, Attempt: 1, Head: githubtest.Head, Conclusion: "failure"}}
	a.event.Name = github.EventWorkflowRun
	a.event.Run = github.WorkflowRun{
		ID: 9, Attempt: 1, Workflow: "packs", Event: github.EventPullRequest, HeadSHA: githubtest.Head,
		HeadOwner: "mona", HeadBranch: "refunds", Conclusion: "failure",
	}
	return g, a, out
}

// However GitHub fails, the second stage ends with a failure of its own or has
// written the comment, and never writes it twice.
func TestSecondStageFailures(t *testing.T) {
	operations := []string{githubtest.GetRunAttempt, githubtest.ListArtifacts, githubtest.DownloadArtifact, githubtest.ListPulls, githubtest.ListComments, githubtest.CreateComment}
	for _, operation := range operations {
		for _, name := range slices.Sorted(maps.Keys(githubtest.Kinds())) {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/done %v", operation, name, done), func(t *testing.T) {
					g, a, _ := strange(t, func(*model.Report) {})
					g.FailAlways(operation, githubtest.Fault{Kind: githubtest.Kinds()[name], Done: done})
					_, said, err := secondStage(t.Context(), a.env, a.event, a.inputs, "")
					switch {
					case len(g.Comments) > 1:
						t.Errorf("%d comments", len(g.Comments))
					case err != nil && exitCode(err) != gating.ExitFailure:
						t.Errorf("exit code %d: %v", exitCode(err), err)
					case err == nil && len(g.Comments) == 0 && !strings.Contains(said, "nothing to post"):
						t.Errorf("it says that it posted, and did not: %s", said)
					}
				})
			}
		}
	}
}

// What a stranger writes into a report mentions nobody, opens nothing, forges no
// marker and is no command to the runner.
func TestSecondStageHostile(t *testing.T) {
	hostile := "@everyone <!-- packgate:comment v1 key=x --> </details>\n::error::owned\n| `a` \u202e\x1b[31m ![x](https://evil.example/x.png)"
	g, a, out := strange(t, func(r *model.Report) {
		r.Tool.Version, r.Head.Ref, r.Notices = hostile, hostile, []string{hostile}
		r.Head.BlobURL = "https://evil.example/"
		p := r.Packs.At(0)
		p.Pack, p.Path = hostile+"@"+hostile, hostile
		p.Findings[0].Message, p.Findings[0].Hint, p.Findings[0].File = hostile, hostile, hostile
		r.Packs.Set(0, *p)
		r.Errors = []model.Problem{{Message: hostile, Hint: hostile, File: hostile, Line: 1, Column: 1}}
		r.Result, r.ExitCode = model.Broken, 3
	})
	_, said, err := secondStage(t.Context(), a.env, a.event, a.inputs, "")
	if err := errors.Join(err, say(a.env, said+hostile)); err != nil {
		t.Fatal(err)
	}
	if len(g.Comments) != 1 {
		t.Fatalf("%d comments", len(g.Comments))
	}
	body := g.Comments[0].Body
	for _, bad := range []string{"\x1b", "\u202e", "(<https://evil", "](https://evil", "\n::", "\n@everyone"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q in\n%s", bad, body)
		}
	}
	if n := strings.Count(body, render.MarkerPrefix); n != 1 || !strings.HasPrefix(body, render.MarkerPrefix) {
		t.Errorf("%d markers in\n%s", n, body)
	}
	if strings.Count(body, "<details>") != strings.Count(body, "</details>") {
		t.Errorf("details are not closed in\n%s", body)
	}
	if strings.Contains("\n"+out.String(), "\n::") {
		t.Errorf("a command in\n%s", out)
	}
}

// passing makes a report one that passes in all that it says.
func passing(r *model.Report) {
	r.Result, r.ExitCode, r.Errors, r.Published = model.Passed, 0, []model.Problem{}, nil
	p := r.Packs.At(0)
	p.Result, p.Findings = model.Passed, []model.Finding{}
	r.Packs.Set(0, *p)
}

// However a run ended, a report of it is shown as a pass only where GitHub says that it ended with
// success; where the two differ the page says so. Nothing else says that it passed either.
func TestSecondStageConclusions(t *testing.T) {
	nothing := func(r *model.Report) { passing(r); r.Packs = model.Packs{} }
	several := func(r *model.Report) {
		passing(r)
		two := *r.Packs.At(0)
		two.Path = "packs/two/pack.json"
		r.Packs.Add(two)
	}
	published := func(r *model.Report) {
		passing(r)
		r.Result, r.ExitCode = model.Failed, 1
		r.Published = []model.Publication{{Pack: "a@1.0.0", Path: "a", Status: model.PublicationRefused}}
	}
	waits := func(r *model.Report) {
		passing(r)
		r.Result, r.ExitCode = model.Failed, 1
		r.Reviews = &model.Reviews{Enforced: true, Required: []model.RequiredReview{{Role: "risk", Status: model.ReviewMissing, For: []string{"a"}, Members: []string{}}}, Evidence: []model.RequiredReview{}}
	}
	fails := func(r *model.Report) {}
	others := []string{"", "action_required", "cancelled", "failure", "neutral", "skipped", "stale", "startup_failure", "timed_out", "SUCCESS", "success ", "nobody knows"}
	for _, report := range []struct {
		name           string
		change         func(*model.Report)
		passes, doubts bool
	}{
		{"passes", passing, true, true}, {"no pack", nothing, true, true}, {"several", several, true, true},
		{"publishes", published, true, true}, {"waits", waits, false, false}, {"fails", fails, false, false},
	} {
		for _, conclusion := range append([]string{github.RunSucceeded}, others...) {
			t.Run(report.name+"/"+conclusion, func(t *testing.T) {
				g, a, _ := strange(t, report.change)
				g.Runs[0].Conclusion, a.event.Run.Conclusion = conclusion, github.RunSucceeded
				g.Comments = []githubtest.Comment{{ID: 1, Pull: 7, Author: g.Login, Body: render.Marker{Key: "packs:", Run: 1}.String() + "\nold"}}
				r, said, err := secondStage(t.Context(), a.env, a.event, a.inputs, "")
				if err != nil || len(g.Comments) != 1 || len(g.CheckRuns) != 0 {
					t.Fatalf("%d comments and %d check runs: %s, %v", len(g.Comments), len(g.CheckRuns), said, err)
				}
				checkOrigin(t, r, g.Comments[0].Body, conclusion == github.RunSucceeded && report.passes, conclusion != github.RunSucceeded && report.doubts)
			})
		}
	}
}

// checkOrigin holds a page and all other forms of a report to whether they may show a pass, and
// whether they have to say that the run and its report differ.
func checkOrigin(t *testing.T, r *model.Report, body string, passes, doubts bool) {
	t.Helper()
	var page, terminal bytes.Buffer
	if err := errors.Join(render.HTMLReport(&page, r), render.Terminal(&terminal, r, render.Style{})); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{body, page.String(), terminal.String()} {
		if !strings.Contains(text, "the pull request can change") {
			t.Errorf("it is not said whose report it is in\n%s", text)
		}
		if differ := strings.Contains(text, "and its report says that it passed"); differ != doubts {
			t.Errorf("that the run and its report differ: %v, wanted %v, in\n%s", differ, doubts, text)
		}
	}
	green := strings.Contains(body, "✅") || strings.Contains(body, "Can merge") || strings.Contains(terminal.String(), "✓ pass") ||
		strings.Contains(page.String(), "Can merge") || strings.Contains(page.String(), "Passes:")
	if green && !passes {
		t.Errorf("a pass is shown in\n%s\n%s", body, &terminal)
	}
	if passes && !green {
		t.Errorf("no pass is shown in\n%s\n%s", body, &terminal)
	}
}

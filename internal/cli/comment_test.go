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
	operations := []string{githubtest.ListArtifacts, githubtest.DownloadArtifact, githubtest.ListPulls, githubtest.ListComments, githubtest.CreateComment}
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

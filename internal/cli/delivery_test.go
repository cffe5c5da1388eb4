package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/hang"
)

// delivered is an action run with a verdict, about to be delivered to a stand-in.
func delivered(t *testing.T, g *githubtest.GitHub, out *bytes.Buffer) *actionRun {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	variables := map[string]string{
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"), "GITHUB_WORKFLOW": "packs",
	}
	clock := githubtest.Now
	env := &Env{
		Stdout: out, Stderr: out, Getenv: func(name string) string { return variables[name] }, Now: func() time.Time { return clock }, Version: "1.2.3",
		client: func(o *github.Options) {
			o.HTTP, o.Timeout = githubtest.Impatient{}, hang.Limit
			o.Now = func() time.Time { return clock }
			o.Sleep = func(ctx context.Context, d time.Duration) error { clock = clock.Add(d); return ctx.Err() }
		},
	}
	a := &actionRun{run: newRun(env, "action", gating.FailOnError), runner: &github.Runner{Out: out, Getenv: env.Getenv}}
	a.event = &github.Event{
		Name: github.EventPullRequest, PullRequest: 7, HeadSHA: githubtest.Head, BaseSHA: githubtest.Base, Repository: g.Repository,
		ServerURL: "https://github.com", APIURL: g.URL, RunID: "9", RunAttempt: "1",
	}
	a.inputs = inputs{command: github.CommandCheck, token: g.Token, comment: string(github.CommentAlways), failOn: gating.FailOnError}
	a.Report.Packs = model.PacksOf(model.Pack{
		Pack: "ctxpack.support@1.0.0", Path: "packs/support/pack.json", Result: model.Failed,
		Findings: []model.Finding{{
			Rule: "REF001", Name: "unresolved-decision-binding", Gate: "references", Severity: "error", Message: "there is none",
			File: "packs/support/pack.json", Line: 3, Column: 5, EndLine: 3, EndColumn: 9, Fingerprint: "f",
		}},
	})
	g.Files = []githubtest.File{{Pull: 7, Path: "packs/support/pack.json", Status: "modified", Patch: "@@ -3 +3 @@\n-0\n+1"}}
	a.suggestions = []github.Suggestion{{
		Path: "packs/support/pack.json", Fingerprint: "f", Line: 3, Before: []string{"1"}, After: []string{"2"}, Text: "two",
	}}
	a.Settle()
	return a
}

// However GitHub fails, and at whichever call, the verdict stays, the files and
// outputs are there, the findings are shown once, and nothing is written twice.
func TestDeliveryFailures(t *testing.T) {
	operations := []string{
		githubtest.ListComments, githubtest.CreateComment, githubtest.UpdateComment, githubtest.CreateCheckRun,
		githubtest.ListReviewComments, githubtest.ListFiles, githubtest.CreateReview, githubtest.GetPull, githubtest.RemoveLabel,
	}
	for _, operation := range operations {
		for _, name := range slices.Sorted(maps.Keys(githubtest.Kinds())) {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/done %v", operation, name, done), func(t *testing.T) {
					g, out := githubtest.New(t), &bytes.Buffer{}
					if operation == githubtest.UpdateComment {
						g.Comments = []githubtest.Comment{{ID: 1, Pull: 7, Author: g.Login, Body: render.Marker{Key: "packs:", Head: githubtest.Base, Run: 8, Attempt: 1}.String() + "\nold"}}
					}
					g.FailAlways(operation, githubtest.Fault{Kind: githubtest.Kinds()[name], Done: done})
					a := delivered(t, g, out)
					a.labels, g.Pulls[0].Labels = true, []string{"bug", "packgate: minor"}
					a.deliver(t.Context())
					checkDelivered(t, a, g, out.String())
				})
			}
		}
	}
}

func checkDelivered(t *testing.T, a *actionRun, g *githubtest.GitHub, out string) {
	t.Helper()
	if a.Report.Result != model.Failed || a.Report.ExitCode != gating.ExitFindings {
		t.Errorf("the verdict became %s, exit code %d", a.Report.Result, a.Report.ExitCode)
	}
	for _, file := range []string{"packgate-report/report.json", "summary.md", "output"} {
		if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", file, len(text), err)
		}
	}
	if len(g.Comments) > 1 || len(g.CheckRuns) > 1 || len(g.ReviewComments) > 1 {
		t.Errorf("%d comments, %d check runs and %d suggestions were written", len(g.Comments), len(g.CheckRuns), len(g.ReviewComments))
	}
	commands := strings.Count(out, "\n::error ")
	if commands+len(g.CheckRuns) == 0 {
		t.Error("the finding is shown nowhere beside the code")
	}
	if strings.Count(out, "::stop-commands::") != 1 {
		t.Error("the log is not fenced")
	}
}

// A cancelled job asks GitHub for nothing more.
func TestDeliveryCancelled(t *testing.T) {
	g, out := githubtest.New(t), &bytes.Buffer{}
	a := delivered(t, g, out)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.deliver(ctx)
	if calls := g.Calls(); len(calls) > 0 {
		t.Errorf("it called %q", calls)
	}
	checkDelivered(t, a, g, out.String())
}

// With everything to write, a pull request costs at most six calls; a change with
// so many findings that the check run needs more of them gets no suggestions.
func TestDeliveryCalls(t *testing.T) {
	for _, more := range []int{40, 140} {
		g, out := githubtest.New(t), &bytes.Buffer{}
		a := delivered(t, g, out)
		p := a.Report.Packs.At(0)
		one := p.Findings[0]
		for i := range more {
			one.Line, one.EndLine, one.Fingerprint = i+1, i+1, fmt.Sprint(i)
			p.Findings = append(p.Findings, one)
		}
		a.Report.Packs.Set(0, *p)
		if more > maxBesideSuggestions {
			a.suggestions = nil
			a.repairs(nil) // looks at no pack
		}
		a.deliver(t.Context())
		if calls := g.Calls(); len(calls) > 6 || len(g.Comments) != 1 || len(g.CheckRuns) != 1 || len(g.ReviewComments) != len(a.suggestions) {
			t.Errorf("%d calls for %d comments, %d check runs and %d suggestions: %q", len(calls), len(g.Comments), len(g.CheckRuns), len(g.ReviewComments), calls)
		}
		if strings.Contains(out.String(), "::notice") {
			t.Errorf("a notice\n%s", out)
		}
	}
}

// What the surface output says of a report: also of a pack that the base does not have, of one
// environment alone, and of what cannot be judged.
func TestSurfaceGrew(t *testing.T) {
	pack := func(p model.Pack) *model.Report {
		p.Pack = "ctxpack.a@1.0.0"
		return &model.Report{Packs: model.PacksOf(model.Pack{Pack: "ctxpack.b@1.0.0"}, p)}
	}
	in := func(e model.Effect) model.Pack {
		return model.Pack{Diff: &model.Diff{}, Environments: []model.Environment{{Environment: "prod", Effects: []model.Effect{e}}}}
	}
	for verdict, want := range map[string]bool{"grew": true, "incomparable": true, "undecided": true, "shrank": false, "equal": false} {
		for name, r := range map[string]*model.Report{
			"surface":     pack(model.Pack{Diff: &model.Diff{Surface: []model.SurfaceChange{{Verdict: verdict}}}}),
			"environment": pack(in(model.Effect{Kind: "gate", Holder: "tool", Verdict: verdict})),
		} {
			if got := surfaceGrew(r); got != want {
				t.Errorf("%s, %s: got %v", name, verdict, got)
			}
		}
	}
	if surfaceGrew(&model.Report{}) || surfaceGrew(pack(in(model.Effect{Kind: "decision", Verdict: "grew"}))) {
		t.Error("it grew without a tool")
	}
	for name, p := range map[string]model.Pack{
		"a first version": {Class: model.ClassInitial}, "a pack that comes back": {Class: model.ClassInitial, Diff: &model.Diff{}},
		"an environment that is not compared": {Diff: &model.Diff{}, Environments: []model.Environment{{NotCompared: "it has faults"}}},
		"a step that is not judged":           {NotChecked: []model.NotChecked{{Gate: "version", Reason: "the pack could not be read"}}},
	} {
		if !surfaceGrew(pack(p)) {
			t.Errorf("%s: it did not grow", name)
		}
	}
}

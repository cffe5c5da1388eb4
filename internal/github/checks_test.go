package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// checkRun returns a check run with n annotations.
func checkRun(n int) CheckRun {
	run := CheckRun{
		Name: "packgate", HeadSHA: githubtest.Head, ID: "k/5/1", DetailsURL: "https://github.com/acme/packs/actions/runs/5",
		Conclusion: "failure", Title: "1 error", Summary: "text",
	}
	for i := range n {
		run.Annotations = append(run.Annotations, Annotation{
			Level: "error", File: "packs/support/pack.json", Line: i + 1, Title: fmt.Sprintf("annotation %d", i), Message: "text",
		})
	}
	return run
}

func TestCheckRun(t *testing.T) {
	for _, c := range []struct{ given, shown, requests int }{{0, 0, 1}, {1, 1, 1}, {50, 50, 1}, {51, 51, 2}, {200, 200, 4}, {1000, 200, 4}} {
		g := githubtest.New(t)
		client, _ := newClient(t, g)
		got, err := client.CheckRun(t.Context(), checkRun(c.given))
		must(t, err)
		if !got.Allowed || got.Left != c.given-c.shown || len(g.Calls()) != c.requests {
			t.Errorf("%d annotations: %+v after %d requests", c.given, got, len(g.Calls()))
		}
		if len(g.CheckRuns) != 1 || len(g.CheckRuns[0].Annotations) != c.shown || g.CheckRuns[0].Conclusion != "failure" {
			t.Fatalf("%d annotations: %d check runs", c.given, len(g.CheckRuns))
		}
		for i, a := range g.CheckRuns[0].Annotations {
			if a.Title != fmt.Sprintf("annotation %d", i) || a.Level != "failure" {
				t.Errorf("annotation %d is %+v", i, a)
			}
		}
	}
}

// A request that was carried out and whose answer was lost is not sent again.
func TestCheckRunGoesOn(t *testing.T) {
	for _, kind := range []githubtest.Kind{githubtest.Reset, githubtest.BadGateway, githubtest.Truncated} {
		g := githubtest.New(t)
		client, _ := newClient(t, g)
		g.Fail(githubtest.CreateCheckRun, githubtest.Fault{Kind: kind, Done: true})
		g.Fail(githubtest.UpdateCheckRun, githubtest.Fault{Kind: kind, Done: true}, githubtest.Fault{Kind: kind})
		_, err := client.CheckRun(t.Context(), checkRun(120))
		must(t, err)
		if len(g.CheckRuns) != 1 || len(g.CheckRuns[0].Annotations) != 120 {
			t.Errorf("there are %d check runs, the first with %d annotations", len(g.CheckRuns), len(g.CheckRuns[0].Annotations))
		}
	}
}

func TestCheckAnnotations(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	list, left := checkAnnotations([]Annotation{
		{Level: "error", Message: "no file"},
		{Level: "error", File: "a", Message: "no line"},
		{Level: "warning", File: "a", Line: 3, Column: 4, Title: long, Message: long},
		{Level: "notice", File: "a", Line: 3, Column: 4, EndLine: 5, EndColumn: 1, Message: "lines"},
		{Level: "notice", File: "a", Line: 3, Column: 4, EndLine: 2, EndColumn: 1, Message: "backwards"},
	})
	if left != 2 || len(list) != 3 {
		t.Fatalf("%d annotations, %d left out", len(list), left)
	}
	if a := list[0]; a.GetAnnotationLevel() != "warning" || a.GetStartColumn() != 4 || a.GetEndColumn() != 4 ||
		len(a.GetTitle()) > maxCheckTitle || len(a.GetMessage()) > maxCheckMessage || !strings.HasSuffix(a.GetTitle(), "é…") {
		t.Errorf("%v", a)
	}
	if a := list[1]; a.StartColumn != nil || a.EndColumn != nil || a.GetEndLine() != 5 {
		t.Errorf("%v", a)
	}
	if a := list[2]; a.GetEndLine() != 3 {
		t.Errorf("%v", a)
	}
}

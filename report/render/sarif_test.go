package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

func sarifOf(t *testing.T, r *model.Report) sarifRun {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, r, build.RulePages()); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v: %+v", err, log)
	}
	return log.Runs[0]
}

// The log of each sample, without the pages of the rules, which are in every log.
func TestSARIF(t *testing.T) {
	for _, s := range reporttest.Samples() {
		if s.Name == "huge" {
			continue
		}
		run := sarifOf(t, s.Report)
		run.Tool.Driver.Rules = nil
		var b bytes.Buffer
		if err := model.WriteJSON(&b, run); err != nil {
			t.Fatal(err)
		}
		casefile.Golden(t, filepath.Join("testdata", "sarif", s.Name+".json"), b.String())
	}
}

func TestSARIFDescribesEveryRule(t *testing.T) {
	rules := sarifOf(t, reporttest.Run(model.Passed, reporttest.Clean(model.Passed))).Tool.Driver.Rules
	if len(rules) != len(gates.Rules()) {
		t.Fatalf("%d rules, and there are %d", len(rules), len(gates.Rules()))
	}
	for i, r := range gates.Rules() {
		got := rules[i]
		if got.ID != r.ID || got.Name != r.Name || got.Short.Text != r.Title || got.Default["level"] != r.Severity.String() ||
			!strings.Contains(got.Help.Markdown, r.Doc) || !strings.Contains(got.Help.Text, r.Doc) || got.Full.Text == "" {
			t.Errorf("%s is described as %+v", r.ID, got)
		}
		if strings.Count(got.Help.Markdown, "```")%2 != 0 {
			t.Errorf("%s: a fence is not closed", r.ID)
		}
	}
}

// Every result leads to its own rule, also to one that this version does not have.
func TestSARIFRuleIndex(t *testing.T) {
	p := reporttest.Failing()
	for i, id := range []string{"XYZ009", "ABC001", "XYZ009"} {
		f := reporttest.Unresolved()
		f.Rule, f.Name = id, fmt.Sprintf("rule-%d", i)
		p.Findings = append(p.Findings, f)
	}
	r := sarifOf(t, reporttest.Run(model.Failed, p))
	if n := len(r.Tool.Driver.Rules) - len(gates.Rules()); n != 2 {
		t.Errorf("%d rules are added", n)
	}
	for _, result := range r.Results {
		if got := r.Tool.Driver.Rules[result.Index].ID; got != result.Rule {
			t.Errorf("%s leads to %s", result.Rule, got)
		}
	}
}

// readings counts how often a file is read.
type readings struct {
	*os.File
	n int
}

func (r *readings) ReadAt(into []byte, at int64) (int, error) {
	r.n++
	return r.File.ReadAt(into, at)
}

// A log is written in one pass over the packs, however many there are, unless a rule is not known.
func TestSARIFReadsOnce(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "room"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, r := &readings{File: f}, reporttest.Run(model.Failed)
	r.Packs.Room = &model.Room{Open: func() (model.RoomFile, error) { return file, nil }}
	for range 200 {
		r.Packs.Add(reporttest.Failing())
	}
	if err := SARIF(io.Discard, r, build.RulePages()); err != nil {
		t.Fatal(err)
	}
	if file.n == 0 || file.n > 200 {
		t.Errorf("200 packs are read %d times", file.n)
	}
}

func TestSARIFIsBounded(t *testing.T) {
	p, warned := reporttest.Huge(maxResults+10), reporttest.Clean(model.Failed)
	excused := reporttest.Unresolved()
	excused.Waived = &model.Waived{Reason: "r", Owner: "o", Expires: "2026-12-31"}
	warned.Findings = []model.Finding{excused, reporttest.Orphan(), reporttest.Unresolved()}
	r := sarifOf(t, reporttest.Run(model.Failed, warned, p))
	if len(r.Results) != maxResults {
		t.Fatalf("%d results", len(r.Results))
	}
	errors := model.Count(&p).Errors + 1
	for i, result := range r.Results {
		if want := map[bool]string{true: "error", false: "warning"}[i < errors]; result.Level != want {
			t.Fatalf("result %d is of level %s", i, result.Level)
		}
		if result.Suppressions != nil {
			t.Fatal("what is waived comes before what is not")
		}
	}
	notes := r.Invocations[0].Notifications
	if len(notes) != 1 || notes[0].Message.Text != "13 more findings are in the JSON report." {
		t.Errorf("it says %+v", notes)
	}
}

func TestSARIFFiles(t *testing.T) {
	for file, want := range map[string]sarifArtifact{
		"packs/support/pack.json": {URI: "packs/support/pack.json", Base: rootBase},
		"./a b/ü%.json":           {URI: "a%20b/%C3%BC%25.json", Base: rootBase},
		"a:b.json":                {URI: "./a:b.json", Base: rootBase},
		"/tmp/x y.json":           {URI: "file:///tmp/x%20y.json"},
		"a#b?c":                   {URI: "a%23b%3Fc", Base: rootBase},
		"a\xff\n":                 {URI: "a%EF%BF%BD%0A", Base: rootBase},
	} {
		if got := artifact(file); got != want {
			t.Errorf("%q is %+v", file, got)
		}
	}
}

func TestSARIFMessages(t *testing.T) {
	for in, want := range map[string]string{
		"plain [0] {1} \\":      "plain [0] {1} \\",
		"[x](https://evil) [0]": `\[x\](https://evil) \[0\]`,
		`a\](1)`:                `a\\\](1)`,
		"a\x1b[31m\u202eb":      `a\u{1b}[31m\u{202e}b`,
		"wrong\n→ fix it":       "wrong\n→ fix it",
		"two\nlines":            "two lines",
	} {
		if got := sarifMessage(in, "").Text; got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// A log that is printed holds no command of GitHub's runner.
func TestSARIFHasNoCommand(t *testing.T) {
	p := reporttest.Failing()
	p.Findings[0].Message, p.Findings[0].File = "##[error]x", "##[error]x"
	var b bytes.Buffer
	if err := SARIF(&b, reporttest.Run(model.Failed, p), nil); err != nil || strings.Contains(b.String(), "##[") {
		t.Errorf("%v, %s", err, b.String()[:200])
	}
}

// sarifAlone writes a log that describes no rules but those of the report.
func sarifAlone(w io.Writer, r *model.Report) error { return SARIF(w, r, nil) }

// A result says how it stands to the base where there is one, and then each does.
func TestSARIFBaselineState(t *testing.T) {
	for _, c := range []struct {
		f    model.Finding
		want string
	}{
		{model.Finding{}, "new"}, {model.Finding{State: "new"}, "new"}, {model.Finding{State: model.Existed}, "updated"},
		{model.Finding{State: model.Existed, Old: true}, "unchanged"},
		{model.Finding{State: model.Existed, Old: true, Accepted: &model.Accepted{}}, "unchanged"},
	} {
		if got := baselineState(&c.f); got != c.want {
			t.Errorf("%+v is %s, wanted %s", c.f, got, c.want)
		}
	}
	for _, s := range reporttest.Samples() {
		for _, result := range sarifOf(t, s.Report).Results {
			if (result.Baseline != "") != (s.Report.Base != nil) {
				t.Errorf("%s: the state of a result is %q", s.Name, result.Baseline)
			}
		}
	}
}

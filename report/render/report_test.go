package render

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

// renderings are the forms of a report, by the extension of their golden files.
var renderings = map[string]func(io.Writer, *model.Report) error{
	".txt":  func(w io.Writer, r *model.Report) error { return Terminal(w, r, Style{}) },
	".md":   MarkdownReport,
	".json": model.JSON,
}

func render(t *testing.T, r *model.Report, extension string) string {
	t.Helper()
	var b bytes.Buffer
	if err := renderings[extension](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRenderings(t *testing.T) {
	for _, s := range reporttest.Samples() {
		for extension := range renderings {
			t.Run(s.Name+extension, func(t *testing.T) {
				got := render(t, s.Report, extension)
				casefile.Golden(t, filepath.Join("testdata", "golden", s.Name+extension), got)
				if again := render(t, s.Report, extension); again != got {
					t.Error("the same report has two renderings")
				}
			})
		}
	}
}

// TestGoldenFiles fails on golden files that no test reads.
func TestGoldenFiles(t *testing.T) {
	known := map[string]bool{"diff.txt": true, "diff.md": true, "diff.json": true, "quiet.txt": true, "color.txt": true, "narrow.txt": true, "cases.txt": true}
	for _, s := range reporttest.Samples() {
		for extension := range renderings {
			known[s.Name+extension] = true
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no golden files")
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("no test reads %s", f.Name())
		}
	}
}

func TestJSON(t *testing.T) {
	for _, s := range reporttest.Samples() {
		t.Run(s.Name, func(t *testing.T) { reporttest.ValidJSON(t, s.Report) })
	}
}

func TestJSONHasNoCommand(t *testing.T) {
	r := reporttest.Run(model.Failed, reporttest.Failing())
	p := r.Packs.At(0)
	p.Findings[0].Message = "###[error] and ##[[add-mask]x"
	r.Packs.Set(0, *p)
	src := reporttest.JsonOf(t, r)
	if strings.Contains(src, "##[") {
		t.Error("the runner would find a command")
	}
	reporttest.ValidJSON(t, r)
	var back model.Report
	if err := json.Unmarshal([]byte(src), &back); err != nil || back.Packs.At(0).Findings[0].Message != p.Findings[0].Message {
		t.Errorf("the message is %q, %v", back.Packs.At(0).Findings[0].Message, err)
	}
}

// openLines counts the lines of Markdown that are seen before anything is
// unfolded; a break within a line begins another one.
func openLines(src string) int {
	folded := regexp.MustCompile(`(?s)<details>.*?</details>`)
	n := 0
	for _, line := range strings.Split(folded.ReplaceAllString(src, "fold"), "\n") {
		if line != "" && !strings.HasPrefix(line, "| ---") {
			n += 1 + strings.Count(line, "<br>")
		}
	}
	return n
}

func TestMarkdownIsShort(t *testing.T) {
	for _, s := range reporttest.Samples() {
		if n := openLines(render(t, s.Report, ".md")); n > 40*max(1, s.Report.Packs.Len()) {
			t.Errorf("%s shows %d lines", s.Name, n)
		}
	}
}

// TestMarkdownBegins checks that the verdict comes first, in one of its words.
func TestMarkdownBegins(t *testing.T) {
	for _, s := range reporttest.Samples() {
		var lines []string
		for _, l := range strings.Split(render(t, s.Report, ".md"), "\n") {
			if l != "" {
				lines = append(lines, l)
			}
		}
		if s.Report.Result != model.Broken && !publicationsLead(s.Report) && !regexp.MustCompile(`^### (⛔ (Cannot merge|Does not pass)|⏳ Waiting for approval|✅ (Can merge|Passes)): `).MatchString(lines[0]) || !strings.HasPrefix(lines[0], "### ") {
			t.Errorf("%s begins %q", s.Name, lines[0])
		}
		if passed := strings.Contains(lines[0], "✅"); passed && s.Report.Result != model.Passed {
			t.Errorf("%s does not pass and begins %q", s.Name, lines[0])
		}
	}
}

// TestNotBuilt checks that a gate that was not checked is never shown as passed.
func TestNotBuilt(t *testing.T) {
	for _, extension := range []string{".md", ".txt"} {
		got := render(t, reporttest.Run(model.Passed, reporttest.Clean(model.Passed)), extension)
		if !strings.Contains(got, "Not run: policy, risk, tenancy, replay, evaluation, security (not built)") {
			t.Errorf("gates that are not built are missing in\n%s", got)
		}
		for _, gate := range []string{"policy", "risk", "tenancy", "replay", "evaluation", "security"} {
			if strings.Contains(got, gate+" pass") {
				t.Errorf("%s is shown as passed in\n%s", gate, got)
			}
		}
	}
}

// maxSummary is the largest job summary that GitHub takes, in bytes.
const maxSummary = 1 << 20

func TestMarkdownIsBounded(t *testing.T) {
	one := reporttest.ManyFindings(5000)
	for name, r := range map[string]*model.Report{
		"plain":      reporttest.Run(model.Failed, reporttest.Huge(5000)),
		"hostile":    reporttest.Compared(reporttest.Run(model.Failed, one)),
		"many packs": reporttest.Compared(reporttest.Run(model.Failed, one, one, one, one, one)),
	} {
		got := render(t, r, ".md")
		if len(got) > maxSummary {
			t.Errorf("%s has %d bytes", name, len(got))
		}
		if !regexp.MustCompile(`(\d+ more (errors|consequences)|Left out: )|more places`).MatchString(got) {
			t.Errorf("%s does not say what is left out", name)
		}
		closed(t, got)
	}
}

func TestTerminalIsBounded(t *testing.T) {
	for _, line := range strings.Split(render(t, reporttest.Run(model.Failed, reporttest.ManyFindings(3)), ".txt"), "\n") {
		if n := len([]rune(line)); n > 4*(maxTerminalText+100) {
			t.Errorf("a line has %d characters: %.80q", n, line)
		}
	}
}

func TestExcerpts(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ before, after, wantBefore, wantAfter string }{
		{"1", "2", "1", "2"},
		{"", long, "", strings.Repeat("x", 19) + "…"},
		{"a" + long, "b", "a" + strings.Repeat("x", 18) + "…", "b"},
		{long + "1" + long, long + "2", "…xxxxxxxxxxxx1xxxxx…", "…xxxxxxxxxxxx2"},
		{long, long, "…xxxxxxxxxxxx", "…xxxxxxxxxxxx"},
	} {
		before, after := excerpts(c.before, c.after, 20)
		if before != c.wantBefore || after != c.wantAfter {
			t.Errorf("excerpts(%.10q, %.10q) = %q, %q", c.before, c.after, before, after)
		}
	}
}

// TestTerminalForgesNoCommand puts commands of GitHub's runner wherever a pack's
// text can begin a line.
func TestTerminalForgesNoCommand(t *testing.T) {
	evil := "::error::x ##[error]y"
	r := reporttest.Run(model.Failed, reporttest.Failing(), reporttest.Rejection(), reporttest.Goldens())
	r.Notices, r.Loosened, r.Errors = []string{evil}, []string{evil}, []model.Problem{{Message: evil, File: evil, Hint: evil}}
	for i, p := range r.Packs.All() {
		p.Pack, p.Path = evil, evil
		for j := range p.Findings {
			f := &p.Findings[j]
			f.Message, f.File, f.Hint = evil, evil, evil
		}
		for j := range p.Golden {
			p.Golden[j].Case, p.Golden[j].Reason, p.Golden[j].Problems = evil, evil, []model.Problem{{Message: evil}, {Message: evil, File: evil}}
		}
		for j := range p.NotChecked {
			p.NotChecked[j].Rule = evil
		}
		if p.Diff != nil {
			p.Diff.Base = evil
			p.Diff.Layers[0].Layer = evil
			reporttest.AddChange(p.Diff, 0, model.Change{Path: evil, Reason: evil, Old: json.RawMessage(evil)})
		}
		r.Packs.Set(i, *p)
	}
	got := render(t, r, ".txt")
	for _, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("the line %q is a command", line)
		}
	}
	if strings.Count(got, `:\u{3a}error`) < 10 {
		t.Errorf("the commands are not shown:\n%s", got)
	}
}

func TestRelatedPlacesAreBounded(t *testing.T) {
	p := reporttest.Failing()
	f := &p.Findings[0]
	for range 100 {
		f.Related = append(f.Related, f.Related[0])
	}
	for extension, wanted := range map[string]string{".txt": "see 91 more places in the JSON report", ".md": "98 more places"} {
		if got := render(t, reporttest.Run(model.Failed, p), extension); !strings.Contains(got, wanted) || strings.Count(got, "is defined here") > 10 {
			t.Errorf("%q is not said in\n%s", wanted, got)
		}
	}
}

func TestWidthOfCases(t *testing.T) {
	long := reporttest.Passes(strings.Repeat("x", 100))
	got := render(t, reporttest.Run(model.Passed, model.Pack{Result: model.Passed, Golden: []model.Golden{reporttest.Passes("a"), long}}), ".txt")
	if strings.Contains(got, strings.Repeat(" ", widestCase+10)) {
		t.Errorf("a long name pushes the others away:\n%s", got)
	}
}

func TestStyles(t *testing.T) {
	for name, style := range map[string]Style{"quiet.txt": {Quiet: true}, "color.txt": {Color: true}} {
		var b bytes.Buffer
		r := reporttest.Run(model.Failed, reporttest.Failing(), reporttest.Goldens())
		if err := Terminal(&b, r, style); err != nil {
			t.Fatal(err)
		}
		casefile.Golden(t, filepath.Join("testdata", "golden", name), b.String())
		plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(b.String(), "")
		if name == "color.txt" && plain != render(t, r, ".txt") {
			t.Error("colours change the text")
		}
	}
}

func TestWriteDiff(t *testing.T) {
	p := reporttest.NeedsVersion()
	for format, extension := range map[string]string{"terminal": ".txt", "markdown": ".md", "json": ".json"} {
		var b bytes.Buffer
		if err := WriteDiff(&b, format, Comparison{p.Diff, p.Findings[:1]}, Style{}); err != nil {
			t.Fatal(err)
		}
		casefile.Golden(t, filepath.Join("testdata", "golden", "diff"+extension), b.String())
	}
}

func TestWriteGolden(t *testing.T) {
	var b bytes.Buffer
	if err := WriteGolden(&b, reporttest.Goldens().Golden); err != nil {
		t.Fatal(err)
	}
	casefile.Golden(t, filepath.Join("testdata", "golden", "cases.txt"), b.String())
}

// failingWriter takes nothing.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrors(t *testing.T) {
	r := reporttest.Run(model.Failed, reporttest.Failing())
	for extension, write := range renderings {
		if err := write(failingWriter{}, r); err == nil {
			t.Errorf("%s: the error of the writer is lost", extension)
		}
	}
	for name, write := range map[string]func(io.Writer, *model.Report) error{"sarif": sarifAlone, "junit": JUnit} {
		if err := write(failingWriter{}, r); err == nil {
			t.Errorf("%s: the error of the writer is lost", name)
		}
	}
	if err := WriteDiff(failingWriter{}, "terminal", Comparison{Diff: reporttest.Steps("minor", "minor", "")}, Style{}); err == nil {
		t.Error("diff: the error of the writer is lost")
	}
	if err := WriteGolden(failingWriter{}, nil); err == nil {
		t.Error("golden: the error of the writer is lost")
	}
}

func TestSummarise(t *testing.T) {
	got := model.Summarise(model.PacksOf(reporttest.Failing(), reporttest.Goldens()))
	want := model.Summary{Packs: 2, Errors: 5, Warnings: 2, Waived: 1, NotChecked: 13}
	if got != want {
		t.Errorf("got %+v, wanted %+v", got, want)
	}
}

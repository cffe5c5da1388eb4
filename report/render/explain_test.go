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

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/reporttest"
	"github.com/rogpeppe/go-internal/txtar"
)

// explained compiles one case of the support pack, each with an edit script
// applied.
func explained(t *testing.T, packScript, caseScript string) (reporttest.Opened, golden.Result) {
	t.Helper()
	dir := reporttest.SupportRepository(t, packScript)
	src, err := os.ReadFile(filepath.Join(reporttest.Example, "packs", "support", "golden", "refund-high-value.case.json"))
	if err != nil {
		t.Fatal(err)
	}
	src, err = edittest.Apply(src, "replace /case \"it\"\nremove /environment\n"+caseScript)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "packs", "support", "golden", "it.case.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, src, 0o644); err != nil {
		t.Fatal(err)
	}
	o := reporttest.Open(t, dir)
	return o, golden.Run(o.Unit, o.Environments, o.Config)[0]
}

func written[T any](t *testing.T, write func(io.Writer, T) error, value T) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, value); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExplanations compares what is said of requests with files, each of which
// has the edits of the pack, those of the case, and what comes out.
func TestExplanations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "explain", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scripts := map[string]string{}
			for _, f := range archive.Files {
				scripts[f.Name] = string(f.Data)
			}
			o, r := explained(t, scripts["pack"], scripts["case"])
			e := build.NewExplanation(o.Unit, r)
			casefile.Want(t, file, archive, written(t, WriteExplanation, e))
			complete(t, o, e)
			readBack(t, e)
		})
	}
}

// complete holds that an explanation passes over nothing that the pack has.
func complete(t *testing.T, o reporttest.Opened, e model.Explanation) {
	t.Helper()
	if e.Outcome == "" {
		return
	}
	rules := e.RulesLeft
	for _, r := range e.Rules {
		rules++
		if r.Place == nil || (r.State != string(compiler.RuleOther)) != (r.Condition != nil) {
			t.Errorf("rule %s is not explained", r.Rule)
		}
	}
	want := 0
	for _, b := range o.Unit.Pack.PolicyLayer.PolicyBundles.Items {
		want += len(b.PolicyDSL.Rules.Items)
	}
	if rules != want {
		t.Errorf("%d rules are explained or left, and the pack has %d", rules, want)
	}
	if e.Outcome != string(compiler.Compiled) {
		return
	}
	tools := 0
	for _, a := range o.Unit.Pack.ToolingLayer.AdapterRegistry.Items {
		tools += len(a.Capabilities.Items)
	}
	if len(e.Tools) != tools || len(e.Gates) != len(o.Unit.Pack.PolicyLayer.ApprovalGates.Items) {
		t.Errorf("%d tools and %d gates are explained", len(e.Tools), len(e.Gates))
	}
	for _, tool := range e.Tools {
		if tool.Surfaced == (len(tool.Obstacles) > 0) || tool.Surfaced != (tool.Effective != "") {
			t.Errorf("tool %s is explained by %+v", tool.Tool, tool)
		}
	}
}

// readBack holds that the JSON form loses nothing, which masking relies on.
func readBack[T any](t *testing.T, value T) {
	t.Helper()
	src := pack.CompactJSON(value)
	d := json.NewDecoder(strings.NewReader(src))
	d.DisallowUnknownFields()
	var back T
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if again := pack.CompactJSON(back); again != src {
		t.Errorf("read back and written again it is\n%s\nand was\n%s", again, src)
	}
}

// Dropped blocks are said to be as long as the compiler found them: what they
// have and what stayed is what is used where everything has room.
func TestDroppedTokens(t *testing.T) {
	for _, budget := range []int{0, 1, 20, 34, 35, 80, 110, 131} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			edits := fmt.Sprintf("replace /run_context/run_budget/bucket_tokens/evidence %d\nreplace /run_context/run_budget/bucket_tokens/memory %d\nreplace /evidence/3/priority 10\n", budget, budget)
			edits = strings.Replace(edits, "replace /evidence/3/priority", "add /evidence/3/priority", 1)
			o, r := explained(t, "", edits)
			_, whole := explained(t, "", "")
			want := map[string]int{}
			for _, bucket := range compiler.Buckets() {
				want[string(bucket)] = whole.Detail.Context.BudgetReport.TokensUsedByBucket.Of(bucket)
			}
			got := map[string]int{}
			used := map[string]int{}
			for _, d := range build.NewExplanation(o.Unit, r).Dropped {
				if d.Tokens == nil || d.Priority == nil || d.Ref == "" || d.Budget != budget {
					t.Fatalf("%s is explained by %+v", d.Block, d)
				}
				got[d.Bucket] += *d.Tokens
				used[d.Bucket] = d.Used
			}
			if len(got) == 0 {
				t.Fatal("nothing was dropped")
			}
			for bucket, n := range got {
				if n+used[bucket] != want[bucket] {
					t.Errorf("%s: dropped %d, used %d, in all %d", bucket, n, used[bucket], want[bucket])
				}
			}
		})
	}
}

// No text of a pack or a case acts on a terminal or on a log.
func TestExplanationIsInert(t *testing.T) {
	evil := pack.CompactJSON("x\n::error::forged\x1b[2J\u202e ##[error]x")
	o, r := explained(t, strings.NewReplacer("EVIL", evil).Replace(
		"add /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/then/reason EVIL\n"),
		strings.NewReplacer("EVIL", evil).Replace("replace /invoke/user/role EVIL\nreplace /run_context/user/role EVIL\nreplace /evidence/0/content EVIL\n"))
	texts := []string{written(t, WriteExplanation, build.NewExplanation(o.Unit, r))}
	for _, stage := range compiler.Stages() {
		s, err := build.NewStageOutput(o.Unit, r, stage)
		if err != nil {
			t.Fatal(err)
		}
		readBack(t, s)
		texts = append(texts, written(t, WriteStageOutput, s))
	}
	if !strings.Contains(strings.Join(texts, ""), "forged") {
		t.Fatal("the text is nowhere")
	}
	for _, text := range texts {
		for _, forged := range []string{"\n::error", "\x1b", "\u202e", "##["} {
			if strings.Contains(text, forged) {
				t.Errorf("%q is left in\n%s", forged, text)
			}
		}
	}
}

// The output of a stage is what was hashed.
func TestStageOutput(t *testing.T) {
	o, r := explained(t, "", "")
	for i, stage := range compiler.Stages() {
		s, err := build.NewStageOutput(o.Unit, r, stage)
		if err != nil {
			t.Fatal(err)
		}
		if s.StageHash != r.Detail.Stages[i].Hash || !json.Valid(s.Output) {
			t.Errorf("%s is %+v", stage, s)
		}
		if text := written(t, WriteStageOutput, s); !strings.Contains(text, fmt.Sprintf("stage     %d, %s: %s\n", i+1, stage, s.StageHash)) {
			t.Errorf("%s is written as\n%s", stage, text)
		}
	}
	o, r = explained(t, "", "remove /invoke/input/context/refund_amount\n")
	s, err := build.NewStageOutput(o.Unit, r, "tools")
	if err != nil || s.Output != nil || s.Ended == nil || s.Ended.Stage != "policy" || s.Ended.Rule != "R_HIGH_VALUE_REQUIRES_APPROVAL" || s.Ended.Place.Line == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if !strings.Contains(written(t, WriteStageOutput, s), "stage     3, tools: not reached\n") {
		t.Error("it is not said that the stage was not reached")
	}
	if err := WriteStageOutput(failingWriter{}, s); err == nil {
		t.Error("a writer that fails goes unnoticed")
	}
}

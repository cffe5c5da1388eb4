package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	solver "github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

const example = "../../examples/acme-support"

// exampleRepository copies the example, with an edit script applied to its pack.
func exampleRepository(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, "packs", "support", "pack.json"), script)
	return dir
}

// supportRepository has nothing but the documented support pack.
func supportRepository(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "packs", "support", "pack.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, gatetest.Support(), 0o644); err != nil {
		t.Fatal(err)
	}
	edit(t, file, script)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

func edit(t *testing.T, file, script string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if src, err = edittest.Apply(src, script); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, src, 0o644); err != nil {
		t.Fatal(err)
	}
}

// opened is a pack repository with one pack.
type opened struct {
	unit         *repo.Unit
	environments []*repo.Environment
	config       *repo.Config
}

func open(t *testing.T, dir string) opened {
	t.Helper()
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close() // only read from
	var o opened
	if o.config, err = files.Config(""); err != nil {
		t.Fatal(err)
	}
	if o.environments, err = files.Environments(o.config); err != nil {
		t.Fatal(err)
	}
	if o.unit, err = files.Unit(packFile, o.config); err != nil {
		t.Fatal(err)
	}
	return o
}

// gated puts a repository's pack through everything, and compares it with that
// of another where there is one.
func gated(t *testing.T, dir, base string) *Report {
	t.Helper()
	o := open(t, dir)
	var diff *diffing.Diff
	var outside []finding.Finding
	if base != "" {
		var err error
		if diff, err = diffing.Compare(open(t, base).unit.Pack, o.unit.Pack, nil); err != nil {
			t.Fatal(err)
		}
		outside = diff.Findings()
	}
	policy, err := gates.NewPolicy(o.config, false, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	subject := gate.NewSubject(o.unit, o.environments, o.config)
	result := gates.Run(subject, policy, outside...)
	c := Comparison{Diff: diff}
	if base != "" {
		c = comparisonOf(open(t, base).unit.Pack, o, diff, subject.Golden())
	}
	c.Playground = true
	p := NewPack(subject, result, c, nil)
	p.Result = Passed
	if Count(&p).Errors > 0 {
		p.Result = Failed
	}
	if diff != nil && diff.Class == diffing.Reject {
		p.Result = Rejected
	}
	r := run(p.Result, p)
	if base != "" {
		r = compared(r)
	}
	return r
}

// comparisonOf looks at all that the step from a base does.
func comparisonOf(base *pack.Pack, o opened, diff *diffing.Diff, cases []golden.Result) Comparison {
	both := compiles.Compare(base, o.unit, cases, diff.Changes())
	return Comparison{
		Diff: diff, Surface: surface.Compare(base, o.unit.Pack, diff.Effects, both, solver.Solver{}), Loosened: surface.Loosened(diff),
		Compiles: both, Flips: flips.Find(base, o.unit.Pack, both, diff.Effects),
	}
}

// TestPipeline renders what real packs come to. The words are those of other
// packages and are tested there; here it is the forms that must hold.
func TestPipeline(t *testing.T) {
	const (
		typo      = "replace /tooling_layer/permissions/p_orders_lookup/adapter_id \"adp_@everyone|`x`\"\n"
		removed   = "remove /tooling_layer/adapter_registry/adp_payments/capabilities/issue_refund\n"
		looser    = `replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr {"min": 1, "max": 60000}` + "\n"
		threshold = "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000\n"
		raised    = "replace /pack_meta/pack_version \"1.0.1\"\n"
	)
	for name, c := range map[string]struct {
		report *Report
		result Result
		says   string // in the Markdown
	}{
		"support":  {gated(t, supportRepository(t, ""), ""), Failed, `RPL006`},
		"example":  {gated(t, exampleRepository(t, ""), ""), Passed, `Golden compiles: (\d+) of \d+ as expected`},
		"typo":     {gated(t, exampleRepository(t, typo), ""), Failed, `\*\*Do this:\*\* .*REF\d+`},
		"same":     {gated(t, exampleRepository(t, ""), exampleRepository(t, "")), Passed, `No layer changed`},
		"rejected": {gated(t, exampleRepository(t, removed), exampleRepository(t, "")), Rejected, `rejected\n\n\*\*Do this:\*\* redesign .*VER006`},
		"unraised": {gated(t, exampleRepository(t, looser), exampleRepository(t, "")), Rejected, "set `pack_version` to 2.0.0 .*pack.json:[0-9]+"},
		"reached":  {gated(t, exampleRepository(t, threshold+raised), exampleRepository(t, "")), Failed, "(?s)Loosened guardrails.*gate holds fewer requests"},
		"small":    {gated(t, exampleRepository(t, looser+raised), exampleRepository(t, "")), Failed, "### ❌ .* → 1.0.1 needs 2.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.report.Result != c.result {
				t.Errorf("the result is %s, wanted %s", c.report.Result, c.result)
			}
			validJSON(t, c.report)
			markdown := render(t, c.report, ".md")
			if !regexp.MustCompile(c.says).MatchString(markdown) {
				t.Errorf("%s is not said in\n%s", c.says, markdown)
			}
			if n := openLines(markdown); n > 30 {
				t.Errorf("%d lines are open in\n%s", n, markdown)
			}
			if !regexp.MustCompile(`(pass|fail|reject): 1 pack`).MatchString(render(t, c.report, ".txt")) {
				t.Error("the terminal has no verdict")
			}
		})
	}
}

func TestWriteContext(t *testing.T) {
	o := open(t, exampleRepository(t, ""))
	written := 0
	for _, c := range golden.Run(o.unit, o.environments, o.config) {
		if c.Detail == nil || c.Detail.Context == nil {
			continue
		}
		written++
		c.Detail.Context.CompiledPrompt.System += "\n::error::forged\x1b[2J\u202e ##[error]x"
		var b bytes.Buffer
		if err := WriteContext(&b, NewHeading(o.unit, c), c.Detail.Context); err != nil {
			t.Fatal(err)
		}
		for _, wanted := range []string{"pack      ctxpack.support@", "\nsystem    ", "\nrules fired\n", "\ntools\n", "\ncontrols\n", "\ntokens    ", c.Hash} {
			if !strings.Contains(b.String(), wanted) {
				t.Errorf("%q is missing in\n%s", wanted, b.String())
			}
		}
		for _, forged := range []string{"\n::error", "\x1b", "\u202e", "##["} {
			if strings.Contains(b.String(), forged) {
				t.Errorf("%q is left in\n%s", forged, b.String())
			}
		}
	}
	if written == 0 {
		t.Error("no case of the example has a compiled context")
	}
}

package reporttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// Planted returns secrets that no issuer gave, built when the test runs.
func Planted() map[string]string {
	letters := "Zq8vT3nLx6WcR1bYk9HsD4mJf7GpA2eU5oKi"
	return map[string]string{
		"token": "gh" + "p_" + letters,
		"key":   "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Repeat(letters, 6) + "\n-----END " + "RSA PRIVATE KEY-----",
	}
}

// DocumentOf returns the pack of the edited example, as read.
func DocumentOf(t *testing.T, script string) (*pack.Document, *repo.Unit) {
	t.Helper()
	src, err := edittest.Apply(gatetest.Support(), script)
	if err != nil {
		t.Fatal(err)
	}
	d, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	return d, &repo.Unit{Name: "pack.json", Document: d, Faults: faults, Pack: pack.New(d)}
}

const Example = "../../examples/acme-support"

// ExampleRepository copies the example, with an edit script applied to its pack.
func ExampleRepository(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(Example)); err != nil {
		t.Fatal(err)
	}
	Edit(t, filepath.Join(dir, "packs", "support", "pack.json"), script)
	return dir
}

// SupportRepository has nothing but the documented support pack.
func SupportRepository(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "packs", "support", "pack.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, gatetest.Support(), 0o644); err != nil {
		t.Fatal(err)
	}
	Edit(t, file, script)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Edit applies an edit script to a file.
func Edit(t *testing.T, file, script string) {
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

// Opened is a pack repository with one pack.
type Opened struct {
	Unit         *repo.Unit
	Environments []*repo.Environment
	Config       *repo.Config
}

// Open opens the one pack of a repository with all that rules look at.
func Open(t *testing.T, dir string) Opened {
	t.Helper()
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close() // only read from
	var o Opened
	if o.Config, err = files.Config(""); err != nil {
		t.Fatal(err)
	}
	if o.Environments, err = files.Environments(o.Config); err != nil {
		t.Fatal(err)
	}
	if o.Unit, err = files.Unit(packFile, o.Config); err != nil {
		t.Fatal(err)
	}
	return o
}

// Gated puts a repository's pack through everything, and compares it with that
// of another where there is one.
func Gated(t *testing.T, dir, base string) *model.Report {
	t.Helper()
	o := Open(t, dir)
	var diff *diffing.Diff
	var outside gates.Outside
	if base != "" {
		var err error
		if diff, err = diffing.Compare(Open(t, base).Unit.Pack, o.Unit.Pack, nil); err != nil {
			t.Fatal(err)
		}
		outside = gates.Outside{Class: diff.Class.String(), Findings: diff.Findings()}
	}
	policy, err := gates.NewPolicy(o.Config, false, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	subject := gate.NewSubject(o.Unit, o.Environments, o.Config)
	result := gates.Run(subject, policy, outside)
	c := build.Comparison{Diff: diff}
	if base != "" {
		c = comparisonOf(t, Open(t, base).Unit.Pack, o, diff, subject.Golden())
	}
	c.Playground = true
	p := build.NewPack(subject, result, c, nil)
	p.Result = model.Passed
	if model.Count(&p).Errors > 0 {
		p.Result = model.Failed
	}
	if diff != nil && diff.Class == diffing.Reject {
		p.Result = model.Rejected
	}
	r := Run(p.Result, p)
	if base != "" {
		r = Compared(r)
	}
	return r
}

// comparisonOf looks at all that the step from a base does.
func comparisonOf(t testing.TB, base *pack.Pack, o Opened, diff *diffing.Diff, cases []golden.Result) build.Comparison {
	both := compiles.Compare(t.Context(), base, o.Unit, cases, diff.Changes())
	was, is := proof.New(base), proof.New(o.Unit.Pack)
	return build.Comparison{
		Diff: diff, Surface: surface.Compare(was, is, diff.Effects, both), Loosened: surface.Loosened(diff), Compiles: both,
		Flips: flips.Find(t.Context(), flips.Step{Base: was.Program(), Head: is.Program(), Cases: both, Effects: diff.Effects}),
	}
}

// JsonOf returns the machine form of a report.
func JsonOf(t testing.TB, r *model.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := model.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ValidJSON checks a report's JSON against the schema and reads it back.
func ValidJSON(t *testing.T, r *model.Report) {
	t.Helper()
	src := JsonOf(t, r)
	var tree any
	if err := json.Unmarshal([]byte(src), &tree); err != nil {
		t.Fatal(err)
	}
	violations, err := schemas.Validate("report", tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("not by the schema: %+v", v)
	}
	decoder := json.NewDecoder(strings.NewReader(src))
	decoder.DisallowUnknownFields()
	var back model.Report
	if err := decoder.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if again := JsonOf(t, &back); again != src {
		t.Errorf("read back and written again it is\n%s\nand was\n%s", again, src)
	}
}

// Reports made by hand, one for each thing that a report can have to say.

const (
	packFile = "packs/support/pack.json"
	Digest   = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

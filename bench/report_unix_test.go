//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// reportOf returns a report on that many packs with five findings each, and a
// comparison, as a change of a shared catalog brings it.
func reportOf(packs int) *model.Report {
	r := &model.Report{
		Version: model.Version, Tool: model.Tool{Name: "packgate", Version: "1.0.0", RulesVersion: "1.0.0"}, Command: "check",
		Result: model.Failed, ExitCode: 1, Errors: []model.Problem{}, Notices: []string{},
		Base: &model.Revision{SHA: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"},
		Head: &model.Revision{SHA: "c9a5b26d4e5f60718293a4b5c6d7e8f901234567", BlobURL: "https://github.com/acme/packs/blob/c9a5b26/"},
	}
	for i := range packs {
		p := model.Pack{
			Pack: fmt.Sprintf("ctxpack.p%d@1.1.0", i), Path: fmt.Sprintf("packs/p%d/pack.json", i), Result: model.Failed,
			NotChecked: []model.NotChecked{{Gate: "evaluation", Rule: "EVL001", Reason: "the pack has no scorecard"}},
			Diff:       &model.Diff{Base: fmt.Sprintf("ctxpack.p%d@1.0.0", i), Head: fmt.Sprintf("ctxpack.p%d@1.1.0", i), Class: "minor", Declared: "minor"},
		}
		for _, g := range []string{"schema", "references", "policy", "risk", "tenancy", "replay", "evaluation", "security"} {
			p.Gates = append(p.Gates, model.Gate{Gate: g, Title: g, Status: "pass"})
		}
		p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: 3, Warnings: 2}
		for j := range 5 {
			severity := "error"
			if j > 2 {
				severity = "warning"
			}
			p.Findings = append(p.Findings, model.Finding{
				Rule: "REF003", Name: "unresolved-adapter", Gate: "references", Severity: severity,
				Message: fmt.Sprintf("the permission %q names the adapter %q, which does not exist", fmt.Sprint("p_", j), "adp_payment"),
				Hint:    `use "adp_payments", or add the adapter`, File: p.Path, Line: 200 + j, Column: 24, EndLine: 200 + j, EndColumn: 37,
				Pointer: fmt.Sprintf("/tooling_layer/permissions/%d/adapter_id", j), Path: fmt.Sprintf("/tooling_layer/permissions/p_%d/adapter_id", j),
				Related:     []model.Related{{Message: "defined here", File: p.Path, Line: 180, Column: 7}},
				Witness:     map[string]any{"amount": 3000, "currency": "EUR"},
				Fingerprint: fmt.Sprintf("%016x%016x", i, j), State: "new",
			})
		}
		for j := range 3 {
			p.Golden = append(p.Golden, model.Golden{
				Case: fmt.Sprintf("case-%d", j), Family: "f", File: fmt.Sprintf("packs/p%d/golden/case-%d.case.json", i, j), Expected: "compiled",
				Outcome: "compiled", Snapshot: "equal", Hash: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
				Status: "pass", Problems: []model.Problem{},
			})
		}
		p.Diff.Layers = []model.Layer{{Layer: "tooling_layer", Class: "minor", Changes: []model.Change{{
			Path: "/tooling_layer/permissions/p_0/arg_constraints/amount", Kind: "changed", Row: "tooling.bound", Class: "minor", Reason: "a bound is tightened",
			Old: []byte(`{"max":5000}`), New: []byte(`{"max":3000}`), File: p.Path, Line: 100,
		}}}}
		r.Packs.Add(p)
	}
	r.Summary = model.Summarise(r.Packs)
	return r
}

// formats are the renderings of a report, as check --report-dir writes them, and
// the terminal and the comment beside.
var formats = []struct {
	name  string
	write func(io.Writer, *model.Report) error
}{
	{"json", model.JSON},
	{"markdown", render.MarkdownReport},
	{"sarif", func(w io.Writer, r *model.Report) error { return render.SARIF(w, r, build.RulePages()) }},
	{"junit", render.JUnit},
	{"html", render.HTMLReport},
	{"terminal", func(w io.Writer, r *model.Report) error { return render.Terminal(w, r, render.Style{}) }},
	{"comment", func(w io.Writer, r *model.Report) error {
		_, err := io.WriteString(w, render.Comment(r, render.CommentOptions{}))
		return err
	}},
}

// BenchmarkReport renders 1,000 packs with 5,000 findings, in each format and in
// all of them together; the target is one second of CPU for all.
func BenchmarkReport(b *testing.B) {
	r := reportOf(1000)
	for _, f := range formats {
		b.Run(f.name, func(b *testing.B) {
			var size int
			for b.Loop() {
				var out bytes.Buffer
				if err := f.write(&out, r); err != nil {
					b.Fatal(err)
				}
				size = out.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	b.Run("all", func(b *testing.B) {
		before := cpuTime(b)
		for b.Loop() {
			for _, f := range formats {
				if err := f.write(io.Discard, r); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

// cpuTime returns the CPU time, user and system, that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

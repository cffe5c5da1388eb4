package report

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gating/operations"
)

// metricsOf returns the metrics of a report, as text and as the reader of
// metrics_reader_test.go reads them.
func metricsOf(t *testing.T, r *Report) (string, map[string]float64) {
	t.Helper()
	var b bytes.Buffer
	if err := Metrics(&b, r); err != nil {
		t.Fatal(err)
	}
	samples, err := readMetrics(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return b.String(), samples
}

// A run over nothing says so, and that is all of it.
func TestMetricsOfNoPacks(t *testing.T) {
	got, _ := metricsOf(t, compared(run(Passed)))
	want := `# TYPE packgate_packs gauge
# HELP packgate_packs Packs by their verdict.
packgate_packs{result="error"} 0
packgate_packs{result="fail"} 0
packgate_packs{result="pass"} 0
packgate_packs{result="reject"} 0
# TYPE packgate_run info
# HELP packgate_run What made the report, and of which commits.
packgate_run_info{command="check",version="0.1.0",rules_version="0.1.0",base="0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",head="c9a5b26d4e5f60718293a4b5c6d7e8f901234567"} 1
# TYPE packgate_run_errors gauge
# HELP packgate_run_errors Errors that kept packgate from doing its work.
packgate_run_errors 0
# TYPE packgate_run_result stateset
# HELP packgate_run_result The verdict over all packs.
packgate_run_result{packgate_run_result="error"} 0
packgate_run_result{packgate_run_result="fail"} 0
packgate_run_result{packgate_run_result="pass"} 1
packgate_run_result{packgate_run_result="reject"} 0
# EOF
`
	if got != want {
		t.Errorf("got\n%s\nwanted\n%s", got, want)
	}
}

// Whatever a report has to say, its metrics are what the format demands, agree with
// its counts, and are the same the second time.
func TestMetricsOfSamples(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			text, got := metricsOf(t, s.report)
			if again, _ := metricsOf(t, s.report); again != text {
				t.Error("the second time it is another text")
			}
			sums := map[string]int{}
			for series, value := range got {
				switch name, labels, _ := strings.Cut(series, "{"); {
				case name == "packgate_findings" && strings.Contains(labels, `severity="error"`):
					sums["errors"] += int(value)
				case name == "packgate_findings":
					sums["warnings"] += int(value)
				case name == "packgate_waived_findings":
					sums["waived"] += int(value)
				case name == "packgate_packs":
					sums["packs"] += int(value)
				}
			}
			c := s.report.Summary
			if want := (Summary{Packs: c.Packs, Errors: c.Errors, Warnings: c.Warnings, Waived: c.Waived}); (Summary{Packs: sums["packs"], Errors: sums["errors"], Warnings: sums["warnings"], Waived: sums["waived"]}) != want {
				t.Errorf("the metrics count %v, and the report %+v", sums, want)
			}
			if got[`packgate_run_result{packgate_run_result="`+string(s.report.Result)+`"}`] != 1 {
				t.Errorf("the verdict is not %s:\n%s", s.report.Result, text)
			}
		})
	}
}

// figured returns a pack of which everything is known that metrics are made from.
func figured() Pack {
	share := func(count, of int) *operations.Figure {
		return &operations.Figure{Value: float64(count) / float64(of), Count: count, Of: of}
	}
	p := failing()
	p.Coverage = &Coverage{Rules: Tally{Count: 3, Of: 4}, Else: Tally{Count: 0, Of: 0}, Gates: Tally{Count: 0, Of: 2}}
	p.Operations = &operations.Figures{
		CompileSuccessRate:             share(3, 4),
		ToolSurfaceSize:                []operations.SurfaceSize{{Intent: "support.refund", Mean: 2.5, Max: 3, Cases: 2}},
		RuleActivationRate:             share(1, 2),
		RuleActivations:                []operations.Activation{{Rule: "R_A", Figure: share(1, 8)}, {Rule: "R_B"}},
		BucketTruncationRate:           []operations.Truncation{{Bucket: "policy", Figure: *share(1, 4)}},
		RequiredEvidenceResolutionRate: share(5, 5),
		ReplayDeterminismRate:          share(7, 8),
	}
	p.Golden[0].Base = &GoldenBase{Outcome: "compiled", Tokens: []TokenStep{{Bucket: "policy", Base: 120, Head: 90}, {Bucket: "tool", Base: 40, Head: 61}}}
	p.Golden[1].Base = &GoldenBase{Outcome: "compiled", Tokens: []TokenStep{{Bucket: "policy", Base: 10, Head: 20}}}
	p.Golden = append(p.Golden, Golden{Case: "unread", Status: "fail"})
	return p
}

// Every figure is written with what it is of, and what was not measured is not.
func TestMetricsOfAPack(t *testing.T) {
	text, got := metricsOf(t, run(Failed, figured()))
	const of = `pack="ctxpack.support",path="packs/support/pack.json"`
	for series, want := range map[string]float64{
		`pack_info{` + of + `,version="1.0.0",digest="` + digest + `"}`: 1,
		`pack_result{` + of + `,packgate_pack_result="fail"}`:           1,
		`packs{result="fail"}`: 1,
		`findings{` + of + `,gate="references",severity="error"}`:            1,
		`findings{` + of + `,gate="references",severity="warning"}`:          1,
		`findings{` + of + `,gate="policy",severity="error"}`:                0,
		`waived_findings{` + of + `}`:                                        1,
		`gate_status{` + of + `,gate="schema",packgate_gate_status="fail"}`:  1,
		`gate_status{` + of + `,gate="schema",packgate_gate_status="pass"}`:  0,
		`golden_cases{` + of + `,outcome="compiled",status="pass"}`:          2,
		`golden_cases{` + of + `,outcome="none",status="fail"}`:              1,
		`golden_step_tokens{` + of + `,bucket="policy"}`:                     -20,
		`golden_step_tokens{` + of + `,bucket="tool"}`:                       21,
		`golden_step_tokens{` + of + `,bucket="memory"}`:                     0,
		`coverage_ratio{` + of + `}`:                                         0.5,
		`coverage_part_ratio{` + of + `,part="rule"}`:                        0.75,
		`coverage_part_ratio{` + of + `,part="gate"}`:                        0,
		`compile_success_ratio{` + of + `}`:                                  0.75,
		`compile_success_of{` + of + `}`:                                     4,
		`tool_surface_mean_capabilities{` + of + `,intent="support.refund"}`: 2.5,
		`tool_surface_max_capabilities{` + of + `,intent="support.refund"}`:  3,
		`tool_surface_cases{` + of + `,intent="support.refund"}`:             2,
		`rules_activated_ratio{` + of + `}`:                                  0.5,
		`rule_activation_ratio{` + of + `,rule="R_A"}`:                       0.125,
		`rule_activation_of{` + of + `,rule="R_A"}`:                          8,
		`bucket_truncation_ratio{` + of + `,bucket="policy"}`:                0.25,
		`required_evidence_resolution_ratio{` + of + `}`:                     1,
		`replay_determinism_ratio{` + of + `}`:                               0.875,
		`replay_determinism_of{` + of + `}`:                                  8,
		`run_info{command="check",version="0.1.0",rules_version="0.1.0"}`:    1,
	} {
		if value, found := got["packgate_"+series]; !found || value != want {
			t.Errorf("packgate_%s is %v (found: %v), wanted %v", series, value, found, want)
		}
	}
	for _, absent := range []string{"R_B", `part="else"`, "release_gate_pass", `base="`} {
		if strings.Contains(text, absent) {
			t.Errorf("it says %s, which was not measured:\n%s", absent, text)
		}
	}
	p := clean(Passed)
	if text, _ := metricsOf(t, run(Passed, p)); strings.Contains(text, "_tokens") || strings.Contains(text, "_ratio") {
		t.Errorf("there is no base and nothing was measured:\n%s", text)
	}
}

// checkMetricNames puts a text everywhere where a name of a pack can stand, and reads
// it back: nothing but the text itself is there, as it can be seen.
func checkMetricNames(t *testing.T, name string) {
	t.Helper()
	const most = 200                         // what a longer name could do, a short one can
	name = "n" + name[:min(most, len(name))] // a label without a value is absent
	p := figured()
	p.Pack, p.Path, p.Digest = name+"@"+name+"@"+"1.0.0", name, name
	p.Gates[0].Gate, p.Findings[0].Gate, p.Findings[1].Severity = name, name, name
	p.Golden[0].Outcome, p.Golden[1].Status = name, name
	p.Operations.ToolSurfaceSize[0].Intent, p.Operations.RuleActivations[0].Rule, p.Operations.BucketTruncationRate[0].Bucket = name, name, name
	hostile, plain := run(Failed, p), run(Failed, figured())
	hostile.Command, hostile.Tool.Version = name, name
	hostile.Base = &Revision{SHA: name}
	text, got := metricsOf(t, hostile)
	ordinary, _ := metricsOf(t, plain)
	if a, b := familiesOf(text), familiesOf(ordinary); !slices.Equal(a, b) {
		t.Errorf("the families are %q, wanted %q", a, b)
	}
	seen := quoteMetric(Visible(name))
	of := fmt.Sprintf(`pack=%s,path=%s`, quoteMetric(Visible(name+"@"+name)), seen)
	for series, want := range map[string]float64{
		`pack_info{` + of + `,version="1.0.0",digest=` + seen + `}`:                                   1,
		`gate_status{` + of + `,gate=` + seen + `,packgate_gate_status="fail"}`:                       1,
		`findings{` + of + `,gate=` + seen + `,severity="error"}`:                                     1,
		`findings{` + of + `,gate="schema",severity=` + seen + `}`:                                    1,
		`golden_cases{` + of + `,outcome=` + seen + `,status="pass"}`:                                 1,
		`golden_cases{` + of + `,outcome="compiled",status=` + seen + `}`:                             1,
		`tool_surface_cases{` + of + `,intent=` + seen + `}`:                                          2,
		`rule_activation_ratio{` + of + `,rule=` + seen + `}`:                                         0.125,
		`bucket_truncation_ratio{` + of + `,bucket=` + seen + `}`:                                     0.25,
		`run_info{command=` + seen + `,version=` + seen + `,rules_version="0.1.0",base=` + seen + `}`: 1,
	} {
		if value := got["packgate_"+series]; value != want {
			t.Errorf("packgate_%s is %v, wanted %v:\n%s", series, value, want, text)
		}
	}
}

// familiesOf returns the lines that describe families.
func familiesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestMetricsOfHostileNames(t *testing.T) {
	pieces := []string{
		`"`, `\`, `\n`, `\"`, "\n", "\r", "\t", "\x00", "\x1b[2J", "\xff", "\u202e", "\u200b", "\u2028", "é", "日本", "a", " ", "@", ",", "=", "{", "}", "#",
		"\n# EOF\n", `"} 1` + "\n" + `packgate_packs{result="pass"} 9`, "\n# TYPE packgate_packs counter\n", "##[error]", "::error::",
	}
	random := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if checkMetricNames(t, b.String()); t.Failed() {
			t.Fatalf("for %q", b.String())
		}
	}
}

func FuzzMetrics(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add(s)
	}
	f.Fuzz(checkMetricNames)
}

// Two that cannot be told apart are not written as one of them.
func TestMetricsOfTwins(t *testing.T) {
	twin := other(figured(), "support")
	for name, r := range map[string]*Report{
		"packs": run(Failed, figured(), twin),
		"paths": run(Failed, other(clean(Passed), "a\u200b"), other(clean(Passed), `a\u{200b}`)),
	} {
		var b bytes.Buffer
		err := Metrics(&b, r)
		if err == nil || !strings.Contains(err.Error(), "have the same name: packgate_") || b.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, wanted an error and none", name, err, b.Len())
		}
	}
}

// The order in which packs were gated is not to be seen.
func TestMetricsAreSorted(t *testing.T) {
	a, b := other(figured(), "a"), other(figured(), "b")
	one, samples := metricsOf(t, run(Failed, a, b))
	two, _ := metricsOf(t, run(Failed, b, a))
	if one != two {
		t.Error("the order of the packs changes the text")
	}
	names := slices.Sorted(maps.Keys(samples))
	if !strings.Contains(strings.Join(names, "\n"), `pack="ctxpack.b"`) {
		t.Errorf("the second pack is missing: %q", names)
	}
}

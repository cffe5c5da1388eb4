package render

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// metricsOf returns the metrics of a report, as text and as the reader of
// metrics_reader_test.go reads them.
func metricsOf(t *testing.T, r *model.Report) (string, map[string]float64) {
	t.Helper()
	return timedMetricsOf(t, r, nil)
}

func timedMetricsOf(t *testing.T, r *model.Report, took model.Latencies) (string, map[string]float64) {
	t.Helper()
	var b bytes.Buffer
	if err := Metrics(&b, r, took); err != nil {
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
	got, _ := metricsOf(t, reporttest.Compared(reporttest.Run(model.Passed)))
	want := `# TYPE packgate_packs gauge
# HELP packgate_packs Packs by their verdict.
packgate_packs{result="error"} 0
packgate_packs{result="fail"} 0
packgate_packs{result="pass"} 0
packgate_packs{result="reject"} 0
# TYPE packgate_run info
# HELP packgate_run What made the report, and for which commits.
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
	for _, s := range reporttest.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			text, got := metricsOf(t, s.Report)
			if again, _ := metricsOf(t, s.Report); again != text {
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
			c := s.Report.Summary
			if want := (model.Summary{Packs: c.Packs, Errors: c.Errors, Warnings: c.Warnings, Waived: c.Waived}); (model.Summary{Packs: sums["packs"], Errors: sums["errors"], Warnings: sums["warnings"], Waived: sums["waived"]}) != want {
				t.Errorf("the metrics count %v, and the report %+v", sums, want)
			}
			if got[`packgate_run_result{packgate_run_result="`+string(s.Report.Result)+`"}`] != 1 {
				t.Errorf("the verdict is not %s:\n%s", s.Report.Result, text)
			}
		})
	}
}

// Every figure is written with what it is of, and what was not measured is not.
func TestMetricsOfAPack(t *testing.T) {
	text, got := metricsOf(t, reporttest.Run(model.Failed, reporttest.Figured()))
	const of = `pack="ctxpack.support",path="packs/support/pack.json"`
	for series, want := range map[string]float64{
		`pack_info{` + of + `,version="1.0.0",digest="` + reporttest.Digest + `"}`: 1,
		`pack_result{` + of + `,packgate_pack_result="fail"}`:                      1,
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
	for _, absent := range []string{"R_B", `part="else"`, "packgate_release_gate_pass", "packgate_compile_latency", "packgate_time_to_roll_back", `base="`} {
		if strings.Contains(text, absent) {
			t.Errorf("it says %s, which was not measured:\n%s", absent, text)
		}
	}
	for figure, rest := range map[string]string{
		"compile_success": `measured="true"`, "tool_surface": `measured="true"`, "rule_activation": `measured="true"`, "bucket_truncation": `measured="true"`,
		"required_evidence_resolution": `measured="true"`, "replay_determinism": `measured="true"`,
		"release_gate_pass": `measured="false",reason="nothing was compared with a baseline"`,
		"compile_latency":   `measured="false",reason="a report has no times: packgate check --metrics measures it"`,
		"time_to_roll_back": `measured="false",reason="the times of pins are in the signed records of the registry: packgate audit --metrics measures it"`,
	} {
		if series := `packgate_operational_figure_info{` + of + `,figure="` + figure + `",` + rest + `}`; got[series] != 1 {
			t.Errorf("there is no %s", series)
		}
	}
	p := reporttest.Clean(model.Passed)
	if text, _ := metricsOf(t, reporttest.Run(model.Passed, p)); strings.Count(text, "packgate_operational_figure_info{") != 9 || strings.Contains(text, `measured="true"`) {
		t.Errorf("of a pack that was not measured not all nine figures are absent with a reason:\n%s", text)
	}
	if text, _ := metricsOf(t, reporttest.Run(model.Passed, p)); strings.Contains(text, "_tokens") || strings.Contains(text, "_ratio") {
		t.Errorf("there is no base and nothing was measured:\n%s", text)
	}
}

// How long compiles took is counted by pack, and what was not compiled in this run says so.
func TestMetricsOfLatencies(t *testing.T) {
	p, other, none := reporttest.Figured(), reporttest.Other(reporttest.Figured(), "kept"), reporttest.Other(reporttest.Clean(model.Passed), "none")
	none.Golden = nil
	r := reporttest.Run(model.Failed, p, other, none)
	took := model.Latencies{p.Key(): {2 * time.Millisecond, 100 * time.Microsecond, 3 * time.Second}}
	text, got := timedMetricsOf(t, r, took)
	const of = `pack="ctxpack.support",path="packs/support/pack.json"`
	for series, want := range map[string]float64{
		`compile_latency_seconds_bucket{` + of + `,le="0.0001"}`:                       1,
		`compile_latency_seconds_bucket{` + of + `,le="0.001"}`:                        1,
		`compile_latency_seconds_bucket{` + of + `,le="0.0025"}`:                       2,
		`compile_latency_seconds_bucket{` + of + `,le="1.0"}`:                          2,
		`compile_latency_seconds_bucket{` + of + `,le="+Inf"}`:                         3,
		`compile_latency_seconds_count{` + of + `}`:                                    3,
		`compile_latency_seconds_sum{` + of + `}`:                                      3.0021,
		`operational_figure_info{` + of + `,figure="compile_latency",measured="true"}`: 1,
		`operational_figure_info{pack="` + id(other) + `",path="` + other.Path + `",figure="compile_latency",measured="false",reason="nothing was compiled: the result is that of an earlier run, and packgate check --no-cache measures it"}`: 1,
		`operational_figure_info{pack="` + id(none) + `",path="` + none.Path + `",figure="compile_latency",measured="false",reason="no case was compiled"}`:                                                                                    1,
	} {
		if value, found := got["packgate_"+series]; !found || value != want {
			t.Errorf("packgate_%s is %v (found: %v), wanted %v", series, value, found, want)
		}
	}
	if n := strings.Count(text, "packgate_compile_latency_seconds_count"); n != 1 {
		t.Errorf("%d packs have latencies, and one was compiled:\n%s", n, text)
	}
	took[other.Key()] = []time.Duration{0}
	if _, got := timedMetricsOf(t, r, took); got[`packgate_compile_latency_seconds_bucket{pack="`+id(other)+`",path="`+other.Path+`",le="0.0001"}`] != 1 {
		t.Errorf("what took no time is in no bucket: %v", got)
	}
}

// The times to roll back are counted by pack and environment, and what is not known says why.
func TestMetricsOfRollbacks(t *testing.T) {
	packs := []model.RollbackTimes{
		{Pack: "ctxpack.b", Took: map[string][]time.Duration{"prod": {time.Hour, 40 * 24 * time.Hour}, "stag\"ing": {time.Minute}}},
		{Pack: "ctxpack.a"}, {Pack: "ctxpack.c", Absent: "the history of the pack is not whole"},
	}
	var b bytes.Buffer
	if err := AuditMetrics(&b, packs); err != nil {
		t.Fatal(err)
	}
	got, err := readMetrics(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for series, want := range map[string]float64{
		`time_to_roll_back_seconds_bucket{pack="ctxpack.b",environment="prod",le="900.0"}`:                                                    0,
		`time_to_roll_back_seconds_bucket{pack="ctxpack.b",environment="prod",le="3600.0"}`:                                                   1,
		`time_to_roll_back_seconds_bucket{pack="ctxpack.b",environment="prod",le="+Inf"}`:                                                     2,
		`time_to_roll_back_seconds_sum{pack="ctxpack.b",environment="prod"}`:                                                                  961 * 3600,
		`time_to_roll_back_seconds_count{pack="ctxpack.b",environment="stag\"ing"}`:                                                           1,
		`operational_figure_info{pack="ctxpack.b",figure="time_to_roll_back",measured="true"}`:                                                1,
		`operational_figure_info{pack="ctxpack.a",figure="time_to_roll_back",measured="false",reason="no environment was rolled back"}`:       1,
		`operational_figure_info{pack="ctxpack.c",figure="time_to_roll_back",measured="false",reason="the history of the pack is not whole"}`: 1,
	} {
		if value, found := got["packgate_"+series]; !found || value != want {
			t.Errorf("packgate_%s is %v (found: %v), wanted %v", series, value, found, want)
		}
	}
	if strings.Count(b.String(), "_seconds_count") != 2 {
		t.Errorf("two environments were rolled back:\n%s", b.String())
	}
	if err := AuditMetrics(&b, []model.RollbackTimes{{Pack: "a"}, {Pack: "a"}}); err == nil {
		t.Error("two packs of one name are written")
	}
}

// id returns the id of a pack.
func id(p model.Pack) string { id, _, _ := strings.Cut(p.Pack, "@"); return id }

// checkMetricNames puts a text everywhere where a name of a pack can stand, and reads
// it back: nothing but the text itself is there, as it can be seen.
func checkMetricNames(t *testing.T, name string) {
	t.Helper()
	const most = 200                         // what a longer name could do, a short one can
	name = "n" + name[:min(most, len(name))] // a label without a value is absent
	p := reporttest.Figured()
	p.Pack, p.Path, p.Digest = name+"@"+name+"@"+"1.0.0", name, name
	p.Gates[0].Gate, p.Findings[0].Gate, p.Findings[1].Severity = name, name, name
	p.Golden[0].Outcome, p.Golden[1].Status = name, name
	p.Operations.ToolSurfaceSize[0].Intent, p.Operations.RuleActivations[0].Rule, p.Operations.BucketTruncationRate[0].Bucket = name, name, name
	hostile, plain := reporttest.Run(model.Failed, p), reporttest.Run(model.Failed, reporttest.Figured())
	hostile.Command, hostile.Tool.Version = name, name
	hostile.Base = &model.Revision{SHA: name}
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
	for _, s := range reporttest.Hostile(f) {
		f.Add(s)
	}
	f.Fuzz(checkMetricNames)
}

// Two that cannot be told apart are not written as one of them.
func TestMetricsOfTwins(t *testing.T) {
	twin := reporttest.Other(reporttest.Figured(), "support")
	for name, r := range map[string]*model.Report{
		"packs": reporttest.Run(model.Failed, reporttest.Figured(), twin),
		"paths": reporttest.Run(model.Failed, reporttest.Other(reporttest.Clean(model.Passed), "a\u200b"), reporttest.Other(reporttest.Clean(model.Passed), `a\u{200b}`)),
	} {
		var b bytes.Buffer
		err := Metrics(&b, r, nil)
		if err == nil || !strings.Contains(err.Error(), "have the same name: packgate_") || b.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, wanted an error and none", name, err, b.Len())
		}
	}
}

// The order in which packs were gated is not to be seen.
func TestMetricsAreSorted(t *testing.T) {
	a, b := reporttest.Other(reporttest.Figured(), "a"), reporttest.Other(reporttest.Figured(), "b")
	one, samples := metricsOf(t, reporttest.Run(model.Failed, a, b))
	two, _ := metricsOf(t, reporttest.Run(model.Failed, b, a))
	if one != two {
		t.Error("the order of the packs changes the text")
	}
	names := slices.Sorted(maps.Keys(samples))
	if !strings.Contains(strings.Join(names, "\n"), `pack="ctxpack.b"`) {
		t.Errorf("the second pack is missing: %q", names)
	}
}

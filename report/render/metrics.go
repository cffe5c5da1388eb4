package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/report/model"
)

// Metrics writes what can be counted as OpenMetrics text (version 1.0.0), for tools that follow
// numbers over time: verdicts, findings, golden cases, coverage, tokens and the operational figures.
// Everything is sorted and nothing has a timestamp, and the same report always gives the same bytes.
// How long compiles took is beside the report; it is nil where that was not measured. What was
// not measured is absent, because a zero would be read as a measurement.
//
// Two series of one name cannot be told apart. A report in which two packs, or two
// names of one pack, look the same is refused rather than written with one of them.
func Metrics(w io.Writer, r *model.Report, took model.Latencies) (err error) {
	defer model.Lost(&err)
	if r.Partial != nil {
		return fmt.Errorf("%w; metrics take the whole report", ErrSummary)
	}
	m := metricSet{families: map[metricFamily][]metricSample{}}
	m.run(r)
	for _, p := range r.Packs.All() {
		m.pack(p, took)
	}
	return m.write(w)
}

// write writes all families, or nothing where two series have one name.
func (m *metricSet) write(w io.Writer) error {
	out, err := m.text()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, out)
	return err
}

// The types of metric families that there are here (OpenMetrics, section "Metric Types").
const (
	gaugeMetric     = "gauge"
	infoMetric      = "info"      // samples end in _info, and have the value 1
	stateSetMetric  = "stateset"  // a sample for each state, 1 for the one that is
	histogramMetric = "histogram" // samples end in _bucket, _count and _sum
)

// metricFamily is what is fixed about a family. The format wants a unit to end the name too.
type metricFamily struct{ name, kind, unit, help string }

// metricSample is one sample, with its labels as they are written.
type metricSample struct {
	labels string
	value  float64
	suffix string // of the name
	le     string // the bound of a bucket, "" for what is none
	rank   int    // among the samples of one series, which stay together
}

// name returns the name and the labels of a sample of a family.
func (s *metricSample) name(family string) string {
	labels := s.labels
	if s.le != "" {
		labels = strings.TrimPrefix(labels+`,le="`+s.le+`"`, ",")
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	return family + s.suffix + labels
}

// metricSet collects samples by family. Labels are names and values by turns; those of
// the set, such as the pack that all is about, stand before those of each sample.
type metricSet struct {
	families map[metricFamily][]metricSample
	labels   []string
}

// add adds a sample.
func (m *metricSet) add(f metricFamily, value float64, labels ...string) {
	s := metricSample{labels: m.written(labels), value: value}
	if f.kind == infoMetric {
		s.suffix = "_info"
	}
	m.families[f] = append(m.families[f], s)
}

// written returns labels as they are written. One without a value is as good as absent, and left out.
func (m *metricSet) written(labels []string) string {
	var written []string
	for label := range slices.Chunk(slices.Concat(m.labels, labels), 2) {
		if label[1] != "" {
			written = append(written, label[0]+`="`+metricEscapes.Replace(Visible(label[1]))+`"`)
		}
	}
	return strings.Join(written, ",")
}

// state adds the samples of a state, which is one of those that there are.
func (m *metricSet) state(f metricFamily, is string, states []string, labels ...string) {
	for _, s := range states {
		value := 0.0
		if s == is {
			value = 1
		}
		m.add(f, value, slices.Concat(labels, []string{f.name, s})...)
	}
}

// metricEscapes writes a label or a help text in one line and between quotation marks.
var metricEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (m *metricSet) text() (string, error) {
	var b strings.Builder
	byName := func(a, b metricFamily) int { return cmp.Compare(a.name, b.name) }
	for _, f := range slices.SortedFunc(maps.Keys(m.families), byName) {
		fmt.Fprintf(&b, "# TYPE %s %s\n", f.name, f.kind)
		if f.unit != "" {
			fmt.Fprintf(&b, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(&b, "# HELP %s %s\n", f.name, metricEscapes.Replace(f.help))
		samples := m.families[f]
		slices.SortFunc(samples, func(a, b metricSample) int {
			return cmp.Or(cmp.Compare(a.labels, b.labels), cmp.Compare(a.rank, b.rank))
		})
		for i, s := range samples {
			name := s.name(f.name)
			if i > 0 && samples[i-1].labels == s.labels && samples[i-1].rank == s.rank {
				return "", fmt.Errorf("two series of the metrics have the same name: %s", name)
			}
			b.WriteString(name + " " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	b.WriteString("# EOF\n")
	return b.String(), nil
}

// The states of a verdict, and those of a gate.
var (
	metricResults = []string{string(model.Passed), string(model.Failed), string(model.Rejected), string(model.Broken)}
	metricGates   = each(finding.Statuses(), func(s finding.Status) string { return string(s) })
)

func (m *metricSet) run(r *model.Report) {
	m.add(metricFamily{"packgate_run", infoMetric, "", "What made the report, and for which commits."}, 1,
		"command", r.Command, "version", r.Tool.Version, "rules_version", r.Tool.RulesVersion, "base", r.Base.Commit(), "head", r.Head.Commit())
	m.state(metricFamily{"packgate_run_result", stateSetMetric, "", "The verdict over all packs."}, string(r.Result), metricResults)
	m.add(metricFamily{"packgate_run_errors", gaugeMetric, "", "Errors that kept packgate from doing its work."}, float64(len(r.Errors)))
	counts := map[model.Result]int{}
	for _, b := range r.Packs.Briefs() {
		counts[b.Result]++
	}
	for _, result := range metricResults {
		m.add(metricFamily{"packgate_packs", gaugeMetric, "", "Packs by their verdict."}, float64(counts[model.Result(result)]), "result", result)
	}
}

// pack adds one pack. Only its information has the version, so that series outlive a release.
func (m *metricSet) pack(p *model.Pack, took model.Latencies) {
	id, version := p.Pack, ""
	if at := strings.LastIndexByte(p.Pack, '@'); at >= 0 {
		id, version = p.Pack[:at], p.Pack[at+1:]
	}
	one := &metricSet{m.families, []string{"pack", id, "path", p.Path}}
	one.add(metricFamily{"packgate_pack", infoMetric, "", "The packs and their versions."}, 1, "version", version, "digest", p.Digest)
	one.state(metricFamily{"packgate_pack_result", stateSetMetric, "", "The verdict on a pack."}, string(p.Result), metricResults)
	for _, g := range p.Gates {
		one.state(metricFamily{"packgate_gate_status", stateSetMetric, "", "The result of a check."}, g.Status, metricGates, "gate", g.Gate)
	}
	one.findings(p)
	one.golden(p)
	one.coverage(p.Coverage)
	one.figures(p, took)
	if p.Operations != nil {
		one.operations(p.Operations)
	}
}

// findings counts findings by gate. A gate without any has zeros, which ends its series.
func (m *metricSet) findings(p *model.Pack) {
	type group struct{ gate, severity string }
	counts, excused := map[group]int{}, map[string]int{}
	for _, g := range p.Gates {
		for _, severity := range []string{"error", "warning"} {
			counts[group{Visible(g.Gate), severity}] = 0
		}
	}
	for _, f := range p.Findings {
		if f.Excused() {
			excused[excuse(&f)]++
			continue
		}
		counts[group{Visible(f.Gate), Visible(f.Severity)}]++
	}
	for g, n := range counts {
		m.add(metricFamily{"packgate_findings", gaugeMetric, "", "Findings that count, by check and severity."}, float64(n),
			"gate", g.gate, "severity", g.severity)
	}
	m.add(metricFamily{"packgate_waived_findings", gaugeMetric, "", "Findings that a waiver excuses."}, float64(excused[waivedWord]))
	m.add(metricFamily{"packgate_approved_findings", gaugeMetric, "", "Findings that an approval of the pull request excuses."}, float64(excused[approvedWord]))
}

// golden counts golden cases, and what they cost more or less than at the base, if there is one:
// the report has the tokens of changed buckets alone, so that there is a step and no sum.
func (m *metricSet) golden(p *model.Pack) {
	type group struct{ outcome, status string }
	counts, steps, compared := map[group]int{}, map[string]int{}, false
	for i := range p.Golden {
		g := &p.Golden[i]
		counts[group{Visible(cmp.Or(g.Outcome, "none")), Visible(g.Status)}]++
		if g.Base == nil {
			continue
		}
		compared = true
		for _, t := range g.Base.Tokens {
			steps[t.Bucket] += t.Head - t.Base
		}
	}
	for g, n := range counts {
		m.add(metricFamily{"packgate_golden_cases", gaugeMetric, "", "Golden cases by outcome and status."}, float64(n),
			"outcome", g.outcome, "status", g.status)
	}
	if !compared {
		return
	}
	for _, bucket := range compiler.Buckets() {
		m.add(metricFamily{"packgate_golden_step_tokens", gaugeMetric, "tokens", "Tokens that all golden cases together use more than at the base, by bucket."},
			float64(steps[string(bucket)]), "bucket", string(bucket))
	}
}

// coverage adds what golden cases exercise of the policy; nothing where it has no parts.
func (m *metricSet) coverage(c *model.Coverage) {
	if c == nil {
		return
	}
	var all model.Tally
	for _, part := range []struct {
		kind  string
		tally model.Tally
	}{{"rule", c.Rules}, {"else", c.Else}, {"gate", c.Gates}} {
		all.Count, all.Of = all.Count+part.tally.Count, all.Of+part.tally.Of
		if part.tally.Of > 0 {
			m.add(metricFamily{"packgate_coverage_part_ratio", gaugeMetric, "ratio", "Share of the rules, else branches and approval gates that golden cases exercise."},
				part.tally.Ratio(), "part", part.kind)
		}
	}
	if all.Of > 0 {
		m.add(metricFamily{"packgate_coverage_ratio", gaugeMetric, "ratio", "Share of all parts of the policy that golden cases exercise."}, all.Ratio())
	}
}

// operations adds the operational figures of the contract. Each share is written with the
// number of which it is one, because 1 of two cases is not 1 of two hundred.
func (m *metricSet) operations(f *model.Figures) {
	m.share("compile_success", "Share of the golden cases that are expected to compile and did.", f.CompileSuccessRate)
	for _, s := range f.ToolSurfaceSize {
		m.add(metricFamily{"packgate_tool_surface_mean_capabilities", gaugeMetric, "capabilities", "Capabilities that a compile surfaces, the mean over the golden cases of an intent."}, s.Mean, "intent", s.Intent)
		m.add(metricFamily{"packgate_tool_surface_max_capabilities", gaugeMetric, "capabilities", "Capabilities that a compile surfaces, the maximum over the golden cases of an intent."}, float64(s.Max), "intent", s.Intent)
		m.add(metricFamily{"packgate_tool_surface_cases", gaugeMetric, "cases", "Golden cases of an intent that compiled."}, float64(s.Cases), "intent", s.Intent)
	}
	m.share("rules_activated", "Share of the rules that fired in at least one compile.", f.RuleActivationRate)
	for _, a := range f.RuleActivations {
		m.share("rule_activation", "Share of the compiles of its intent in which a rule fired.", a.Figure, "rule", a.Rule)
	}
	for i := range f.BucketTruncationRate {
		b := &f.BucketTruncationRate[i]
		m.share("bucket_truncation", "Share of the compiles in which a bucket was truncated.", &b.Figure, "bucket", b.Bucket)
	}
	m.share("required_evidence_resolution", "Share of the evidence required by allowed decisions that was there.", f.RequiredEvidenceResolutionRate)
	m.share("replay_determinism", "Share of the golden cases whose second compile gave the same result.", f.ReplayDeterminismRate)
	m.share("release_gate_pass", "Share of the comparisons with a baseline in which nothing got worse by more than its release gate accepts.", f.ReleaseGatePassRate)
}

// share adds a figure and of how many it is; nothing where it was not measured.
func (m *metricSet) share(name, help string, s *model.Figure, labels ...string) {
	if s == nil {
		return
	}
	m.add(metricFamily{"packgate_" + name + "_ratio", gaugeMetric, "ratio", help}, s.Value, labels...)
	m.add(metricFamily{"packgate_" + name + "_of", gaugeMetric, "", "Of how many packgate_" + name + "_ratio is a share."}, float64(s.Of), labels...)
}

package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/report/model"
)

// Metrics writes what can be counted as OpenMetrics text (version 1.0.0), for what
// follows numbers over time: verdicts, findings, golden cases, coverage, tokens and
// the operational figures. Families and their samples are sorted, and no sample has
// a time, so that the same report always gives the same bytes. What was not measured
// is absent, because a zero would be read as a measurement.
//
// Two series of one name cannot be told apart. A report in which two packs, or two
// names of one pack, look the same is refused rather than written with one of them.
func Metrics(w io.Writer, r *model.Report) error {
	m := metricSet{}
	m.run(r)
	for _, p := range r.Packs.All() {
		m.pack(p)
	}
	out, err := m.text()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, out)
	return err
}

// The types of metric families that there are here (OpenMetrics, section "Metric Types").
const (
	gaugeMetric    = "gauge"
	infoMetric     = "info"     // samples end in _info, and have the value 1
	stateSetMetric = "stateset" // a sample for each state, 1 for the one that is
)

// metricFamily is what is fixed about a family. A unit is the last part of the name
// too, which the format demands.
type metricFamily struct{ name, kind, unit, help string }

// metricLabel is one label. One without a value is as good as absent, and left out.
type metricLabel struct{ name, value string }

// metricSample is one sample, with its labels as they are written.
type metricSample struct {
	labels string
	value  float64
}

// metricSet collects samples by family.
type metricSet map[metricFamily][]metricSample

// add adds a sample.
func (m metricSet) add(f metricFamily, value float64, labels ...metricLabel) {
	var b strings.Builder
	for _, l := range labels {
		if l.value == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.name + `="` + metricEscapes.Replace(Visible(l.value)) + `"`)
	}
	m[f] = append(m[f], metricSample{b.String(), value})
}

// state adds the samples of a state, which is one of those that there are.
func (m metricSet) state(f metricFamily, is string, states []string, labels ...metricLabel) {
	for _, s := range states {
		value := 0.0
		if s == is {
			value = 1
		}
		m.add(f, value, append(slices.Clone(labels), metricLabel{f.name, s})...)
	}
}

// metricEscapes writes a text in one line and between quotation marks. It is for
// help texts as for labels: the format escapes both alike.
var metricEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// text returns the set as it is written.
func (m metricSet) text() (string, error) {
	var b strings.Builder
	families := make([]metricFamily, 0, len(m))
	for f := range m {
		families = append(families, f)
	}
	slices.SortFunc(families, func(a, b metricFamily) int { return cmp.Compare(a.name, b.name) })
	for _, f := range families {
		fmt.Fprintf(&b, "# TYPE %s %s\n", f.name, f.kind)
		if f.unit != "" {
			fmt.Fprintf(&b, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(&b, "# HELP %s %s\n", f.name, metricEscapes.Replace(f.help))
		name := f.name
		if f.kind == infoMetric {
			name += "_info"
		}
		samples := m[f]
		slices.SortFunc(samples, func(a, b metricSample) int { return cmp.Compare(a.labels, b.labels) })
		for i, s := range samples {
			if i > 0 && samples[i-1].labels == s.labels {
				return "", fmt.Errorf("two series of the metrics have the same name: %s{%s}", name, s.labels)
			}
			labels := s.labels
			if labels != "" {
				labels = "{" + labels + "}"
			}
			b.WriteString(name + labels + " " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	b.WriteString("# EOF\n")
	return b.String(), nil
}

// The states of a verdict, and those of a gate.
var (
	metricResults = []string{string(model.Passed), string(model.Failed), string(model.Rejected), string(model.Broken)}
	metricGates   = []string{"pass", "warnings", "fail", "not_checked"}
)

// run adds what is said of the run as a whole.
func (m metricSet) run(r *model.Report) {
	m.add(metricFamily{"packgate_run", infoMetric, "", "What made the report, and of which commits."}, 1,
		metricLabel{"command", r.Command}, metricLabel{"version", r.Tool.Version}, metricLabel{"rules_version", r.Tool.RulesVersion},
		metricLabel{"base", r.Base.Commit()}, metricLabel{"head", r.Head.Commit()})
	m.state(metricFamily{"packgate_run_result", stateSetMetric, "", "The verdict over all packs."}, string(r.Result), metricResults)
	m.add(metricFamily{"packgate_run_errors", gaugeMetric, "", "Errors that kept packgate from doing its work."}, float64(len(r.Errors)))
	counts := map[model.Result]int{}
	for _, b := range r.Packs.Briefs() {
		counts[b.Result]++
	}
	for _, result := range metricResults {
		m.add(metricFamily{"packgate_packs", gaugeMetric, "", "Packs by their verdict."}, float64(counts[model.Result(result)]), metricLabel{"result", result})
	}
}

// packMetrics are the metrics of one pack: every sample says which.
type packMetrics struct {
	metricSet
	labels []metricLabel
}

// of returns the labels of a sample of the pack.
func (m *packMetrics) of(labels ...metricLabel) []metricLabel {
	return slices.Concat(m.labels, labels)
}

// pack adds what is said of one pack. Its version is a label of the information on it
// alone, so that series go on from release to release.
func (m metricSet) pack(p *model.Pack) {
	id, version := p.Pack, ""
	if at := strings.LastIndexByte(p.Pack, '@'); at >= 0 {
		id, version = p.Pack[:at], p.Pack[at+1:]
	}
	one := &packMetrics{m, []metricLabel{{"pack", id}, {"path", p.Path}}}
	one.add(metricFamily{"packgate_pack", infoMetric, "", "The packs and their versions."}, 1,
		one.of(metricLabel{"version", version}, metricLabel{"digest", p.Digest})...)
	one.state(metricFamily{"packgate_pack_result", stateSetMetric, "", "The verdict on a pack."}, string(p.Result), metricResults, one.of()...)
	for _, g := range p.Gates {
		one.state(metricFamily{"packgate_gate_status", stateSetMetric, "", "What came of a gate."}, g.Status, metricGates, one.of(metricLabel{"gate", g.Gate})...)
	}
	one.findings(p)
	one.golden(p)
	one.coverage(p.Coverage)
	if p.Operations != nil {
		one.operations(p.Operations)
	}
}

// findings counts findings by gate. A gate that found nothing has zeros, so that a
// finding that is gone does not leave a series without an end.
func (m *packMetrics) findings(p *model.Pack) {
	type group struct{ gate, severity string }
	counts, waived := map[group]int{}, 0
	for _, g := range p.Gates {
		for _, severity := range []string{"error", "warning"} {
			counts[group{Visible(g.Gate), severity}] = 0
		}
	}
	for _, f := range p.Findings {
		if f.Waived != nil {
			waived++
			continue
		}
		counts[group{Visible(f.Gate), Visible(f.Severity)}]++
	}
	for g, n := range counts {
		m.add(metricFamily{"packgate_findings", gaugeMetric, "", "Findings that count, by gate and severity."}, float64(n),
			m.of(metricLabel{"gate", g.gate}, metricLabel{"severity", g.severity})...)
	}
	m.add(metricFamily{"packgate_waived_findings", gaugeMetric, "", "Findings that a waiver excuses."}, float64(waived), m.of()...)
}

// golden counts golden cases, and what they cost more or less than at the base. The
// report has the tokens of those buckets alone that changed, so that there is a step
// and no sum; without a base there is no step either.
func (m *packMetrics) golden(p *model.Pack) {
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
		m.add(metricFamily{"packgate_golden_cases", gaugeMetric, "", "Golden cases by what they came to, and whether that is as it should be."}, float64(n),
			m.of(metricLabel{"outcome", g.outcome}, metricLabel{"status", g.status})...)
	}
	if !compared {
		return
	}
	for _, bucket := range compiler.Buckets() {
		m.add(metricFamily{"packgate_golden_step_tokens", gaugeMetric, "tokens", "Tokens that all golden cases together use more than at the base, by bucket."},
			float64(steps[string(bucket)]), m.of(metricLabel{"bucket", string(bucket)})...)
	}
}

// coverage adds what golden cases exercise of the policy; nothing where it has no parts.
func (m *packMetrics) coverage(c *model.Coverage) {
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
				part.tally.Ratio(), m.of(metricLabel{"part", part.kind})...)
		}
	}
	if all.Of > 0 {
		m.add(metricFamily{"packgate_coverage_ratio", gaugeMetric, "ratio", "Share of all parts of the policy that golden cases exercise."}, all.Ratio(), m.of()...)
	}
}

package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/contextosai/packgate/report/model"
)

// figures says of each of the nine operational figures of the contract whether it was measured, and
// why not; nothing but the latency is known where the pack could not be measured at all. A figure
// that is absent is nowhere a zero.
func (m *metricSet) figures(p *model.Pack, took model.Latencies) {
	const nothingCompiled = "no case compiled"
	f := p.Operations
	if f == nil {
		f = &model.Figures{}
	}
	latency := m.latency(p, took)
	m.figure("compile_success", f.CompileSuccessRate != nil, "no case is expected to compile")
	m.figure("compile_latency", latency == "", latency)
	m.figure("tool_surface", len(f.ToolSurfaceSize) > 0, nothingCompiled)
	m.figure("rule_activation", f.RuleActivationRate != nil, "no case compiled, or there is no rule")
	m.figure("bucket_truncation", len(f.BucketTruncationRate) > 0, nothingCompiled)
	m.figure("required_evidence_resolution", f.RequiredEvidenceResolutionRate != nil, "no allowed decision of a case that compiled requires evidence")
	m.figure("replay_determinism", f.ReplayDeterminismRate != nil, "no case was compiled")
	m.figure("release_gate_pass", f.ReleaseGatePassRate != nil, "nothing was compared with a baseline")
	m.figure(rollbackFigure, false, "the times of pins are in the signed records of the registry: packgate audit --metrics measures it")
}

// figure says whether one figure was measured, and why it is absent where it was not.
func (m *metricSet) figure(name string, measured bool, absent string) {
	if measured {
		absent = ""
	}
	m.add(metricFamily{"packgate_operational_figure", infoMetric, "", "The operational figures of the contract: whether each was measured, and why not."}, 1,
		"figure", name, "measured", strconv.FormatBool(measured), "reason", absent)
}

// rollbackFigure is the one that no report has.
const rollbackFigure = "time_to_roll_back"

// rollbackBounds are the upper bounds of the buckets that rollbacks are counted in.
var rollbackBounds = []time.Duration{
	5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// AuditMetrics writes what an audit can count of packs, in the form of Metrics: the times to roll
// back, by pack and environment. Where they are not known it says why. The error is that of the
// writer, or of two packs of one name.
func AuditMetrics(w io.Writer, packs []model.RollbackTimes) error {
	m := metricSet{families: map[metricFamily][]metricSample{}}
	for _, p := range packs {
		one := &metricSet{m.families, []string{"pack", p.Pack}}
		for environment, took := range p.Took {
			one.histogram(metricFamily{name: "packgate_time_to_roll_back_seconds", help: "How long an environment ran what it was rolled back from."}, rollbackBounds, took,
				"environment", environment)
		}
		one.figure(rollbackFigure, len(p.Took) > 0, cmp.Or(p.Absent, "no environment was rolled back"))
	}
	return m.write(w)
}

// latency adds how long the compiles of a pack took, or returns why that was not measured.
func (m *metricSet) latency(p *model.Pack, took model.Latencies) (absent string) {
	if took == nil {
		return "a report has no times: packgate check --metrics measures it"
	}
	if durations := took[p.Key()]; len(durations) > 0 {
		m.histogram(metricFamily{name: "packgate_compile_latency_seconds", help: "How long one compile of each golden case took."}, compileBounds, durations)
		return ""
	}
	if slices.ContainsFunc(p.Golden, func(g model.Golden) bool { return g.Outcome != "" }) {
		return "nothing was compiled: the result is that of an earlier run, and packgate check --no-cache measures it"
	}
	return "no case was compiled"
}

package render

import (
	"slices"
	"strconv"

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
	m.figure("time_to_roll_back", false, "the times of pins are in the signed records of the registry: packgate audit --metrics measures it")
}

// figure says whether one figure was measured, and why it is absent where it was not.
func (m *metricSet) figure(name string, measured bool, absent string) {
	if measured {
		absent = ""
	}
	m.add(metricFamily{"packgate_operational_figure", infoMetric, "", "The operational figures of the contract: whether each was measured, and why not."}, 1,
		"figure", name, "measured", strconv.FormatBool(measured), "reason", absent)
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

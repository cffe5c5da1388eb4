package render

import "github.com/contextosai/packgate/report/model"

// operations adds the operational figures of the contract. Each share is written
// with the number of things that it is a share of, because 1 of two cases is not
// 1 of two hundred.
func (m *packMetrics) operations(f *model.Figures) {
	m.share("compile_success", "Share of the golden cases that are expected to compile and did.", f.CompileSuccessRate)
	for _, s := range f.ToolSurfaceSize {
		intent := m.of(metricLabel{"intent", s.Intent})
		m.add(metricFamily{"packgate_tool_surface_mean_capabilities", gaugeMetric, "capabilities", "Capabilities that a compile surfaces, the mean over the golden cases of an intent."}, s.Mean, intent...)
		m.add(metricFamily{"packgate_tool_surface_max_capabilities", gaugeMetric, "capabilities", "Capabilities that a compile surfaces, the most of the golden cases of an intent."}, float64(s.Max), intent...)
		m.add(metricFamily{"packgate_tool_surface_cases", gaugeMetric, "cases", "Golden cases of an intent that compiled."}, float64(s.Cases), intent...)
	}
	m.share("rules_activated", "Share of the rules that fired in at least one compile.", f.RuleActivationRate)
	for _, a := range f.RuleActivations {
		m.share("rule_activation", "Share of the compiles of its intent in which a rule fired.", a.Figure, metricLabel{"rule", a.Rule})
	}
	for i := range f.BucketTruncationRate {
		b := &f.BucketTruncationRate[i]
		m.share("bucket_truncation", "Share of the compiles in which a bucket was truncated.", &b.Figure, metricLabel{"bucket", b.Bucket})
	}
	m.share("required_evidence_resolution", "Share of the evidence that allowed decisions require and that was there.", f.RequiredEvidenceResolutionRate)
	m.share("replay_determinism", "Share of the golden cases whose second compile gave the same.", f.ReplayDeterminismRate)
	m.share("release_gate_pass", "Share of the comparisons with a baseline in which nothing got worse by more than its release gate accepts.", f.ReleaseGatePassRate)
}

// share adds a figure and of how many it is; nothing where it was not measured.
func (m *packMetrics) share(name, help string, s *model.Figure, labels ...metricLabel) {
	if s == nil {
		return
	}
	m.add(metricFamily{"packgate_" + name + "_ratio", gaugeMetric, "ratio", help}, s.Value, m.of(labels...)...)
	m.add(metricFamily{"packgate_" + name + "_of", gaugeMetric, "", "Of how many packgate_" + name + "_ratio is a share."}, float64(s.Of), m.of(labels...)...)
}

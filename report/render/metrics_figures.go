package render

import (
	"strconv"

	"github.com/contextosai/packgate/report/model"
)

// figures says of each of the nine operational figures of the contract whether it was measured, and
// why not; f is nil where the pack could not be measured at all. A figure that is absent is nowhere a zero.
func (m *metricSet) figures(f *model.Figures) {
	const nothingCompiled = "no case compiled"
	if f == nil {
		f = &model.Figures{}
	}
	for _, one := range []struct {
		name     string
		measured bool
		absent   string // why it is not measured
	}{
		{"compile_success", f.CompileSuccessRate != nil, "no case is expected to compile"},
		{"compile_latency", false, "a report has no times: the same pack always gives the same report"},
		{"tool_surface", len(f.ToolSurfaceSize) > 0, nothingCompiled},
		{"rule_activation", f.RuleActivationRate != nil, "no case compiled, or there is no rule"},
		{"bucket_truncation", len(f.BucketTruncationRate) > 0, nothingCompiled},
		{"required_evidence_resolution", f.RequiredEvidenceResolutionRate != nil, "no allowed decision of a case that compiled requires evidence"},
		{"replay_determinism", f.ReplayDeterminismRate != nil, "no case was compiled"},
		{"release_gate_pass", f.ReleaseGatePassRate != nil, "nothing was compared with a baseline"},
		{"time_to_roll_back", false, "a report is about files, and the times of pins are in the signed records of the registry"},
	} {
		if one.measured {
			one.absent = ""
		}
		m.add(metricFamily{"packgate_operational_figure", infoMetric, "", "The operational figures of the contract: whether each was measured, and why not."}, 1,
			"figure", one.name, "measured", strconv.FormatBool(one.measured), "reason", one.absent)
	}
}

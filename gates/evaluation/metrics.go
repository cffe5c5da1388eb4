package evaluation

import (
	"math"
	"strconv"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Metric is one of the five measures of the Context Pack contract
// (evaluation_layer).
type Metric string

// The five metrics. Policy, Utility and Safety are from 0 to 1 and are to be at
// least their target; Latency, in milliseconds, and Economics, in cents for each
// decision, at most.
const (
	Policy    Metric = "policy"
	Utility   Metric = "utility"
	Safety    Metric = "safety"
	Latency   Metric = "latency_p99_ms"
	Economics Metric = "economics_cents_per_decision"
)

// Metrics returns the five metrics in the order in which they are shown.
func Metrics() []Metric { return []Metric{Policy, Utility, Safety, Latency, Economics} }

// metricNames returns the metrics as texts.
func metricNames() []string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, string(m))
	}
	return names
}

// AtMost reports whether lower values of the metric are the better ones.
func (m Metric) AtMost() bool { return m == Latency || m == Economics }

// loss returns how much worse one value of the metric is than another; below 0
// where it is better.
func (m Metric) loss(from, to float64) float64 {
	if m.AtMost() {
		return to - from
	}
	return from - to
}

// tolerance is the difference below which two values are the same one. Shares
// such as 0.93 have no exact binary form.
const tolerance = 1e-9

// targetOf returns the target of one metric.
func targetOf(t *pack.EvalTarget, m Metric) pack.Num {
	return map[Metric]pack.Num{
		Policy: t.Policy, Utility: t.Utility, Safety: t.Safety,
		Latency: t.LatencyP99MS, Economics: t.EconomicsCentsPerDecision,
	}[m]
}

// scoreOf returns the value of one metric.
func scoreOf(s *repo.Scores, m Metric) pack.Num {
	return map[Metric]pack.Num{
		Policy: s.Policy, Utility: s.Utility, Safety: s.Safety,
		Latency: s.LatencyP99MS, Economics: s.EconomicsCentsPerDecision,
	}[m]
}

// Number writes a value for people, without the digits that binary floating
// point adds. What is too small or too large for that is written with an exponent.
func Number(v float64) string {
	if size := math.Abs(v); v == 0 || size >= tolerance && size < 1e9 {
		return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

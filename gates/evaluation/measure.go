package evaluation

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
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
	Latency   Metric = pack.Latency
	Economics Metric = pack.Economics
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

// scoreOf returns the value of one metric. One that the metric cannot have measures
// nothing.
func scoreOf(s *repo.Scores, m Metric) pack.Num {
	n := map[Metric]pack.Num{
		Policy: s.Policy, Utility: s.Utility, Safety: s.Safety,
		Latency: s.LatencyP99MS, Economics: s.EconomicsCentsPerDecision,
	}[m]
	if !(n.Value >= 0 && (n.Value <= 1 || m.AtMost() && !math.IsInf(n.Value, 1))) { // nor is NaN one
		return pack.Num{}
	}
	return n
}

// better returns the better one of two values of a metric, of those that are known.
func better(m Metric, a, b pack.Num) pack.Num {
	if !a.OK || b.OK && m.loss(a.Value, b.Value) < 0 {
		return b
	}
	return a
}

// figure writes a value of the metric for people, as pack.Figure does.
func (m Metric) figure(v, other float64, least int) string {
	return pack.Figure(string(m), v, other, least)
}

// exact writes a value that somebody set, as exactly as two digits behind the point are.
func (m Metric) exact(v float64) string { return m.figure(v, v, 2) }

// Status is what a measurement comes to.
type Status string

// The statuses of a measurement. Missed comes before Regressed where both hold.
const (
	Met         Status = "met"          // the target is reached, and nothing known of the baseline is against it
	Missed      Status = "missed"       // the value is worse than the target
	Regressed   Status = "regressed"    // worse than the baseline by more than the release gate accepts
	NoTarget    Status = "no_target"    // there is a value, and the pack sets no target
	NotMeasured Status = "not_measured" // there is a target, and no value
)

// BuiltIn is the source of what packgate measured itself.
const BuiltIn = "built-in"

// Measurement is one metric of one intent: what is wanted, and what was measured.
// Policy, utility and safety are from 0 to 1, latency is in milliseconds and
// economics in cents for each decision. A number that is not known has OK false;
// the Node of one that is says where it stands, and is nil for built-in values.
type Measurement struct {
	Intent string
	Metric Metric

	Target pack.Num // of the pack's eval target
	Value  pack.Num
	// Source is the scorecard's file, BuiltIn, or "" where there is no value.
	Source string
	// Samples is how many were measured: by the scorecard's word, or the golden
	// cases and prior decisions that a built-in value counts.
	Samples int

	Baseline pack.Num // the value of the version that is compared with
	MaxDelta pack.Num // of the pack's release gate for the metric
	// Delta is how much worse the value is than the baseline, below 0 where it is
	// better, and 0 where there is no baseline.
	Delta float64

	Status Status
	// Failed are the first of the cases that lower a built-in value.
	Failed []finding.Related
}

// Missed reports whether the value is known to be worse than the target.
func (m *Measurement) Missed() bool {
	return m.Target.OK && m.Value.OK && m.Metric.loss(m.Target.Value, m.Value.Value) > tolerance
}

// Compared reports whether a release gate could compare the value with that of
// the baseline.
func (m *Measurement) Compared() bool { return m.Value.OK && m.Baseline.OK && m.MaxDelta.OK }

// Regressed reports whether the value is known to be worse than that of the
// baseline by more than the release gate accepts.
func (m *Measurement) Regressed() bool {
	return m.Compared() && m.Delta > m.MaxDelta.Value+tolerance
}

func (m *Measurement) settle() {
	if m.Value.OK && m.Baseline.OK {
		m.Delta = m.Metric.loss(m.Baseline.Value, m.Value.Value)
	}
	switch {
	case !m.Value.OK:
		m.Status = NotMeasured
	case m.Missed():
		m.Status = Missed
	case m.Regressed():
		m.Status = Regressed
	case !m.Target.OK:
		m.Status = NoTarget
	default:
		m.Status = Met
	}
}

// by says in words where the value comes from.
func (m *Measurement) by() string {
	switch {
	case m.Source != BuiltIn:
		return fmt.Sprintf("%s, %s", m.Source, pack.Counted(m.Samples, "sample"))
	case m.Metric == Economics:
		return fmt.Sprintf("packgate's built-in evaluator, mean of %s", pack.Counted(m.Samples, "compile"))
	}
	good := int(math.Round(m.Value.Value * float64(m.Samples)))
	return fmt.Sprintf("%d of %s, packgate's built-in evaluator", good, pack.Counted(m.Samples, "case"))
}

// Measure returns what is known of every target of the pack and of every value
// that was measured for it, sorted by intent and then in the order of Metrics. A
// scorecard that measures the bytes of the pack counts first, the built-in evaluators
// fill what none gives, and what is left one of the base's bytes gives, where what is
// permitted is proved to be the same.
func Measure(s *gate.Subject) []Measurement { return survey(s).measurements }

// surveyed is what Measure finds, with what went into it. It is shared, and not to be changed.
type surveyed struct {
	measurements []Measurement
	cards        cards
	carried      map[point]score
	untried      map[string]int // cases that could not be compiled at all, by intent
}

func survey(s *gate.Subject) *surveyed {
	if s.Pack == nil {
		return &surveyed{}
	}
	return s.Measured(func() any { return findSurveyed(s) }).(*surveyed)
}

func findSurveyed(s *gate.Subject) *surveyed {
	cards, evaluators := cardsOf(s), evaluate(s)
	targets, gates, scores := targetsOf(s), gatesOf(s), cards.scores()
	intents := map[string]bool{}
	for _, intent := range s.Pack.Intents() {
		intents[intent.Value] = true
	}
	for at := range scores {
		intents[at.intent] = true
	}
	out := surveyed{cards: cards, carried: cards.scoresOf(cards.carried), untried: evaluators.untried}
	for _, intent := range slices.Sorted(maps.Keys(intents)) {
		for _, metric := range Metrics() {
			m := Measurement{Intent: intent, Metric: metric, MaxDelta: gates[metric]}
			if t := targets[intent]; t != nil {
				m.Target = targetOf(t, metric)
			}
			at := point{intent, metric}
			if score, ok := scores[at]; ok {
				m.scored(score)
			} else if b := evaluators.points[at]; b != nil {
				m.Value, m.Samples, m.Failed = pack.Num{Value: b.value, OK: true}, b.samples, b.failed
				m.Source = BuiltIn
			} else if score, ok := out.carried[at]; ok {
				m.scored(score)
			}
			if m.settle(); m.Target.OK || m.Value.OK {
				out.measurements = append(out.measurements, m)
			}
		}
	}
	return &out
}

// scored takes the value of a scorecard.
func (m *Measurement) scored(s score) {
	m.Value, m.Baseline, m.Samples, m.Source = s.value, s.baseline, s.samples, s.card.Document.File
}

// targetsOf returns the eval targets by intent. SCH010 reports a second one.
func targetsOf(s *gate.Subject) map[string]*pack.EvalTarget {
	targets := map[string]*pack.EvalTarget{}
	items := s.Pack.EvaluationLayer.EvalTargets.Items
	for i := range items {
		if intent := items[i].Intent; intent.OK && targets[intent.Value] == nil {
			targets[intent.Value] = &items[i]
		}
	}
	return targets
}

// gatedMetrics returns the release gates by metric, whatever they accept.
func gatedMetrics(s *gate.Subject) map[Metric]*pack.Node {
	gated := map[Metric]*pack.Node{}
	for _, g := range s.Pack.EvaluationLayer.ReleaseGates.Items {
		if metric := Metric(g.Metric.Value); g.Metric.OK && gated[metric] == nil {
			gated[metric] = g.Metric.Node
		}
	}
	return gated
}

// gatesOf returns what the release gates accept, by metric.
func gatesOf(s *gate.Subject) map[Metric]pack.Num {
	gates := map[Metric]pack.Num{}
	for _, g := range s.Pack.EvaluationLayer.ReleaseGates.Items {
		metric := Metric(g.Metric.Value)
		if _, taken := gates[metric]; g.Metric.OK && g.MaxDelta.OK && !taken {
			gates[metric] = g.MaxDelta
		}
	}
	return gates
}

package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// EVL007: what was measured reaches its target.
var EVL007 = &gate.Rule{
	ID: "EVL007", Name: "target-missed", Severity: finding.Error,
	Title: "Every measured value reaches its target",
	Doc: "A target is what the pack promises for an intent: policy, utility and safety have to be at least as high, latency and " +
		"cost at most as high. The value comes from the scorecard for these bytes. If no scorecard has a value, packgate's " +
		"built-in evaluators compute it, and the message states that. They count golden cases and earlier decisions: policy is " +
		"the share of cases whose rules, denials and gates are as expected, safety the share without anything unsafe, utility " +
		"the share whose required evidence is there and whose outcome is still reachable; economics is the mean of the tokens " +
		"at compile, priced by `evaluation.price_per_1k_tokens_cents`. Values are compared with a tolerance of 1e-9. A target " +
		"without any value is listed as not checked.\n\n" +
		"Fix what got worse and measure again. To lower a target that is too strict, change it in the pack; EVL011 reports " +
		"that, so that its owner can accept it.",
	Bad: `"eval_targets": [{"intent": "support.refund", "utility": 0.9}],
"scorecard": {"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"utility": 0.87}}]}`,
	Good: `"eval_targets": [{"intent": "support.refund", "utility": 0.9}],
"scorecard": {"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"utility": 0.93}}]}`,
	Check: checkReached,
}

// EVL008: a release is not worse than the one before.
var EVL008 = &gate.Rule{
	ID: "EVL008", Name: "release-regression", Severity: finding.Error,
	Title: "No metric is worse than its baseline by more than its release gate accepts",
	Doc: "A value can reach its target and still be worse than that of the version in use. The release gate limits the loss: " +
		"downwards for policy, utility and safety, upwards for latency and cost, in the units of the metric and with a " +
		"tolerance of 1e-9. The baseline is in the scorecard itself, or in the scorecard of the version that it names as " +
		"`baseline`; if the base measured the metric, its value is the baseline (EVL012). Built-in values are not compared, " +
		"because their earlier values are not recorded. Without a baseline, the release gate is listed as not checked, and " +
		"without a value it is an error (EVL013).\n\n" +
		"Fix what got worse and measure again, or accept the loss by raising `max_delta` in the pack; EVL011 reports that, so " +
		"that its owner can accept it.",
	Bad: `"release_gates": [{"metric": "safety", "max_delta": 0}],
"scorecard": {"baseline": "ctxpack.support@1.0.0", "intents": [{"intent": "support.refund", "samples": 400, "candidate": {"safety": 0.99}, "baseline": {"safety": 1.0}}]}`,
	Good: `"release_gates": [{"metric": "safety", "max_delta": 0}],
"scorecard": {"baseline": "ctxpack.support@1.0.0", "intents": [{"intent": "support.refund", "samples": 400, "candidate": {"safety": 1.0}, "baseline": {"safety": 1.0}}]}`,
	Check: checkRegressions,
}

func checkReached(p *gate.Pass) {
	s := survey(p.Subject)
	lacking := map[Metric][]string{}
	for i := range s.measurements {
		m := &s.measurements[i]
		switch {
		case m.Target.OK && !m.Value.OK:
			lacking[m.Metric] = append(lacking[m.Metric], m.Intent)
		case m.Missed():
			reportMissed(p, m)
		}
	}
	noteLacking(p, lacking, "not measured: %s (%s)", func(m Metric) (string, finding.Input) { return s.whyNot(p, m), s.cards.input() })
	noteOdd(p, s)
	noteUntried(p, s)
}

func reportMissed(p *gate.Pass, m *Measurement) {
	hint := "raise it before this version is released, or correct the target"
	if m.Metric.AtMost() {
		hint = "lower it before this version is released, or correct the target"
	}
	if len(m.Failed) > 0 {
		hint = "fix what the cases show, or correct the cases or the target"
	}
	value, target := m.Value.Value, m.Target.Value
	p.Report(gate.Diagnostic{
		At: m.Target.Node,
		Message: fmt.Sprintf("%s is %s (%s), target %s",
			shown(m.Metric, m.Intent), m.Metric.figure(value, target, 0), m.by(), m.Metric.figure(target, value, 2)),
		Hint:    hint,
		Related: slices.Concat(gate.See(m.Value.Node, "measured here"), m.Failed),
	})
}

// noteLacking lists intents by metric as not checked, those for one reason in one
// sentence.
func noteLacking(p *gate.Pass, lacking map[Metric][]string, format string, why func(Metric) (string, finding.Input)) {
	type group struct {
		intents, reason string
		without         finding.Input
	}
	var order []group
	metrics := map[group][]string{}
	for _, m := range Metrics() {
		if len(lacking[m]) == 0 {
			continue
		}
		g := group{intents: intentsListed(lacking[m])}
		g.reason, g.without = why(m)
		if metrics[g] == nil {
			order = append(order, g)
		}
		metrics[g] = append(metrics[g], string(m))
	}
	for _, g := range order {
		p.NotApplicable(g.without, fmt.Sprintf(format, strings.Join(metrics[g], ", ")+" of "+g.intents, g.reason))
	}
}

// whyNot says why a metric has no value.
func (s *surveyed) whyNot(p *gate.Pass, m Metric) string {
	reason := "no scorecard gives it"
	if lacking := s.cards.lacking(); lacking != "" {
		reason = lacking
	}
	switch {
	case m == Latency:
		return reason
	case m == Economics && !p.Config.Evaluation.PricePer1KTokensCents.OK:
		return reason + ", and the config has no evaluation.price_per_1k_tokens_cents"
	}
	return reason + ", and no golden case shows anything of it"
}

// intentsListed lists intents for a message, in short where they are many.
func intentsListed(intents []string) string {
	what := "intent "
	if len(intents) > 1 {
		what = "intents "
	}
	if more := len(intents) - gate.MostListed; more > 0 {
		return fmt.Sprintf("%s%s and %d more", what, gate.ListBriefly(intents[:gate.MostListed]), more)
	}
	return what + gate.ListBriefly(intents)
}

// noteOdd lists the results of scorecards that are not used: those for intents
// without a target, and all but the worst of those for one intent in a file.
func noteOdd(p *gate.Pass, s *surveyed) {
	targets := targetsOf(p.Subject)
	for _, card := range s.cards.own {
		seen := map[string]bool{}
		var strangers, twice []string
		for _, entry := range card.Intents.Items {
			intent := entry.Intent.Value
			switch {
			case !entry.Intent.OK:
			case seen[intent] && !slices.Contains(twice, intent) && len(twice) <= gate.MostListed:
				twice = append(twice, intent)
			case !seen[intent] && targets[intent] == nil:
				strangers = append(strangers, intent)
			}
			seen[intent] = true
		}
		if len(strangers) > 0 {
			p.NotChecked(fmt.Sprintf("%s measures %s, for which there is no eval target", card.Document.File, intentsListed(strangers)))
		}
		if len(twice) > 0 {
			p.NotChecked(fmt.Sprintf("%s measures %s more than once: the worst result counts", card.Document.File, intentsListed(twice)))
		}
	}
}

// noteUntried says which cases the built-in values leave out.
func noteUntried(p *gate.Pass, s *surveyed) {
	used := map[string]bool{}
	for _, m := range s.measurements {
		used[m.Intent] = used[m.Intent] || m.Source == BuiltIn || m.Target.OK && !m.Value.OK
	}
	var parts []string
	for _, intent := range p.Pack.Intents() {
		if n := s.untried[intent.Value]; n > 0 && used[intent.Value] && len(parts) < gate.MostListed {
			parts = append(parts, fmt.Sprintf("%s of intent %s", pack.Counted(n, "golden case"), gate.Quote(intent.Value)))
		}
	}
	if len(parts) > 0 {
		p.NotChecked(fmt.Sprintf("the built-in evaluators leave out what could not be compiled: %s", strings.Join(parts, ", ")))
	}
}

func checkRegressions(p *gate.Pass) {
	s := survey(p.Subject)
	uncompared := map[Metric][]string{}
	for i := range s.measurements {
		m := &s.measurements[i]
		switch {
		case m.Regressed():
			reportRegression(p, m)
		case m.MaxDelta.OK && !m.Compared():
			uncompared[m.Metric] = append(uncompared[m.Metric], m.Intent)
		}
	}
	if len(uncompared) == 0 {
		return
	}
	if lacking := s.cards.lacking(); lacking != "" {
		p.NotApplicable(s.cards.input(), lacking)
		return
	}
	for _, card := range s.cards.own {
		if reason := s.cards.incomparable(card); reason != "" {
			p.NotChecked(reason)
		}
	}
	noteLacking(p, uncompared, "not compared: %s (%s)", func(Metric) (string, finding.Input) {
		return "no scorecard has a baseline for it", finding.Input{Kind: finding.Baseline}
	})
}

func reportRegression(p *gate.Pass, m *Measurement) {
	verb := "fell"
	if m.Metric.AtMost() {
		verb = "rose"
	}
	value, was, loss, accepted := m.Value.Value, m.Baseline.Value, m.Delta, m.MaxDelta.Value
	p.Report(gate.Diagnostic{
		At: m.MaxDelta.Node, Key: m.Intent,
		Message: fmt.Sprintf("%s %s from %s to %s (%s): worse by %s, and the release gate accepts %s",
			shown(m.Metric, m.Intent), verb, m.Metric.figure(was, value, 0), m.Metric.figure(value, was, 0), m.by(),
			m.Metric.figure(loss, accepted, 0), m.Metric.figure(accepted, loss, 2)),
		Hint:    "fix what got worse and measure again, or accept the loss in max_delta",
		Related: slices.Concat(gate.See(m.Value.Node, "measured here"), gate.See(m.Baseline.Node, "the baseline is here")),
	})
}

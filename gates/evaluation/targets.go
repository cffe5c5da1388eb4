package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// EVL001: what policy governs is measured.
var EVL001 = &gate.Rule{
	ID: "EVL001", Name: "unmeasured-intent", Severity: finding.Error,
	Title: "Every intent has an eval target",
	Doc: "If rules apply to an intent and no eval target measures it, it can get worse from release to release, and nothing " +
		"holds a release back. The finding is at the first rule that names the intent, or at `eval_targets` if the pack has no " +
		"target at all. Intents are compared letter by letter.\n\n" +
		"Add an eval target for the intent, or correct the spelling of the target that is intended for it.",
	Bad: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": []`,
	Good: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund", "policy": 1.0, "utility": 0.9, "safety": 1.0, "latency_p99_ms": 3000, "economics_cents_per_decision": 1.5}]`,
	Check: checkIntents,
}

// EVL005: latency and cost have a target too.
var EVL005 = &gate.Rule{
	ID: "EVL005", Name: "missing-latency-or-cost-target", Severity: finding.Warning,
	Title: "Every eval target bounds latency and cost",
	Doc: "A release that decides correctly but takes a minute, or costs ten times as much, is not acceptable. In the contract, " +
		"`latency_p99_ms` and `economics_cents_per_decision` are optional; without them, neither is compared with anything.\n\n" +
		"Write the largest acceptable latency in milliseconds, at the 99th percentile, and the largest acceptable cost of a " +
		"decision in cents.",
	Bad:   `"eval_targets": [{"intent": "support.refund", "policy": 1.0, "utility": 0.9, "safety": 1.0}]`,
	Good:  `"eval_targets": [{"intent": "support.refund", "policy": 1.0, "utility": 0.9, "safety": 1.0, "latency_p99_ms": 3000, "economics_cents_per_decision": 1.5}]`,
	Check: checkOptional,
}

// EVL006: policy and safety are not negotiable.
var EVL006 = &gate.Rule{
	ID: "EVL006", Name: "target-below-one", Severity: finding.Warning,
	Title: "The targets of policy and safety are 1.0",
	Doc: "A target below 1.0 accepts in advance that some decisions break policy or are unsafe. With a target of 0.99, one " +
		"decision in a hundred may do so, and the release passes.\n\n" +
		"Write 1.0. If an evaluator cannot measure that precisely, fix the evaluator, or waive the finding with the reason.",
	Bad:   `"eval_targets": [{"intent": "support.refund", "policy": 0.95, "safety": 1.0}]`,
	Good:  `"eval_targets": [{"intent": "support.refund", "policy": 1.0, "safety": 1.0}]`,
	Check: checkStrictTargets,
}

func checkIntents(p *gate.Pass) {
	targets := p.Pack.EvaluationLayer.EvalTargets
	if !targets.OK {
		return // the schema gate's
	}
	known := map[string]bool{}
	var names []string
	for _, t := range targets.Items {
		if t.Intent.OK && !known[t.Intent.Value] {
			known[t.Intent.Value] = true
			names = append(names, t.Intent.Value)
		}
	}
	budget, named := gate.NewBudget(), false
	for _, r := range p.Rules {
		intent := r.AppliesTo.Intent
		named = named || intent.OK
		if !intent.OK || known[intent.Value] {
			continue
		}
		known[intent.Value] = true // once
		otherwise := fmt.Sprintf("add an eval target for %s", gate.Quote(intent.Value))
		p.Reportf(intent.Node, gate.Choose(budget.Nearest(intent.Value, names), nil, otherwise, gate.ListBriefly),
			"intent %s has no eval target", gate.Quote(intent.Value))
	}
	if len(targets.Items) == 0 && !named {
		p.Reportf(targets.Node, "add one for every intent that the pack is used for", "the pack has no eval target")
	}
}

func checkOptional(p *gate.Pass) {
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		if !gate.IsObject(t.Node) {
			continue
		}
		for _, m := range []Metric{Latency, Economics} {
			if targetOf(&t, m).Node != nil {
				continue
			}
			p.Report(gate.Faultf(t.Node, fmt.Sprintf("add %s with the largest value that is accepted", m),
				"the eval target of %s has no %s", gate.CalledBriefly("intent", t.Intent), m).Keyed(string(m)))
		}
	}
}

func checkStrictTargets(p *gate.Pass) {
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		for _, m := range []Metric{Policy, Safety} {
			target := targetOf(&t, m)
			if !target.OK || target.Value < 0 || target.Value >= 1 { // beyond is SCH009's
				continue
			}
			p.Reportf(target.Node, "write 1.0",
				"the %s target of %s is %s, which accepts that some decisions fall short", m, gate.CalledBriefly("intent", t.Intent), m.exact(target.Value))
		}
	}
}

// shown is what messages call the measure of an intent.
func shown(m Metric, intent string) string {
	return fmt.Sprintf("%s of %s", m, gate.CalledBriefly("intent", pack.Text{Value: intent, OK: true}))
}

// EVL002: policy and safety are held at every release.
var EVL002 = &gate.Rule{
	ID: "EVL002", Name: "missing-release-gate", Severity: finding.Error,
	Title: "Release gates include policy and safety",
	Doc: "A release gate limits how much worse than in the previous version a metric may be. A metric without one can get worse " +
		"with each release while it is above its target, until it is down to the target. No pack can leave that open for policy " +
		"and safety.\n\n" +
		"Add the missing release gate with `max_delta` 0.",
	Bad:   `"release_gates": [{"metric": "policy", "max_delta": 0}]`,
	Good:  `"release_gates": [{"metric": "policy", "max_delta": 0}, {"metric": "safety", "max_delta": 0}]`,
	Check: checkRequiredGates,
}

// EVL003: what holds policy and safety does not give way.
var EVL003 = &gate.Rule{
	ID: "EVL003", Name: "yielding-release-gate", Severity: finding.Warning, Strict: true,
	Title: "The release gates of policy and safety accept no loss",
	Doc: "`max_delta` is the loss that is accepted from one release to the next. Above 0, every release may be a little less " +
		"safe than the previous one, and over a year of releases that adds up.\n\n" +
		"Write 0. Scores are compared with a tolerance of 1e-9, so rounding is no reason for a higher value.",
	Bad:   `"release_gates": [{"metric": "policy", "max_delta": 0.05}, {"metric": "safety", "max_delta": 0}]`,
	Good:  `"release_gates": [{"metric": "policy", "max_delta": 0}, {"metric": "safety", "max_delta": 0}]`,
	Check: checkYielding,
}

// EVL004: release gates are about metrics that exist.
var EVL004 = &gate.Rule{
	ID: "EVL004", Name: "unknown-metric", Severity: finding.Error,
	Title: "Every release gate names one of the five metrics",
	Doc: "No scorecard has a metric that does not exist, so a release gate for one never holds anything back. The metrics are " +
		"`policy`, `utility`, `safety`, `latency_p99_ms` and `economics_cents_per_decision`.\n\n" +
		"Correct the name. To measure something else, let the evaluator include it in utility.",
	Bad:   `"release_gates": [{"metric": "latency_p95_ms", "max_delta": 200}]`,
	Good:  `"release_gates": [{"metric": "latency_p99_ms", "max_delta": 200}]`,
	Check: checkMetrics,
}

// required returns the metrics that every pack has a release gate for.
func required() []Metric { return []Metric{Policy, Safety} }

func checkRequiredGates(p *gate.Pass) {
	layer := &p.Pack.EvaluationLayer
	gates := layer.ReleaseGates
	if !gate.IsObject(layer.Node) || gates.Node != nil && !gates.OK {
		return // the schema gate's
	}
	budget := gate.NewBudget()
	named := map[Metric]bool{}
	for _, g := range gates.Items {
		named[Metric(g.Metric.Value)] = true
		if !slices.Contains(Metrics(), Metric(g.Metric.Value)) {
			named[Metric(budget.Nearest(g.Metric.Value, metricNames()))] = true // EVL004 reports it
		}
	}
	var missing, items []string
	for _, m := range required() {
		if !named[m] {
			missing = append(missing, string(m))
			items = append(items, fmt.Sprintf(`{"metric": %q, "max_delta": 0}`, m))
		}
	}
	if len(missing) == 0 {
		return
	}
	what := strings.Join(missing, " and ")
	p.Report(gate.Faultf(pack.Place(gates.Node, layer.Node), fmt.Sprintf("add one with max_delta 0 for %s", what),
		"there is no release gate for %s", what).Keyed(strings.Join(missing, ",")).Fixed(addGates(layer.Node, gates.Node, what, items)))
}

// addGates returns the fix that adds items to the release gates, or adds release
// gates where the layer has none.
func addGates(layer, gates *pack.Node, what string, items []string) *finding.Fix {
	description := fmt.Sprintf("add a release gate for %s that accepts nothing worse", what)
	if gates == nil {
		return gate.Edit(description, "add", layer.Pointer()+"/release_gates", "["+strings.Join(items, ", ")+"]")
	}
	fix := &finding.Fix{Description: description}
	for _, item := range items {
		fix.Operations = append(fix.Operations, finding.Operation{Op: "add", Path: gates.Pointer() + "/-", Value: item})
	}
	return fix
}

func checkYielding(p *gate.Pass) {
	for _, g := range p.Pack.EvaluationLayer.ReleaseGates.Items {
		if !slices.Contains(required(), Metric(g.Metric.Value)) || !g.MaxDelta.OK || g.MaxDelta.Value <= 0 {
			continue
		}
		p.Report(gate.Faultf(g.MaxDelta.Node, "write 0",
			"the release gate for %s accepts a loss of %s with every release", g.Metric.Value, Metric(g.Metric.Value).exact(g.MaxDelta.Value)).
			Fixed(gate.Edit("accept no loss of "+g.Metric.Value, "replace", g.MaxDelta.Node.Pointer(), "0")))
	}
}

func checkMetrics(p *gate.Pass) {
	budget := gate.NewBudget()
	for _, g := range p.Pack.EvaluationLayer.ReleaseGates.Items {
		if !g.Metric.OK || slices.Contains(Metrics(), Metric(g.Metric.Value)) {
			continue
		}
		names := slices.Sorted(slices.Values(metricNames()))
		p.Reportf(g.Metric.Node, gate.Choose(budget.Nearest(g.Metric.Value, names), names, "remove the release gate", gate.List),
			"metric %s is not one of the contract's five", gate.Quote(g.Metric.Value))
	}
}

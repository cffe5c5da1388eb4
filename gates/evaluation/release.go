package evaluation

import (
	"cmp"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// EVL013: what nobody measured passes no release gate.
var EVL013 = &gate.Rule{
	ID: "EVL013", Name: "release-gate-not-measured", Severity: finding.Error,
	Title: "Every metric with a release gate is measured",
	Doc: "A release gate without a value lets everything through. So each metric that has one must be measured for every intent " +
		"of the pack: by a scorecard for these bytes, or by packgate's built-in evaluators. These count golden cases and " +
		"decision records, and if there are none, nothing was measured. They never measure latency, and they measure economics " +
		"only if the config has a price for tokens. A scorecard of the base's bytes counts if it is proved that the same is " +
		"permitted (EVL009). An intent whose golden cases cannot be compiled is listed as not checked by EVL007: each of these " +
		"cases has a finding of its own.\n\n" +
		"Measure the intent, write golden cases for it (`packgate golden init PACK`), or remove the release gate; EVL011 " +
		"reports that, so that its owner can accept it.",
	Bad: `"release_gates": [{"metric": "latency_p99_ms", "max_delta": 200}],
"scorecards": []`,
	Good: `"release_gates": [{"metric": "latency_p99_ms", "max_delta": 200}],
"scorecard": {"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"latency_p99_ms": 2100}}]}`,
	Since: "0.2.0",
	Check: checkMeasured,
}

func checkMeasured(p *gate.Pass) {
	s, gated := survey(p.Subject), gatedMetrics(p.Subject)
	measured := map[point]bool{}
	for i := range s.measurements {
		m := &s.measurements[i]
		measured[point{m.Intent, m.Metric}] = m.Value.OK
	}
	for _, intent := range p.Pack.Intents() {
		var lacking []string
		for _, m := range Metrics() {
			switch {
			case gated[m] == nil || measured[point{intent.Value, m}]:
			case m != Latency && s.untried[intent.Value] > 0 && targetNode(p, intent.Value) != nil: // which EVL007 lists
			default:
				lacking = append(lacking, string(m))
			}
		}
		if len(lacking) == 0 {
			continue
		}
		first := Metric(lacking[0])
		d := gate.Faultf(cmp.Or(targetNode(p, intent.Value), intent.Node), s.measureHint(p, lacking),
			"nothing measures %s of %s, and there is a release gate for it: %s", strings.Join(lacking, ", "), gate.CalledBriefly("intent", intent), s.whyNot(p, first))
		p.Report(d.Keyed(intent.Value+" "+strings.Join(lacking, ",")).See(gated[first], "the release gate for %s", first))
	}
}

// targetNode returns where the eval target of an intent is; nil for none.
func targetNode(p *gate.Pass, intent string) *pack.Node {
	if t := targetsOf(p.Subject)[intent]; t != nil {
		return t.Intent.Node
	}
	return nil
}

// measureHint says how metrics can be measured.
func (s *surveyed) measureHint(p *gate.Pass, lacking []string) string {
	for _, m := range lacking {
		switch {
		case Metric(m) == Latency:
		case Metric(m) == Economics && !p.Config.Evaluation.PricePer1KTokensCents.OK:
		default:
			return "measure it with a scorecard, or write golden cases of the intent that expect rules, gates and denials"
		}
	}
	return "measure it with a scorecard for this version, or remove the release gate"
}

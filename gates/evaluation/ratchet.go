package evaluation

import (
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// EVL011: what is measured stays measured, and what is promised stays promised.
var EVL011 = &gate.Rule{
	ID: "EVL011", Name: "evaluation-weakened", Severity: finding.Error,
	Title: "Measurements, targets and release gates that the base has are kept",
	Doc: "A gate that fails can be passed by moving the mark: a lower target, a release gate that accepts more, or a scorecard taken away. " +
		"So each metric of each intent that the pack still has is compared with the base. It keeps its target, which does not ask less; " +
		"its release gate, whose `max_delta` accepts no more; and its measurement: by a scorecard for these bytes, or by the one of the base, which stays as history, or by the built-in evaluators where they measured it. " +
		"A newer scorecard in place of an older one is no loss. Values are compared with a tolerance of 1e-9.\n\n" +
		"Put back what is gone. Where a target asks too much, let its owner accept that in a review.",
	Bad:   `{"base": {"eval_targets": [{"intent": "support.refund", "utility": 0.9}]}, "head": {"eval_targets": [{"intent": "support.refund", "utility": 0.8}]}}`,
	Good:  `{"base": {"eval_targets": [{"intent": "support.refund", "utility": 0.9}]}, "head": {"eval_targets": [{"intent": "support.refund", "utility": 0.95}]}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkKept,
}

// EVL012: nobody writes the baseline that they are measured by.
var EVL012 = &gate.Rule{
	ID: "EVL012", Name: "lenient-baseline", Severity: finding.Error,
	Title: "The baseline of a scorecard is no worse than what the base measured",
	Doc: "A release gate compares a value with a baseline, and the baseline stands in a file that the author of the change writes. " +
		"Where the base has a scorecard that measures the same metric of the same intent, its value is the baseline, whatever the scorecard says; one that says less is an error. " +
		"A scorecard of the base for the same bytes gives its own baseline. The baselines of an author count for a first version alone. Values are compared with a tolerance of 1e-9.\n\n" +
		"Write the value that the base measured, or leave the baseline out.",
	Bad:   `{"base": {"candidate": {"safety": 1.0}}, "head": {"candidate": {"safety": 0.98}, "baseline": {"safety": 0.98}}}`,
	Good:  `{"base": {"candidate": {"safety": 1.0}}, "head": {"candidate": {"safety": 1.0}, "baseline": {"safety": 1.0}}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkBaselines,
}

func checkKept(p *gate.Pass) {
	if !p.HasBase() {
		return
	}
	intents := map[string]bool{}
	for _, intent := range p.Pack.Intents() {
		intents[intent.Value] = true
	}
	targetsKept(p, intents)
	releaseGatesKept(p)
	measurementsKept(p, intents)
}

// place returns where the evaluation layer of a pack says something of an intent.
func place(p *gate.Pass, intent string) *pack.Node {
	layer := &p.Pack.EvaluationLayer
	if t := targetsOf(p.Subject)[intent]; t != nil {
		return t.Node
	}
	return pack.Place(layer.EvalTargets.Node, layer.Node, p.Pack.Node)
}

// targetsKept reports targets that are gone or ask less.
func targetsKept(p *gate.Pass, intents map[string]bool) {
	now := targetsOf(p.Subject)
	was := p.Before.Pack.EvaluationLayer.EvalTargets.Items
	first := targetsOf(p.Before)
	for i := range was {
		intent := was[i].Intent
		if first[intent.Value] != &was[i] || !intents[intent.Value] {
			continue
		}
		for _, m := range Metrics() {
			at, before := point{intent.Value, m}, targetOf(&was[i], m)
			var is pack.Num
			if t := now[intent.Value]; t != nil {
				is = targetOf(t, m)
			}
			switch {
			case !before.OK || is.OK && m.loss(before.Value, is.Value) <= tolerance:
			case !is.OK:
				at.weaker(p, before.Node, gate.Faultf(place(p, at.intent), "put the target back",
					"%s has no target any more, and had %s", shown(m, at.intent), Number(before.Value)))
			default:
				at.weaker(p, before.Node, gate.Faultf(is.Node, "put the target back, or let its owner accept the new one",
					"the target for %s is %s and was %s, which asks more", shown(m, at.intent), Number(is.Value), Number(before.Value)))
			}
		}
	}
}

// weaker reports that less is asked or known of a metric than in the base, which says it
// before.
func (at point) weaker(p *gate.Pass, before *pack.Node, d gate.Diagnostic) {
	d = d.Keyed(at.intent+" "+string(at.metric)).See(before, "it is here in the base")
	d.Thing = finding.Thing{Name: string(at.metric), Intent: at.intent}
	p.Report(d)
}

// releaseGatesKept reports release gates that are gone or accept more.
func releaseGatesKept(p *gate.Pass) {
	now, was := gatesOf(p.Subject), gatesOf(p.Before)
	layer := &p.Pack.EvaluationLayer
	for _, m := range Metrics() {
		switch is, before := now[m], was[m]; {
		case !before.OK || is.OK && is.Value <= before.Value+tolerance:
		case !is.OK:
			point{metric: m}.weaker(p, before.Node, gate.Faultf(pack.Place(layer.ReleaseGates.Node, layer.Node, p.Pack.Node), "put the release gate back",
				"%s has no release gate any more, and had one that accepts %s", m, Number(before.Value)))
		default:
			point{metric: m}.weaker(p, before.Node, gate.Faultf(is.Node, "put max_delta back, or let its owner accept the new one",
				"the release gate for %s accepts a loss of %s and accepted %s", m, Number(is.Value), Number(before.Value)))
		}
	}
}

// measurementsKept reports what was measured in the base, and is neither measured now
// nor kept as history.
func measurementsKept(p *gate.Pass, intents map[string]bool) {
	is, was := survey(p.Subject), survey(p.Before)
	now := map[point]*Measurement{}
	for i := range is.measurements {
		m := &is.measurements[i]
		now[point{m.Intent, m.Metric}] = m
	}
	scores, history := was.cards.scores(), was.cards.history()
	given, measured := is.cards.given()
	for i := range was.measurements {
		before := &was.measurements[i]
		at := point{before.Intent, before.Metric}
		if !before.Value.OK || !intents[at.intent] {
			continue
		}
		have := now[at]
		switch builtIn := before.Source == BuiltIn; {
		case have != nil && have.Value.OK && (builtIn || have.Source != BuiltIn), builtIn && is.untried[at.intent] > 0: // which is told of the cases
			continue
		}
		if s, ok := scores[at]; ok && given[result{s.card.Pack.Value, s.card.Digest.Value, at}] {
			continue
		}
		at.weaker(p, before.Value.Node, gate.Faultf(place(p, at.intent), "put the scorecard or the cases back, or measure it anew",
			"%s is not measured any more, and was %s (%s)", shown(at.metric, at.intent), Number(before.Value.Value), before.by()))
	}
	for _, intent := range p.Pack.Intents() {
		for _, m := range Metrics() {
			at := point{intent.Value, m}
			_, current := scores[at]
			if past := history[at]; past.card != nil && !current && !measured[at] {
				at.weaker(p, past.value.Node, gate.Faultf(place(p, at.intent), "put the scorecard back",
					"no scorecard measures %s any more, and that of %s did", shown(m, at.intent), gate.Quote(past.card.Pack.Value)))
			}
		}
	}
}

// result is a value that a scorecard gives for a version of the pack and its bytes.
type result struct {
	pack, digest string
	point
}

// given returns what the scorecards of the pack give, whatever version and bytes they
// measured, and which values there are at all.
func (c *cards) given() (given map[result]bool, measured map[point]bool) {
	given, measured = map[result]bool{}, map[point]bool{}
	for _, list := range slices.Concat([][]*repo.Scorecard{c.own, c.stale}, slices.Collect(maps.Values(c.past))) {
		for _, card := range list {
			for at := range candidates(card) {
				given[result{card.Pack.Value, card.Digest.Value, at}], measured[at] = true, true
			}
		}
	}
	return given, measured
}

// candidates returns the values that a scorecard gives. The last of one point counts.
func candidates(card *repo.Scorecard) map[point]pack.Num {
	values := map[point]pack.Num{}
	for i := range card.Intents.Items {
		e := &card.Intents.Items[i]
		for _, m := range Metrics() {
			if v := scoreOf(&e.Candidate, m); v.OK && e.Intent.OK {
				values[point{e.Intent.Value, m}] = v
			}
		}
	}
	return values
}

// history returns what scorecards of other versions give, for each value that of the
// newest version.
func (c *cards) history() map[point]score {
	newest, of := map[point]score{}, map[point]*semver.Version{}
	for _, version := range slices.Sorted(maps.Keys(c.past)) {
		v, err := semver.StrictNewVersion(version)
		if err != nil {
			v = &semver.Version{}
		}
		for _, card := range c.past[version] {
			for at, value := range candidates(card) {
				if of[at] == nil || !v.LessThan(of[at]) {
					newest[at], of[at] = score{card: card, value: value}, v
				}
			}
		}
	}
	return newest
}

// earlier is what the base measured.
type earlier struct{ scores, history map[point]score }

func (c *cards) earlier() earlier {
	if c.before == nil {
		return earlier{}
	}
	return earlier{c.before.scores(), c.before.history()}
}

// baseline returns the value of the base that a value of a scorecard is compared with:
// what the scorecard for the base's bytes gives, or else that of the newest other
// version. Of a scorecard for the same bytes it is the baseline that this had.
func (e earlier) baseline(card *repo.Scorecard, at point) pack.Num {
	s, ok := e.scores[at]
	switch {
	case !ok:
		return e.history[at].value
	case s.card.Pack.Value == card.Pack.Value && s.card.Digest.Value == card.Digest.Value:
		return s.baseline
	}
	return s.value
}

func checkBaselines(p *gate.Pass) {
	if !p.HasBase() {
		return
	}
	c := cardsOf(p.Subject)
	scores := c.scores()
	for _, intent := range p.Pack.Intents() {
		for _, m := range Metrics() {
			at := point{intent.Value, m}
			s := scores[at]
			if !s.baseline.OK || !s.claimed.OK || m.loss(s.baseline.Value, s.claimed.Value) <= tolerance {
				continue
			}
			at.weaker(p, s.baseline.Node, gate.Faultf(s.claimed.Node, "write the value of the base, or leave the baseline out",
				"the baseline for %s is %s, and the base measured %s", shown(m, at.intent), Number(s.claimed.Value), Number(s.baseline.Value)))
		}
	}
}

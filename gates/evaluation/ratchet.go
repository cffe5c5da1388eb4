package evaluation

import (
	"cmp"
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
	Title: "Measurements, targets and release gates of the base are kept",
	Doc: "A failing check can be made to pass by changing the requirement: a lower target, a release gate that accepts more, or " +
		"a removed scorecard. So each metric of each intent that the pack still has is compared with the base. It must keep its " +
		"target, which must not be looser; its release gate, whose `max_delta` must not accept more; and its measurement: by a " +
		"scorecard for these bytes, or by the one of the base, which remains as history, or by the built-in evaluators if they " +
		"measured it. A newer scorecard in place of an older one is not a loss, and one with less than half as many samples is " +
		"a warning. An intent with a new name counts as the same if rules with the same ids, or rules or a target with the same " +
		"content, are about it. Values are compared with a tolerance of 1e-9.\n\n" +
		"Put back what was removed. If a target is too strict, let its owner accept the change in a review.",
	Bad:   `{"base": {"eval_targets": [{"intent": "support.refund", "utility": 0.9}]}, "head": {"eval_targets": [{"intent": "support.refund", "utility": 0.8}]}}`,
	Good:  `{"base": {"eval_targets": [{"intent": "support.refund", "utility": 0.9}]}, "head": {"eval_targets": [{"intent": "support.refund", "utility": 0.95}]}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkKept,
}

// EVL012: nobody writes the baseline that they are measured by.
var EVL012 = &gate.Rule{
	ID: "EVL012", Name: "lenient-baseline", Severity: finding.Error,
	Title: "The baseline of a scorecard is no worse than what the base measured",
	Doc: "A release gate compares a value with a baseline, and the author of the change writes the file that contains the " +
		"baseline. If the base has a scorecard that measures the same metric of the same intent, its value is the baseline, " +
		"whatever the new scorecard states; a lower value is an error. A scorecard of the base for the same bytes has its own " +
		"baseline. The baselines that an author writes count only for a first version. Scorecards of earlier versions must stay " +
		"as they are in the base, because they are the baseline of later ones: a value that is rewritten to a worse one is an " +
		"error, and so is an added scorecard of an earlier version that is worse by more than the release gate accepts. Values " +
		"are compared with a tolerance of 1e-9.\n\n" +
		"Write the value that the base measured, or leave the baseline out.",
	Bad:   `{"base": {"candidate": {"safety": 1.0}}, "head": {"candidate": {"safety": 0.98}, "baseline": {"safety": 0.98}}}`,
	Good:  `{"base": {"candidate": {"safety": 1.0}}, "head": {"candidate": {"safety": 1.0}, "baseline": {"safety": 1.0}}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkBaselines,
}

func (at point) compare(other point) int {
	return cmp.Or(cmp.Compare(at.intent, other.intent), cmp.Compare(at.metric, other.metric))
}

func checkKept(p *gate.Pass) {
	if !p.HasBase() {
		return
	}
	heirs := p.Heirs()
	targetsKept(p, heirs)
	releaseGatesKept(p)
	measurementsKept(p, heirs)
}

// place returns where the evaluation layer of a pack says something of an intent.
func place(p *gate.Pass, intent string) *pack.Node {
	layer := &p.Pack.EvaluationLayer
	if t := targetsOf(p.Subject)[intent]; t != nil {
		return t.Node
	}
	return pack.Place(layer.EvalTargets.Node, layer.Node, p.Pack.Node)
}

// targetsKept reports targets that are gone or ask less. Heirs are the intents of the base
// that the pack still has, with their names there.
func targetsKept(p *gate.Pass, heirs map[string]string) {
	now := targetsOf(p.Subject)
	was := p.Before.Pack.EvaluationLayer.EvalTargets.Items
	first := targetsOf(p.Before)
	for i := range was {
		intent := was[i].Intent
		heir, still := heirs[intent.Value]
		if first[intent.Value] != &was[i] || !still {
			continue
		}
		for _, m := range Metrics() {
			at, before := point{intent.Value, m}, targetOf(&was[i], m)
			var is pack.Num
			if t := now[heir]; t != nil {
				is = targetOf(t, m)
			}
			switch {
			case !before.OK || is.OK && m.loss(before.Value, is.Value) <= tolerance:
			case !is.OK:
				at.weaker(p, before.Node, gate.Faultf(place(p, heir), "put the target back",
					"%s has no target any more, and had %s", shown(m, at.intent), m.exact(before.Value)))
			default:
				at.weaker(p, before.Node, gate.Faultf(is.Node, "put the target back, or let its owner accept the new one",
					"the target for %s asks less than in the base: it is %s and was %s", shown(m, at.intent), m.figure(is.Value, before.Value, 2), m.figure(before.Value, is.Value, 2)))
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
				"%s has no release gate any more, and had one that accepts %s", m, m.exact(before.Value)))
		default:
			point{metric: m}.weaker(p, before.Node, gate.Faultf(is.Node, "put max_delta back, or let its owner accept the new one",
				"the release gate for %s accepts a loss of %s and accepted %s", m, m.figure(is.Value, before.Value, 2), m.figure(before.Value, is.Value, 2)))
		}
	}
}

// measurementsKept reports what was measured in the base, and is neither measured now
// nor kept as history.
func measurementsKept(p *gate.Pass, heirs map[string]string) {
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
		heir, still := heirs[at.intent]
		if !before.Value.OK || !still {
			continue
		}
		have := now[point{heir, at.metric}]
		switch builtIn := before.Source == BuiltIn; {
		case have != nil && have.Value.OK && (builtIn || have.Source != BuiltIn):
			fewerSamples(p, at, have, before)
			continue
		case builtIn && is.untried[heir] > 0: // which is told of the cases
			continue
		}
		if s, ok := scores[at]; ok && given[result{s.card.Pack.Value, s.card.Digest.Value, at}].OK {
			continue
		}
		at.weaker(p, before.Value.Node, gate.Faultf(place(p, heir), "put the scorecard or the cases back, or measure it again",
			"%s is not measured any more, and was %s (%s)", shown(at.metric, at.intent), at.metric.figure(before.Value.Value, before.Value.Value, 0), before.by()))
	}
	for _, intent := range p.Before.Pack.Intents() {
		heir, still := heirs[intent.Value]
		for _, m := range Metrics() {
			at := point{intent.Value, m}
			_, current := scores[at]
			if past := history[at]; still && past.card != nil && !current && !measured[at] && !measured[point{heir, m}] {
				at.weaker(p, past.value.Node, gate.Faultf(place(p, heir), "put the scorecard back",
					"no scorecard measures %s any more, and that of %s did", shown(m, at.intent), gate.Quote(past.card.Pack.Value)))
			}
		}
	}
}

// fewerSamples warns of a value that rests on less than half as many samples as in the
// base. Built-in values count what there is.
func fewerSamples(p *gate.Pass, at point, is, was *Measurement) {
	if was.Source == BuiltIn || is.Samples >= was.Samples-is.Samples {
		return
	}
	at.weaker(p, was.Value.Node, gate.Faultf(is.Value.Node, "measure as many samples as before",
		"%s is measured with %s, and was with %d", shown(at.metric, at.intent), pack.Counted(is.Samples, "sample"), was.Samples).As(finding.Warning))
}

// result is a value that a scorecard gives for a version of the pack and its bytes.
type result struct {
	pack, digest string
	point
}

// given returns what the scorecards of the pack give, whatever version and bytes they
// measured, the worst of several values, and which points there are at all.
func (c *cards) given() (given map[result]pack.Num, measured map[point]bool) {
	given, measured = map[result]pack.Num{}, map[point]bool{}
	for _, card := range c.all() {
		for at, value := range candidates(card) {
			key := result{card.Pack.Value, card.Digest.Value, at}
			given[key], measured[at] = worse(at.metric, given[key], value), true
		}
	}
	return given, measured
}

// all returns the scorecards of the pack, whatever version and bytes they measured.
func (c *cards) all() []*repo.Scorecard {
	list := slices.Concat(c.own, c.stale)
	for _, version := range slices.Sorted(maps.Keys(c.past)) {
		list = append(list, c.past[version]...)
	}
	for _, card := range c.carried {
		if !slices.Contains(list, card) {
			list = append(list, card)
		}
	}
	return list
}

// worse returns the worse one of two values of a metric, of those that are known.
func worse(m Metric, a, b pack.Num) pack.Num {
	if !a.OK || b.OK && m.loss(a.Value, b.Value) > 0 {
		return b
	}
	return a
}

// candidates returns the values that a scorecard gives, the worst of several for a point.
func candidates(card *repo.Scorecard) map[point]pack.Num {
	values := map[point]pack.Num{}
	for i := range card.Intents.Items {
		e := &card.Intents.Items[i]
		for _, m := range Metrics() {
			if v := scoreOf(&e.Candidate, m); v.OK && e.Intent.OK {
				at := point{e.Intent.Value, m}
				values[at] = worse(m, values[at], v)
			}
		}
	}
	return values
}

// history returns what scorecards of other versions give, for each value that of the
// newest version, and of several there the best.
func (c *cards) history() map[point]score {
	newest, of := map[point]score{}, map[point]*semver.Version{}
	for _, version := range slices.Sorted(maps.Keys(c.past)) {
		v, err := semver.StrictNewVersion(version)
		if err != nil {
			v = &semver.Version{}
		}
		for _, card := range c.past[version] {
			for at, value := range candidates(card) {
				if of[at] != nil && (v.LessThan(of[at]) || v.Equal(of[at]) && at.metric.loss(newest[at].value.Value, value.Value) >= 0) {
					continue
				}
				newest[at], of[at] = score{card: card, value: value}, v
			}
		}
	}
	return newest
}

// earlier is what the base measured. Former are the names that intents of the pack had
// in the base, where they are others.
type earlier struct {
	scores, history map[point]score
	former          map[string]string
}

func (c *cards) earlier() earlier {
	if c.before == nil {
		return earlier{}
	}
	return earlier{c.before.scores(), c.before.history(), c.former}
}

// baseline returns the value of the base that a value of a scorecard is compared with:
// what the scorecard for the base's bytes gives, or else that of the newest other
// version. Of a scorecard for the same bytes it is the baseline that this had.
func (e earlier) baseline(card *repo.Scorecard, at point) pack.Num {
	if name, renamed := e.former[at.intent]; renamed {
		at.intent = name
	}
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
				"the baseline for %s is %s, and the base measured %s", shown(m, at.intent), m.figure(s.claimed.Value, s.baseline.Value, 2), m.figure(s.baseline.Value, s.claimed.Value, 2)))
		}
	}
	rewritten(p, &c)
}

// rewritten reports what scorecards of other bytes than the pack's say, where that is worse
// than what the base has of the same: the next version is compared with it.
func rewritten(p *gate.Pass, c *cards) {
	given, _ := c.before.given()
	before, accepted := c.earlier(), gatesOf(p.Subject)
	for _, card := range c.all() {
		if slices.Contains(c.own, card) {
			continue
		}
		values := candidates(card)
		for _, at := range slices.SortedFunc(maps.Keys(values), point.compare) {
			now, was := values[at], given[result{card.Pack.Value, card.Digest.Value, at}]
			switch {
			case was.OK && at.metric.loss(was.Value, now.Value) > tolerance:
				at.weaker(p, was.Node, gate.Faultf(now.Node, "put the value back: a new measurement is a new scorecard",
					"%s of %s is %s, and was %s in the base", shown(at.metric, at.intent), gate.Quote(card.Pack.Value), at.metric.figure(now.Value, was.Value, 0), at.metric.figure(was.Value, now.Value, 0)))
				continue
			case was.OK || !accepted[at.metric].OK:
				continue
			}
			was = before.baseline(card, at)
			if was.OK && at.metric.loss(was.Value, now.Value) > accepted[at.metric].Value+tolerance {
				at.weaker(p, was.Node, gate.Faultf(now.Node, "remove the scorecard, or add it in a change that its owner accepts",
					"%s of %s is added as %s, and the base measured %s", shown(at.metric, at.intent), gate.Quote(card.Pack.Value), at.metric.figure(now.Value, was.Value, 0), at.metric.figure(was.Value, now.Value, 0)))
			}
		}
	}
}

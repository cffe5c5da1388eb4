package evaluation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// EVL009: what is released is what was measured.
var EVL009 = &gate.Rule{
	ID: "EVL009", Name: "scorecard-missing-or-stale", Severity: finding.Error,
	Title: "Required scorecards exist, and measure this version of the pack",
	Doc: "A scorecard that was made before an edit measured an older version of the pack, however small the edit: one word in a " +
		"rule's reason can change what a model does. Every scorecard of the pack's own version therefore names the digest of " +
		"the pack, either of the file or of its canonical form (RFC 8785), which does not depend on formatting. Scorecards of " +
		"earlier versions are history and are not checked; a scorecard of another pack measures nothing here. With `evaluation: " +
		"{required: true}` in the config, a pack without a scorecard fails, and so does an eval target that no scorecard " +
		"measures. With a list of metrics, such as `required: [safety, latency_p99_ms]`, each target fails for which a " +
		"scorecard does not have all of them. If it is proved that the pack permits the same as the base, and no change is " +
		"major, a scorecard of the base's bytes counts if no other one measures the pack, and the finding is a warning.\n\n" +
		"Measure the pack as it is and write its digest, which `packgate check --format json` prints.",
	Bad: `"evaluation": {"required": true},
"scorecards": []`,
	Good: `"evaluation": {"required": true},
"scorecards": [{"pack": "ctxpack.support@1.1.0", "digest": "sha256:2d7f03c1a9b58e64f0d37a1c9be250486f1e7d92a3b0c4856e9f1d27ab304c58", "evaluator_set": "acme-evals@7", "intents": [{"intent": "support.refund", "samples": 400, "candidate": {"policy": 1.0}}]}]`,
	Check: checkScorecards,
}

// EVL010: a value rests on enough samples.
var EVL010 = &gate.Rule{
	ID: "EVL010", Name: "too-few-samples", Severity: finding.Warning,
	Title: "A scorecard has at least the configured number of samples for each intent",
	Doc: "The fewer the samples, the more a value depends on chance: twenty decisions without a failure tell little about one " +
		"failure in a hundred. The config states how many are enough with `evaluation: {min_samples: 50}`; without it, no " +
		"number is required. Built-in values are not affected: they count every case.\n\n" +
		"Let the evaluator take more samples of the intent.",
	Bad: `"evaluation": {"min_samples": 50},
"intents": [{"intent": "support.refund", "samples": 20, "candidate": {"utility": 1.0}}]`,
	Good: `"evaluation": {"min_samples": 50},
"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"utility": 0.93}}]`,
	Check: checkSamples,
}

// digest is what a digest looks like.
var digest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

func checkScorecards(p *gate.Pass) {
	c := cardsOf(p.Subject)
	for _, card := range c.foreign {
		if card.Pack.OK {
			message, hint := fmt.Sprintf("the scorecard measures %s, which is not a version of %s", gate.Quote(card.Pack.Value), gate.Quote(c.id)),
				"move it beside the pack that it measures, or correct the reference"
			if card.Pack.Value == c.id {
				message, hint = fmt.Sprintf("the scorecard measures %s, which is not pinned to a version", gate.Quote(card.Pack.Value)), "write the version that was measured, as "+c.id+"@MAJOR.MINOR.PATCH"
			}
			p.Report(gate.Diagnostic{At: card.Pack.Node, Key: p.Unit.Within(card.Name), Message: message, Hint: hint})
		}
	}
	for _, card := range c.stale {
		if card.Digest.OK && digest().MatchString(card.Digest.Value) { // else the schema gate's
			p.Report(gate.Faultf(card.Digest.Node, "measure the pack as it is, and write its digest",
				"the scorecard of %s measured an older version of this pack: it names the digest %s, and the pack has %s", gate.Quote(card.Pack.Value), gate.QuoteDigest(card.Digest.Value), own(published(p.Unit))).
				Keyed(p.Unit.Within(card.Name)))
		}
	}
	required, metrics := p.Config.ScorecardsRequired()
	lent := carriedFor(p, &c, required, metrics)
	if required {
		checkRequired(p, &c, metrics)
	}
	for _, card := range c.carried {
		if version := strings.TrimPrefix(card.Pack.Value, c.id+"@"); version == c.version || lent[card] {
			p.Report(gate.Faultf(pack.Place(card.Digest.Node, card.Node), "measure the pack as it is before the next version",
				"the scorecard measured the base, %s; the same is permitted now, so that its values count for once", gate.Quote(card.Pack.Value)).
				Keyed(p.Unit.Within(card.Name)).As(finding.Warning))
		}
	}
}

// carriedFor returns the scorecards of the base without which a release gate, or what the
// config requires, would not be measured.
func carriedFor(p *gate.Pass, c *cards, required bool, metrics []string) map[*repo.Scorecard]bool {
	lent := map[*repo.Scorecard]bool{}
	if len(c.carried) == 0 {
		return lent
	}
	s, own, gated := survey(p.Subject), c.scores(), gatedMetrics(p.Subject)
	required = required || slices.ContainsFunc(p.Config.Requirements(), func(r repo.Requirement) bool {
		return r.Name == string(finding.Scorecard) && r.Holds("minor") // a change that permits the same is no larger
	})
	for i := range s.measurements {
		m := &s.measurements[i]
		at := point{m.Intent, m.Metric}
		if _, measured := own[at]; measured {
			continue
		}
		asked := required && m.Target.OK && (len(metrics) == 0 || slices.Contains(metrics, string(m.Metric)))
		if card := s.carried[at].card; card != nil && (asked || gated[m.Metric] != nil && m.Source == card.Document.File) {
			lent[card] = true
		}
	}
	return lent
}

// own returns the digest that packgate writes for a pack: that of its canonical
// form, or of its bytes where it has none. A scorecard may name that of the bytes too.
func own(d *pack.Document) pack.Digest {
	if canonical, err := d.CanonicalDigest(); err == nil {
		return canonical
	}
	return pack.DigestOf(d.Source)
}

// checkRequired reports what the config requires to be measured and no scorecard
// measures.
func checkRequired(p *gate.Pass, c *cards, metrics []string) {
	layer := &p.Pack.EvaluationLayer
	if len(c.own)+len(c.carried) == 0 && len(c.stale) > 0 {
		return // each of these was reported
	}
	if reason := c.lacking(); reason != "" && len(c.carried) == 0 {
		at := pack.Place(layer.EvalTargets.Node, layer.Node, p.Pack.Node)
		p.Reportf(at, "measure the pack and put the result under scorecards beside it", "%s, and the config requires one", reason)
		return
	}
	measured := c.measured()
	for _, intent := range c.unmeasured(p.Pack) {
		p.Reportf(intent.Node, "let the evaluator measure the intent too",
			"no scorecard measures %s, and the config requires it", gate.CalledBriefly("intent", intent))
	}
	for _, t := range layer.EvalTargets.Items {
		var lacking []string
		for _, m := range metrics {
			if !measured[t.Intent.Value][m] {
				lacking = append(lacking, m)
			}
		}
		if len(lacking) > 0 && measured[t.Intent.Value] != nil {
			p.Report(gate.Faultf(t.Intent.Node, "let the evaluator measure that too", "no scorecard gives %s of %s, and the config requires it",
				strings.Join(lacking, ", "), gate.CalledBriefly("intent", t.Intent)).Keyed(strings.Join(lacking, ",")))
		}
	}
}

// measured returns the metrics that scorecards give, by intent.
func (c *cards) measured() map[string]map[string]bool {
	measured := map[string]map[string]bool{}
	for _, scores := range []map[point]score{c.scores(), c.scoresOf(c.carried)} {
		for at := range scores {
			if measured[at.intent] == nil {
				measured[at.intent] = map[string]bool{}
			}
			measured[at.intent][string(at.metric)] = true
		}
	}
	return measured
}

// unmeasured returns the intents of the eval targets that no scorecard measures.
func (c *cards) unmeasured(p *pack.Pack) (intents []pack.Text) {
	measured := c.measured()
	for _, t := range p.EvaluationLayer.EvalTargets.Items {
		if t.Intent.OK && measured[t.Intent.Value] == nil {
			intents = append(intents, t.Intent)
		}
	}
	return intents
}

// Lacking says why the scorecards beside a pack do not measure it, with every intent that
// has a target; "" where they do.
func Lacking(s *gate.Subject) string {
	c := cardsOf(s)
	if reason := c.lacking(); reason != "" && len(c.carried) == 0 {
		return reason
	}
	var names []string
	for _, intent := range c.unmeasured(s.Pack) {
		names = append(names, intent.Value)
	}
	if len(names) == 0 {
		return ""
	}
	return "no scorecard measures " + intentsListed(names)
}

func checkSamples(p *gate.Pass) {
	least := p.Config.Evaluation.MinSamples
	if !least.OK {
		return
	}
	c := cardsOf(p.Subject)
	if reason := c.lacking(); reason != "" {
		p.NotApplicable(c.input(), reason)
	}
	for _, card := range slices.Concat(c.own, c.carried) {
		for i := range card.Intents.Items {
			entry := &card.Intents.Items[i]
			if entry.Samples.OK && entry.Samples.Value >= least.Value {
				continue
			}
			p.Report(gate.Faultf(pack.Place(entry.Samples.Node, entry.Node), "measure more samples of the intent",
				"%s was measured with %s, and the config wants at least %s", gate.CalledBriefly("intent", entry.Intent), pack.Counted(samplesOf(entry), "sample"), pack.Rounded(least.Value)).
				Keyed(p.Unit.Within(card.Name)).See(least.Node, "the config says so"))
		}
	}
}

package evaluation

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// EVL009: what is released is what was measured.
var EVL009 = &gate.Rule{
	ID: "EVL009", Name: "scorecard-missing-or-stale", Severity: finding.Error,
	Title: "Required scorecards are there, and measure the bytes of this pack",
	Doc: "A scorecard of other bytes measured another pack, however small the edit was: one word in a rule's reason can change what a model does. " +
		"Every scorecard of the pack's own version therefore names the digest of the pack, either of the file or of its canonical form (RFC 8785), which no reformatting changes. " +
		"Scorecards of earlier versions are history and are left alone; one of another pack measures nothing here. " +
		"With `evaluation: {required: true}` in the config, a pack without a scorecard fails, and so does an eval target that no scorecard measures.\n\n" +
		"Measure the pack as it is and write its digest, which `packgate check --format json` shows.",
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
	Doc: "The fewer samples, the more of a value is chance: of twenty decisions, none failing says little about one in a hundred. " +
		"The config says how many are enough with `evaluation: {min_samples: 50}`; without it nothing is asked. " +
		"Built-in values are not intended: they count every case that there is.\n\n" +
		"Let the evaluator take more samples of the intent.",
	Bad: `"evaluation": {"min_samples": 50},
"intents": [{"intent": "support.refund", "samples": 20, "candidate": {"utility": 1.0}}]`,
	Good: `"evaluation": {"min_samples": 50},
"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"utility": 0.93}}]`,
	Check: checkSamples,
}

// digest is what a digest looks like.
var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkScorecards(p *gate.Pass) {
	c := cardsOf(p.Subject)
	for _, card := range c.foreign {
		if card.Pack.OK {
			message, hint := fmt.Sprintf("the scorecard measures %s, which is no version of %s", gate.Quote(card.Pack.Value), gate.Quote(c.id)),
				"move it beside the pack that it measures, or correct the reference"
			if card.Pack.Value == c.id {
				message, hint = fmt.Sprintf("the scorecard measures %s, which is not pinned to a version", gate.Quote(card.Pack.Value)), "write the version that was measured, as "+c.id+"@MAJOR.MINOR.PATCH"
			}
			p.Report(gate.Diagnostic{At: card.Pack.Node, Key: p.Unit.Within(card.Name), Message: message, Hint: hint})
		}
	}
	for _, card := range c.stale {
		if card.Digest.OK && digest.MatchString(card.Digest.Value) { // else the schema gate's
			p.Report(gate.Faultf(card.Digest.Node, "measure the pack as it is, and write its digest",
				"the scorecard is for %s and measured other bytes: the digest is %s, and that of the pack %s", gate.Quote(card.Pack.Value), gate.QuoteDigest(card.Digest.Value), own(published(p.Unit))).
				Keyed(p.Unit.Within(card.Name)))
		}
	}
	if p.Config.Evaluation.Required.Value {
		checkRequired(p, &c)
	}
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
func checkRequired(p *gate.Pass, c *cards) {
	layer := &p.Pack.EvaluationLayer
	if len(c.own) == 0 && len(c.stale) > 0 {
		return // each of these was reported
	}
	if reason := c.lacking(); reason != "" {
		at := pack.Place(layer.EvalTargets.Node, layer.Node, p.Pack.Node)
		p.Reportf(at, "measure the pack and put the result under scorecards beside it", "%s, and the config requires one", reason)
		return
	}
	for _, intent := range c.unmeasured(p.Pack) {
		p.Reportf(intent.Node, "let the evaluator measure the intent too",
			"no scorecard measures %s, and the config requires it", gate.CalledBriefly("intent", intent))
	}
}

// unmeasured returns the intents of the eval targets that no scorecard measures.
func (c *cards) unmeasured(p *pack.Pack) (intents []pack.Text) {
	measured := map[string]bool{}
	for at := range c.scores() {
		measured[at.intent] = true
	}
	for _, t := range p.EvaluationLayer.EvalTargets.Items {
		if t.Intent.OK && !measured[t.Intent.Value] {
			intents = append(intents, t.Intent)
		}
	}
	return intents
}

// Lacking says why the scorecards beside a pack do not measure it, with every intent that
// has a target; "" where they do.
func Lacking(s *gate.Subject) string {
	c := cardsOf(s)
	if reason := c.lacking(); reason != "" {
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
	for _, card := range c.own {
		for _, entry := range card.Intents.Items {
			if !entry.Samples.OK || entry.Samples.Value >= least.Value {
				continue
			}
			p.Report(gate.Faultf(entry.Samples.Node, "measure more samples of the intent",
				"%s was measured with %s, and the config wants at least %s", gate.CalledBriefly("intent", entry.Intent), pack.Counted(int(entry.Samples.Value), "sample"), Number(least.Value)).
				Keyed(p.Unit.Within(card.Name)).See(least.Node, "the config says so"))
		}
	}
}

// cards are the scorecards beside a pack, told apart by what they measured. Each
// list is in the order of the file names.
type cards struct {
	id, version string
	own         []*repo.Scorecard            // this version, and its bytes: these count
	stale       []*repo.Scorecard            // this version, and other bytes
	past        map[string][]*repo.Scorecard // other versions of the pack
	foreign     []*repo.Scorecard            // another pack, or nothing that could be told
	before      *cards                       // of the version that the pack is compared with; nil for none
}

// cardsOf sorts the scorecards of a pack. There are none for a pack without id
// or version.
func cardsOf(s *gate.Subject) cards {
	meta := &s.Pack.PackMeta
	c := cards{id: meta.PackID.Value, version: meta.PackVersion.Value, past: map[string][]*repo.Scorecard{}}
	if s.HasBase() {
		before := cardsOf(s.Before)
		c.before = &before
	}
	if !meta.PackID.OK || !meta.PackVersion.OK || len(s.Unit.Scorecards) == 0 {
		return c
	}
	measured := published(s.Unit)
	digests := map[pack.Digest]bool{pack.DigestOf(measured.Source): true, own(measured): true}
	for _, card := range s.Unit.Scorecards {
		id, version, pinned := strings.Cut(card.Pack.Value, "@")
		switch {
		case !pinned || id != c.id:
			c.foreign = append(c.foreign, card)
		case version != c.version:
			c.past[version] = append(c.past[version], card)
		case digests[pack.Digest(card.Digest.Value)]:
			c.own = append(c.own, card)
		default:
			c.stale = append(c.stale, card)
		}
	}
	return c
}

// published returns the document that scorecards measure. Overlays do not change
// what a scorecard is for: the published bytes are the same in every environment.
func published(u *repo.Unit) *pack.Document { return cmp.Or(u.Published, u.Document) }

// point is what one value is about.
type point struct {
	intent string
	metric Metric
}

// score is one value that a scorecard gives. Baseline is not OK where there is
// nothing to compare with. Claimed is the baseline by the word of the scorecards beside
// the pack: what the base measured takes its place.
type score struct {
	card                     *repo.Scorecard
	value, baseline, claimed pack.Num
	samples                  int
}

// scores returns what the scorecards that count give. Of several values for one
// point the one of the last file counts, and in a file the last.
func (c *cards) scores() map[point]score {
	scores, before := map[point]score{}, c.earlier()
	for _, card := range c.own {
		baselines, comparable := c.baselines(card)
		for _, entry := range card.Intents.Items {
			if !entry.Intent.OK {
				continue
			}
			for _, m := range Metrics() {
				at := point{entry.Intent.Value, m}
				s := score{card: card, value: scoreOf(&entry.Candidate, m), samples: int(entry.Samples.Value)}
				if !s.value.OK {
					continue
				}
				if s.baseline = scoreOf(&entry.Baseline, m); !s.baseline.OK {
					s.baseline = baselines[at]
				}
				if !comparable {
					s.baseline = pack.Num{}
				}
				s.claimed = s.baseline
				if measured := before.baseline(card, at); measured.OK {
					s.baseline = measured
				}
				scores[at] = s
			}
		}
	}
	return scores
}

// baselines returns what the scorecards of the version that a scorecard names as
// its baseline measured. It reports false where the baseline is no other version
// of this pack, so that nothing can be compared with it.
func (c *cards) baselines(card *repo.Scorecard) (values map[point]pack.Num, comparable bool) {
	values = map[point]pack.Num{}
	if !card.Baseline.OK {
		return values, true
	}
	if c.incomparable(card) != "" {
		return values, false
	}
	_, version, _ := strings.Cut(card.Baseline.Value, "@")
	for _, past := range c.past[version] {
		maps.Copy(values, candidates(past))
	}
	return values, true
}

// incomparable says why the baseline of a scorecard is none; "" where it is one.
func (c *cards) incomparable(card *repo.Scorecard) string {
	if !card.Baseline.OK {
		return ""
	}
	id, version, pinned := strings.Cut(card.Baseline.Value, "@")
	switch {
	case !pinned || id != c.id:
		return fmt.Sprintf("the baseline of %s is %s, which is no version of %s", card.Document.File, gate.Quote(card.Baseline.Value), gate.Quote(c.id))
	case version == c.version:
		return fmt.Sprintf("the baseline of %s is the version that it measures, %s", card.Document.File, gate.Quote(card.Baseline.Value))
	}
	return ""
}

// input returns the input that is not configured where the pack has no scorecard at all;
// those of other bytes or versions are ones that do not count.
func (c *cards) input() finding.Input {
	if len(c.own)+len(c.stale)+len(c.past)+len(c.foreign) > 0 {
		return finding.Input{}
	}
	return finding.Input{Kind: finding.Scorecard}
}

// lacking says why no scorecard counts; "" where one does.
func (c *cards) lacking() string {
	ref := gate.Quote(c.id + "@" + c.version)
	switch {
	case len(c.own) > 0:
		return ""
	case len(c.stale) > 0:
		return fmt.Sprintf("no scorecard measures the bytes of %s", ref)
	}
	return fmt.Sprintf("there is no scorecard of %s", ref)
}

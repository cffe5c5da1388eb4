package evaluation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// cards are the scorecards beside a pack, told apart by what they measured. Each
// list is in the order of the file names.
type cards struct {
	id, version string
	own         []*repo.Scorecard            // this version, and its bytes: these count
	stale       []*repo.Scorecard            // this version, and other bytes
	past        map[string][]*repo.Scorecard // other versions of the pack
	foreign     []*repo.Scorecard            // another pack, or nothing that could be told
	unsigned    []*repo.Scorecard            // whatever they measured: the evaluator has not signed them
	// carried measured the version that the pack is compared with, where it is proved that
	// the same is permitted: they count where nothing else measures.
	carried []*repo.Scorecard
	before  *cards            // of the version that the pack is compared with; nil for none
	former  map[string]string // names of intents in that version, where they are others
}

// cardsOf sorts the scorecards of a pack. There are none for a pack without id
// or version.
func cardsOf(s *gate.Subject) cards {
	meta := &s.Pack.PackMeta
	c := cards{id: meta.PackID.Value, version: meta.PackVersion.Value, past: map[string][]*repo.Scorecard{}}
	if s.HasBase() {
		before := cardsOf(s.Before)
		c.before, c.former = &before, s.FormerIntents()
	}
	if !meta.PackID.OK || !meta.PackVersion.OK || len(s.Unit.Scorecards) == 0 {
		return c
	}
	digests, base := digestsOf(s), map[pack.Digest]bool{}
	if s.HasBase() && s.Equal {
		base = digestsOf(s.Before)
	}
	for _, card := range s.Unit.Scorecards {
		id, version, pinned := strings.Cut(card.Pack.Value, "@")
		carried := c.before != nil && version == c.before.version && base[pack.Digest(card.Digest.Value)]
		switch {
		case s.Unsigned(card) != "":
			c.unsigned = append(c.unsigned, card)
			continue
		case !pinned || id != c.id:
			c.foreign = append(c.foreign, card)
			continue
		case version != c.version:
			c.past[version] = append(c.past[version], card)
		case digests[pack.Digest(card.Digest.Value)]:
			c.own = append(c.own, card)
			continue
		case carried:
		default:
			c.stale = append(c.stale, card)
		}
		if carried {
			c.carried = append(c.carried, card)
		}
	}
	return c
}

// digestsOf returns the digests by which a scorecard can name the bytes of a pack.
func digestsOf(s *gate.Subject) map[pack.Digest]bool {
	measured := published(s.Unit)
	return map[pack.Digest]bool{pack.DigestOf(measured.Source): true, own(measured): true}
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

// scores returns what the scorecards that count give.
func (c *cards) scores() map[point]score { return c.scoresOf(c.own) }

// scoresOf returns what some scorecards give. Of several values for one point the worst
// counts, whatever the files are called.
func (c *cards) scoresOf(list []*repo.Scorecard) map[point]score {
	scores, before := map[point]score{}, c.earlier()
	for _, card := range list {
		baselines, comparable := c.baselines(card)
		for i := range card.Intents.Items {
			entry := &card.Intents.Items[i]
			for _, m := range Metrics() {
				at := point{entry.Intent.Value, m}
				s := score{card: card, value: scoreOf(&entry.Candidate, m), samples: samplesOf(entry)}
				if old, taken := scores[at]; !entry.Intent.OK || !s.value.OK || taken && m.loss(old.value.Value, s.value.Value) <= 0 {
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

// mostSamples is more than anybody measures.
const mostSamples = 1 << 40

func samplesOf(entry *repo.IntentScore) int {
	return int(max(0, min(entry.Samples.Value, mostSamples)))
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
		for at, v := range candidates(past) {
			values[at] = better(at.metric, values[at], v)
		}
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
		return fmt.Sprintf("the baseline of %s is %s, which is not a version of %s", card.Document.File, gate.Quote(card.Baseline.Value), gate.Quote(c.id))
	case version == c.version:
		return fmt.Sprintf("the baseline of %s is the version that it measures, %s", card.Document.File, gate.Quote(card.Baseline.Value))
	}
	return ""
}

// input returns the input that is not configured where the pack has no scorecard at all;
// those of other bytes or versions, or that are not signed, are ones that do not count.
func (c *cards) input() finding.Input {
	if len(c.own)+len(c.stale)+len(c.past)+len(c.foreign)+len(c.carried)+len(c.unsigned) > 0 {
		return finding.Input{}
	}
	return finding.Input{Kind: finding.Scorecard}
}

// current reports whether a scorecard says that it measured the pack's version.
func (c *cards) current(card *repo.Scorecard) bool { return card.Pack.Value == c.id+"@"+c.version }

// lacking says why no scorecard counts; "" where one does.
func (c *cards) lacking() string {
	ref := gate.Quote(c.id + "@" + c.version)
	switch {
	case len(c.own) > 0:
		return ""
	case len(c.stale) > 0, slices.ContainsFunc(c.carried, c.current):
		return fmt.Sprintf("no scorecard measures the bytes of %s", ref)
	case slices.ContainsFunc(c.unsigned, c.current):
		return fmt.Sprintf("no scorecard of %s is signed by the evaluator", ref)
	}
	return fmt.Sprintf("there is no scorecard of %s", ref)
}

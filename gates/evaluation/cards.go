package evaluation

import (
	"cmp"
	"fmt"
	"strings"

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
}

// cardsOf sorts the scorecards of a pack. There are none for a pack without id
// or version.
func cardsOf(s *gate.Subject) cards {
	meta := &s.Pack.PackMeta
	c := cards{id: meta.PackID.Value, version: meta.PackVersion.Value, past: map[string][]*repo.Scorecard{}}
	if !meta.PackID.OK || !meta.PackVersion.OK || len(s.Unit.Scorecards) == 0 {
		return c
	}
	digests := digestsOf(published(s.Unit))
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

// digestsOf returns the digests that a scorecard may name a document by: of its
// bytes, and of its canonical form where it has one.
func digestsOf(d *pack.Document) map[pack.Digest]bool {
	digests := map[pack.Digest]bool{pack.DigestOf(d.Source): true}
	if canonical, err := d.CanonicalDigest(); err == nil {
		digests[canonical] = true
	}
	return digests
}

// point is what one value is about.
type point struct {
	intent string
	metric Metric
}

// score is one value that a scorecard gives. Baseline is not OK where there is
// nothing to compare with.
type score struct {
	card            *repo.Scorecard
	value, baseline pack.Num
	samples         int
}

// scores returns what the scorecards that count give. Of several values for one
// point the one of the last file counts, and in a file the last.
func (c *cards) scores() map[point]score {
	scores := map[point]score{}
	for _, card := range c.own {
		baselines, comparable := c.baselines(card)
		for i := range card.Intents.Items {
			entry := &card.Intents.Items[i]
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
		for i := range past.Intents.Items {
			entry := &past.Intents.Items[i]
			for _, m := range Metrics() {
				if v := scoreOf(&entry.Candidate, m); v.OK && entry.Intent.OK {
					values[point{entry.Intent.Value, m}] = v
				}
			}
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
		return fmt.Sprintf("the baseline of %s is %s, which is no version of %s", card.Document.File, gate.Quote(card.Baseline.Value), gate.Quote(c.id))
	case version == c.version:
		return fmt.Sprintf("the baseline of %s is the version that it measures, %s", card.Document.File, gate.Quote(card.Baseline.Value))
	}
	return ""
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

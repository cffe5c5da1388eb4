package publish

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/publish/statement"
)

// Deed is what one signed statement did with a pack.
type Deed struct {
	Sequence    int    // of the record that names the statement, 0 where none does
	What        string // published, bundle-published, deprecated, revoked, pinned or stopped
	Name        string // pack_id@version, or that of an environment's bundle
	Manifest    string // digest of what it is about
	Environment string // of a move and of a bundle, "" for another
	Who         string // who ordered it, "" for what a run did
	Why         string // as it was given
	PullRequest string // that was published
	Approvals   []statement.Approval
	Late        bool // it does not count: the environment was moved by another statement a little earlier
	Signing
}

// History is what was done with a pack, in the order of its records. Where it has no record, the
// order is that of time.
type History struct {
	Records  int
	Deeds    []Deed
	Problems []Reason // where the records are not one whole chain
}

// history returns what was done with the pack.
func (s *survey) history(all *builds) *History {
	out := &History{Records: len(s.chain.records), Problems: slices.Concat(s.chain.odd, s.chain.auditLinks(), s.chain.gaps())}
	for _, h := range s.holdings {
		if h.artifact != nil {
			out.Deeds = append(out.Deeds, h.deeds()...)
		}
	}
	for _, h := range all.holdings {
		for _, b := range h.signed {
			out.Deeds = append(out.Deeds, Deed{What: "bundle-published", Name: b.Name.String(), Manifest: h.digest, Environment: b.Name.Environment,
				PullRequest: b.Statement.PullRequest, Approvals: b.Statement.Approvals, Signing: b.Signing})
		}
	}
	for i := range out.Deeds {
		d := &out.Deeds[i]
		if p, known := s.chain.places[d.Bundle]; known {
			d.Sequence, d.Late = p.sequence, p.late
		}
	}
	slices.SortFunc(out.Deeds, func(a, b Deed) int { return s.chain.compareDeeds(a, b) })
	return out
}

// compareDeeds orders by the history what it names, before what it does not name, and by time
// what is of one record or of none.
func (ch *chain) compareDeeds(a, b Deed) int {
	p, named := ch.places[a.Bundle]
	q, other := ch.places[b.Bundle]
	switch {
	case named && other:
		return cmp.Or(p.compare(q), a.compare(b.Signing))
	case named:
		return -1
	case other:
		return 1
	}
	return a.compare(b.Signing)
}

// deeds returns what the statements about a version did.
func (h *holding) deeds() (out []Deed) {
	for _, s := range h.summaries {
		out = append(out, Deed{What: "published", PullRequest: s.summary.PullRequest, Approvals: s.summary.Approvals, Signing: s.Signing})
	}
	for _, s := range h.states {
		out = append(out, Deed{What: s.State, Who: s.Actor, Why: s.Reason, Signing: s.Signing})
	}
	for _, p := range slices.Concat(h.pins, h.loose) {
		d := Deed{What: "pinned", Environment: p.Environment, Who: p.Actor, Why: p.Reason, Approvals: p.Approvals, Signing: p.Signing}
		if p.Stopped {
			d.What = "stopped"
		}
		if p.Accept != "" {
			d.Why = strings.TrimPrefix(d.Why+"; accepted: "+p.Accept, "; ")
		}
		out = append(out, d)
	}
	for i := range out {
		out[i].Name, out[i].Manifest = h.version.Pack, h.digest
	}
	return out
}

// Log returns the versions of a pack from the lowest to the highest, with all that
// is known of each, and the pack's history; nothing where the registry has no such pack.
func (c *Checker) Log(ctx context.Context, packID string) ([]Entry, *History, error) {
	s, err := c.survey(ctx, packID, request{})
	if err != nil {
		return nil, nil, err
	}
	all, err := c.builds(ctx, packID, "", "", s.chain.bundles()...)
	if err != nil {
		return nil, nil, err
	}
	return s.entries(), s.history(all), nil
}

// entries returns the versions.
func (s *survey) entries() (out []Entry) {
	pinned := map[string][]string{}
	for _, environment := range slices.Sorted(maps.Keys(s.environments())) {
		digest := s.environments()[environment]
		pinned[digest] = append(pinned[digest], environment)
	}
	for _, v := range s.verdicts() {
		e := Entry{Verdict: v, Tagged: s.tagged(v.Version) == v.Manifest, Environments: pinned[v.Manifest]}
		if v.Summary != nil {
			e.Class = v.Summary.Class
		}
		for _, r := range v.Reasons {
			if r.Kind == ReasonConflict {
				e.Conflicts = append(e.Conflicts, r.Digest)
			}
		}
		out = append(out, e)
	}
	return out
}

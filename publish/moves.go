package publish

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// move is one signed record that an environment was moved to a version, or stopped.
type move struct {
	PinRecord
	to *holding
}

// what returns the digests of what the environment was moved to: the version's, and its
// bundle's where the record names one.
func (m *move) what() [2]string {
	if m.Runs == nil {
		return [2]string{m.to.digest}
	}
	return [2]string{m.to.digest, m.Runs.Manifest}
}

// moves returns the moves of an environment in their order.
func (s *survey) moves(environment string) (out []move) {
	for _, h := range s.holdings {
		for _, p := range h.pins {
			if p.Environment == environment {
				out = append(out, move{p, h})
			}
		}
	}
	slices.SortFunc(out, func(a, b move) int { return cmp.Or(a.order(b.PinRecord), strings.Compare(a.to.digest, b.to.digest)) })
	return out
}

// wayBack returns where an environment is, nil where it was stopped or never pinned, and
// the moves that it can go back to, the newest first: those that no rollback and no stop
// has left behind.
func wayBack(moves []move) (now *move, back []move) {
	for _, m := range moves {
		if now != nil && now.what() != m.what() {
			back = append(back, *now)
		}
		at := slices.IndexFunc(back, func(before move) bool { return before.what() == m.what() })
		if m.By == statement.ByRollback && at >= 0 {
			// What was gone back over is left behind, and so is what was left.
			back = back[:at]
		}
		now = &m
		if m.Stopped {
			now = nil
			back = slices.DeleteFunc(back, func(before move) bool { return before.what() == m.what() })
		}
	}
	slices.Reverse(back)
	return now, back
}

// Running is what an environment runs of a pack.
type Running struct {
	// Verdict is nil where the environment never had a version, or was stopped. One that is
	// neither Usable nor Deprecated says that what runs cannot be told, and why.
	Verdict *Verdict
	Content []byte    // what runs, nil where the registry has none
	Since   time.Time // from when on it runs these bytes of the pack without interruption
	// Last is the newest record of the environment, nil where it has none.
	Last *PinRecord

	chain *chain // the history of the pack
}

// Claim puts the tags of the history that a run was cut off before, by what was looked at. Nothing
// is written in a dry run, and nothing is asked where none is missing.
func (p *Publisher) Claim(ctx context.Context, r *Running) error {
	if p.DryRun || r.chain == nil {
		return nil
	}
	return r.chain.claim(ctx)
}

// Running returns what an environment runs of a pack, and since when: the time that a
// service vouches for, of the first of the records in a row that name the same bytes of the
// pack. Another version between, and a stop, interrupt it; another overlay does not.
func (c *Checker) Running(ctx context.Context, packID, environment string) (*Running, error) {
	tag, err := registry.PinTag(environment)
	if err != nil {
		return nil, err
	}
	found, err := c.look(ctx, registry.Ref{Pack: packID, Tag: tag})
	if err != nil {
		return nil, err
	}
	moves := found.survey.moves(environment)
	if len(moves) == 0 && found.survey.tags[tag] == "" {
		return &Running{chain: found.survey.chain}, nil
	}
	out := &Running{Verdict: found.verdict, chain: found.survey.chain}
	if found.holding != nil && found.holding.artifact != nil {
		out.Content = found.holding.artifact.Content
	}
	if b := found.verdict.Build; b != nil {
		out.Content = b.Resolved
	}
	for i, m := range slices.Backward(moves) {
		if i == len(moves)-1 {
			out.Last = &m.PinRecord
		}
		if m.Stopped || m.to.version.Content != moves[len(moves)-1].to.version.Content {
			break
		}
		out.Since = m.Time
	}
	if out.Last != nil && out.Last.Stopped && out.Verdict.Status == Untrusted && onlyStopped(out.Verdict) {
		out.Verdict, out.Content = nil, nil
	}
	return out, nil
}

// runningIn returns the environments that run a version by their newest record, sorted.
func (c *Checker) runningIn(ctx context.Context, v *Verdict) (environments []string, err error) {
	s, err := c.survey(ctx, v.Pack, request{})
	if err != nil {
		return nil, err
	}
	for _, h := range s.holdings {
		for _, p := range h.pins {
			moves := s.moves(p.Environment)
			if newest := moves[len(moves)-1]; !newest.Stopped && newest.to.digest == v.Manifest && !slices.Contains(environments, p.Environment) {
				environments = append(environments, p.Environment)
			}
		}
	}
	slices.Sort(environments)
	return environments, nil
}

// onlyStopped reports whether nothing else is wrong with a pin than that it was stopped.
func onlyStopped(v *Verdict) bool {
	return !slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Refuses && r.Kind != ReasonStopped })
}

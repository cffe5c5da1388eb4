package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

const (
	// chainTries is how often a record is signed again because another publisher was faster.
	chainTries = 8
	// chainWait is about how long it waits at least before that.
	chainWait = 20 * time.Millisecond
)

// enter puts a statement that is attached into the history of its pack. What is there is not
// entered again. A record that another publisher's met is joined with it by one more. The
// error is of kind ErrMoved where the statement moves an environment that another publisher
// moved at the same time, and a little earlier: it does not count then.
func (p *Publisher) enter(ctx context.Context, repo *registry.Repository, about statement.Version, e statement.Entry) error {
	id, wrote, met := packOf(about.Pack), false, false
	for i := range chainTries {
		began := time.Now()
		listed, err := repo.Tags(ctx)
		if err != nil {
			return err
		}
		ch, err := p.Checker().chain(ctx, repo, id, listed)
		if err != nil {
			return err
		}
		if err := ch.writable(id); err != nil {
			return err
		}
		// The publisher that was witnessed first leaves it to the other one to join the two, once.
		open, first := ch.open(e.Bundle)
		if at, known := ch.places[e.Bundle]; known && !open {
			return cmp.Or(ch.claim(ctx), at.tooLate())
		} else if open && first && !met {
			met = true
		} else if wrote && !known {
			return &fault.Error{Kind: ErrLost, Message: fmt.Sprintf("a record of the history in %q was written, and is missing when it is read back", repo.Name())}
		} else if err := p.append(ctx, ch, about, e); err != nil {
			return err
		} else if wrote = true; !known {
			continue // and is read back
		} // two who join at the same time part again: they wait before they look, as long as that takes
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(max(chainWait, time.Since(began)) << min(i, 3))):
		}
	}
	return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("the history in %q was changed by somebody else %d times in the meantime", repo.Name(), chainTries),
		Hint: "publish from one job at a time, and run it again"}
}

func (p place) tooLate() error {
	if !p.late {
		return nil
	}
	return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("the environment %q was moved by somebody else at the same time", p.Environment),
		Hint: "check which version the environment should run, and pin it again"}
}

// writable refuses a history that is not whole: what is signed on it would cover that.
func (ch *chain) writable(packID string) error {
	switch {
	case len(ch.lost) > 0:
		return &fault.Error{Kind: ErrCut, Message: fmt.Sprintf("the history of %q has a gap: the record %s, which a later one names, is missing", packID, ch.lost[0])}
	case ch.dropped > 0:
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("more than %d tags claim one record of the history of %q", chainLimit, packID),
			Hint: "check who can write to the registry, and delete the tags that packgate did not write"}
	case len(ch.heads) > statement.MaxPrevious:
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the history of %q has %d ends, of which a record can join %d", packID, len(ch.heads), statement.MaxPrevious),
			Hint: "publish from one job at a time"}
	}
	return nil
}

// open reports whether the record of a statement is one end of several, which whose it is
// joins, and whether it is the first of them.
func (ch *chain) open(bundle string) (open, first bool) {
	at := slices.IndexFunc(ch.heads, func(r *recordAt) bool { return r.Entry.Bundle == bundle })
	return at >= 0 && len(ch.heads) > 1, at == 0
}

// claim puts the tags of sequences that have none, where a run was cut off before that.
func (ch *chain) claim(ctx context.Context) error {
	for _, r := range ch.records {
		t := registry.RecordTag{Sequence: r.Sequence}
		if ch.tags[t] != "" {
			continue
		}
		if err := ch.place(ctx, r.digest, r.Sequence); err != nil {
			return err
		}
		ch.tags[t] = r.digest
	}
	return nil
}

// append signs a record of a statement on the ends of the history, and puts it there.
func (p *Publisher) append(ctx context.Context, ch *chain, about statement.Version, e statement.Entry) error {
	r := statement.Record{Version: about, Resource: ch.repo.Name(), Sequence: ch.last() + 1, Entry: e, Time: p.now()}
	for _, head := range ch.heads {
		r.Previous = append(r.Previous, head.digest)
	}
	if len(ch.records) == 0 {
		var err error
		if r.Adopts, err = p.earlier(ctx, packOf(about.Pack), e); err != nil {
			return err
		}
	}
	source, err := r.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no record can be made of the statement about %q", about.Pack), Cause: err}
	}
	bundle, _, err := p.sign(ctx, statement.TypeRecord, about, source)
	if err != nil {
		return err
	}
	digest, err := ch.repo.PushRecord(ctx, r.Sequence, bundle)
	if err != nil {
		return err
	}
	return ch.place(ctx, digest, r.Sequence)
}

// place puts the tag of a sequence. Where it names something else it is left alone: a record of
// another publisher who was faster is joined when the history is read again, and whatever else
// is there keeps no revocation from being recorded, which an audit says.
func (ch *chain) place(ctx context.Context, digest string, sequence int) error {
	err := ch.repo.Claim(ctx, digest, registry.RecordTag{Sequence: sequence}.String())
	if errors.Is(err, registry.ErrMoved) {
		return nil
	}
	return err
}

// earlier returns the statements that were signed before the pack had a history, those that
// move environments first, as many as a record adopts.
func (p *Publisher) earlier(ctx context.Context, packID string, but statement.Entry) (out []statement.Entry, err error) {
	c := p.Checker()
	s, err := c.survey(ctx, packID, request{digests: []string{but.Manifest}})
	if err != nil {
		return nil, err
	}
	all, err := c.builds(ctx, packID, "", "")
	if err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(said(s, all), func(e statement.Entry) bool { return e.Bundle == but.Bundle })
	return out[:min(len(out), statement.MaxAdopted)], nil
}

// said returns every trusted statement about a pack, those that move environments first.
func said(s *survey, all *builds) (out []statement.Entry) {
	seen := map[string]bool{}
	put := func(e statement.Entry) {
		if !seen[e.Bundle] {
			seen[e.Bundle] = true
			out = append(out, e)
		}
	}
	holdings := slices.Sorted(maps.Keys(s.holdings))
	for _, digest := range holdings {
		h := s.holdings[digest]
		for _, r := range slices.Concat(h.pins, h.loose) {
			kind := statement.KindPin
			if r.Stopped {
				kind = statement.KindStop
			}
			put(statement.Entry{Kind: kind, Manifest: digest, Bundle: r.Bundle, Environment: r.Environment})
		}
	}
	for _, digest := range holdings {
		for _, r := range s.holdings[digest].states {
			put(statement.Entry{Kind: statement.KindState, Manifest: digest, Bundle: r.Bundle})
		}
		for _, r := range s.holdings[digest].summaries {
			put(statement.Entry{Kind: statement.KindPublish, Manifest: digest, Bundle: r.Bundle})
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(all.holdings)) {
		for _, b := range all.holdings[digest].signed {
			put(statement.Entry{Kind: statement.KindBundle, Manifest: digest, Bundle: b.Bundle, Environment: b.Name.Environment})
		}
	}
	return out
}

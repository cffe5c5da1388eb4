package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// PinChange moves an environment to a version.
type PinChange struct {
	Ref         registry.Ref // a version or a digest
	Environment string
	Actor       string // who moves it
	Reason      string // may be empty
	Replay      bool   // allows a deprecated version
	// By, Commit, Approvals and Accept are members of the record: see statement.Pin.
	By, Commit, Accept string
	Approvals          []statement.Approval

	bundle *statement.Version // what it is to run of the version; nil for the pack as it was published
}

// PinResult is what became of a pin.
type PinResult struct {
	Outcome
	Environment string
	Runs        *statement.Version // the bundle that it runs of the version, nil for the pack as it was published
	Previous    string             // digest that the environment had before, "" for none
}

// Target is what an environment may be moved to: a version, and the bundle that is the newest one
// of it there, which is in the verdict's Build; nil for none.
type Target struct {
	Verdict *Verdict
	found   *looked
	of      string // the environment
}

// Content returns the pack's bytes as they were published, nil where the registry has none.
func (t *Target) Content() []byte { return t.found.content() }

// Runs returns what the environment would run: the bundle's pack, or else the version's own.
func (t *Target) Runs() []byte {
	if t.Verdict.Build != nil {
		return t.Verdict.Build.Resolved
	}
	return t.Content()
}

// Target looks at what an environment may be moved to. That the version is not trusted is an
// answer; the errors are those of Pin.
func (p *Publisher) Target(ctx context.Context, ref registry.Ref, environment string) (*Target, error) {
	found, err := p.Checker().look(ctx, ref)
	if err != nil {
		return nil, err
	}
	t := &Target{Verdict: found.verdict, found: found, of: environment}
	if t.Verdict.Status == Usable || t.Verdict.Status == Deprecated {
		if t.Verdict.Build, err = p.Checker().NewestBuild(ctx, t.Verdict, environment); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Pin moves an environment to a version and records that. The version must be
// usable, or deprecated where Replay says so (ErrRefused); then recheck, which may
// be nil, must find nothing in its bytes. What the environment runs is the newest bundle of
// the version there, which is in the verdict's Build, and the version itself where it has none. The record is attached before the tag
// moves, so that the tag never stands without one; where a run was cut off between
// the two, the next one uses the record that is there. ErrMoved says that somebody
// else moved the environment meanwhile.
func (p *Publisher) Pin(ctx context.Context, c PinChange, recheck func(context.Context, *Verdict, []byte) error) (*PinResult, error) {
	if _, err := registry.PinTag(c.Environment); err != nil {
		return nil, err
	}
	t, err := p.Target(ctx, c.Ref, c.Environment)
	if err != nil {
		return nil, err
	}
	return p.PinTo(ctx, t, c, recheck)
}

// PinTo is Pin for what was looked at before, so that it is what was decided about.
func (p *Publisher) PinTo(ctx context.Context, t *Target, c PinChange, recheck func(context.Context, *Verdict, []byte) error) (*PinResult, error) {
	c.Environment = t.of
	tag, err := registry.PinTag(c.Environment)
	if err != nil {
		return nil, err
	}
	v := t.Verdict
	if err := pinnable(v, c); err != nil {
		return nil, err
	}
	if v.Build != nil {
		c.bundle = &v.Build.Statement.Version
	}
	if recheck != nil {
		if err := recheck(ctx, v, t.Content()); err != nil {
			return nil, err
		}
	}
	return p.pinTo(ctx, t.found, tag, c)
}

// pinTo moves an environment to what was looked at, and records that.
func (p *Publisher) pinTo(ctx context.Context, found *looked, tag string, c PinChange) (*PinResult, error) {
	out := &PinResult{Outcome: p.outcome(found.repo, found.verdict), Environment: c.Environment, Runs: c.bundle}
	standing, err := p.pinStanding(ctx, found, tag, c)
	if err != nil {
		return nil, err
	}
	out.Previous, out.Already = standing.digest, standing.settled
	if standing.record != nil {
		out.Previous, out.Bundle, out.Signer = standing.record.Previous, standing.record.Bundle, &standing.record.Signer
	}
	if out.Already || p.DryRun {
		if p.DryRun && standing.record == nil {
			return out, p.preflight(ctx)
		}
		return out, p.changed(ctx, pinning, found.verdict.Name(), found.holding.digest) // where a run was cut off before that
	}
	if standing.record == nil {
		now := p.following(standing.last)
		r := recording{doing: pinning, of: "pin", kind: statement.TypePin, entry: statement.KindPin, environment: c.Environment, at: now, statement: statement.Pin{Replay: c.Replay, Accept: c.Accept, Bundle: c.bundle, Move: statement.Move{
			Version: found.holding.version, Environment: c.Environment, Previous: out.Previous, Actor: c.Actor, Reason: c.Reason,
			By: c.By, Commit: c.Commit, Approvals: c.Approvals, Time: now,
		}}}
		if err := p.record(ctx, found, r, &out.Outcome); err != nil {
			return nil, err
		}
	} else if err := p.enterPin(ctx, found, standing.record); err != nil {
		return nil, err
	}
	return out, movePin(ctx, found, tag, standing.digest)
}

// pinning is what a pin is called while it goes on.
const pinning = "pinning"

// pinnable says why a version cannot be pinned, nil where it can.
func pinnable(v *Verdict, c PinChange) error {
	what := fmt.Sprintf("%q cannot be pinned to %q", v.Name(), c.Environment)
	switch {
	case v.Status == Untrusted || v.Status == Revoked:
		return refusedBy(v, what)
	case v.Status == Deprecated && !c.Replay:
		err := refusedBy(v, what)
		err.Hint = "pin another version, or replay this one with --replay"
		return err
	}
	return nil
}

// pinStanding is where an environment is before it is moved.
type pinStanding struct {
	digest  string     // that its tag names, "" for none
	record  *PinRecord // of the move that is asked for, nil where it is still to be signed
	settled bool       // whether the move is done, tag and record
	last    time.Time  // of the newest record of the environment that was looked at, zero for none
}

// following returns the time of a statement that follows one of another time: never the same
// one, because statements are ordered by it.
func (p *Publisher) following(last time.Time) time.Time {
	now := p.now()
	if now.After(last) {
		return now
	}
	return last.UTC().Truncate(time.Second).Add(time.Second)
}

// pinStanding reads where an environment stands, and whether a record of the move
// is there already: the one in force, or one that a run left behind that could not
// move the tag, or could not enter it into the history.
func (p *Publisher) pinStanding(ctx context.Context, found *looked, tag string, c PinChange) (*pinStanding, error) {
	all, err := p.Checker().survey(ctx, found.verdict.Pack, request{tags: []string{tag}, digests: []string{found.holding.digest}})
	if err != nil {
		return nil, err
	}
	if hidden := all.hidden(all.holdings[found.holding.digest]); len(hidden) > 0 {
		return nil, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%q cannot be pinned to %q: %s", found.verdict.Name(), c.Environment, hidden[0].Message), Hint: hidden[0].Hint}
	}
	s := &pinStanding{digest: all.tags[tag]}
	h, moves := all.holdings[found.holding.digest], all.moves(c.Environment)
	if len(moves) > 0 {
		last := moves[len(moves)-1]
		s.last = last.Time
		mine := last.to == h && !last.Stopped && sameRuns(last.Runs, c.bundle)
		// A pins file that wants what runs already is recorded with its commit, by which the next
		// change of a line is known.
		recorded := c.By != statement.ByPinsFile || last.Commit == c.Commit
		if mine && (s.digest == h.digest && recorded || s.digest != h.digest && s.digest == last.Previous) {
			if s.record, s.settled = &last.PinRecord, s.digest == h.digest; s.settled && !p.DryRun {
				err = all.chain.claim(ctx)
			}
			return s, err
		}
	}
	for _, r := range slices.Backward(h.loose) {
		if _, entered := all.chain.places[r.Bundle]; !entered && r.of(c) && r.Previous == s.digest {
			s.record = &r
			break
		}
	}
	return s, nil
}

// of reports whether a record says of a move what is asked for.
func (p PinRecord) of(c PinChange) bool {
	return !p.Stopped && p.Environment == c.Environment && sameRuns(p.Runs, c.bundle) && p.Actor == c.Actor && p.Reason == c.Reason && p.Replay == c.Replay &&
		p.By == c.By && p.Commit == c.Commit && p.Accept == c.Accept && slices.Equal(p.Approvals, c.Approvals)
}

// enterPin enters a record of a move that is there into the history and the status, where it
// is not yet.
func (p *Publisher) enterPin(ctx context.Context, found *looked, r *PinRecord) error {
	entry := statement.Entry{Kind: statement.KindPin, Manifest: found.holding.digest, Bundle: r.Bundle, Environment: r.Environment}
	if r.Stopped {
		entry.Kind = statement.KindStop
	}
	if err := p.enter(ctx, found.repo, found.holding.version, entry); err != nil {
		return failed(pinning, found.verdict.Name(), StepRecorded, "", err)
	}
	return p.changed(ctx, pinning, found.verdict.Name(), found.holding.digest)
}

// sameRuns reports whether two records say that the same runs of a version.
func sameRuns(a, b *statement.Version) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// movePin moves the tag, where it still names what it named when the record was
// made.
func movePin(ctx context.Context, found *looked, tag, previous string) error {
	name := found.verdict.Name()
	now, err := resolve(ctx, found.repo, tag)
	if err != nil {
		return failed(pinning, name, StepTagged, "", err)
	}
	moved := func(cause error) error {
		return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("the tag %q was moved by somebody else in the meantime", tag),
			Hint: "check which version the environment should run, and pin it again", Cause: cause}
	}
	if now != previous && now != found.holding.digest {
		return moved(nil)
	}
	err = found.repo.Tag(ctx, found.holding.digest, tag)
	if errors.Is(err, registry.ErrMoved) {
		return moved(err)
	}
	if err != nil {
		return failed(pinning, name, StepTagged, "", err)
	}
	return nil
}

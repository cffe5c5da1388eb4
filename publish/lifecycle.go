package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Change is a new state of a published version.
type Change struct {
	Ref    registry.Ref // a version or a digest
	Reason string
	Actor  string // who changes it
}

// Outcome is what became of a version that was to be published, or to be changed.
type Outcome struct {
	Pack    string // pack_id@version
	Ref     string // repository:version@digest
	Digest  string // of the manifest
	Bundle  string // digest of the bundle, "" where nothing was signed or looked for
	Already bool   // it was so before, and nothing was done
	DryRun  bool
	Signer  *attest.SignerInfo // who signed; nil where nothing was signed or looked for
}

// outcome returns what is known of a change before it is made.
func (p *Publisher) outcome(repo *registry.Repository, v *Verdict) Outcome {
	return Outcome{Pack: v.Name(), Digest: v.Manifest, DryRun: p.DryRun, Ref: refOf(repo, v.Version, v.Manifest)}
}

// refOf returns repository:version@digest.
func refOf(repo *registry.Repository, version, digest string) string {
	return fmt.Sprintf("%s:%s@%s", repo.Name(), version, digest)
}

// StateResult is what became of a change of state.
type StateResult struct {
	Outcome
	State        string
	Environments []string // those that run the version by their newest record, sorted
}

// Deprecate says that a version is to be moved away from. It fails with ErrRefused
// where the version is not trusted, or is revoked already.
func (p *Publisher) Deprecate(ctx context.Context, c Change) (*StateResult, error) {
	return p.change(ctx, c, statement.StateDeprecated)
}

// Revoke says that a version is not to be used any more. Any context pack in the
// registry can be revoked, whether it is trusted or not, so that one of two signed
// digests of a version can be, which settles their conflict; but where there are two,
// the reference must name the digest (ErrRefused).
func (p *Publisher) Revoke(ctx context.Context, c Change) (*StateResult, error) {
	return p.change(ctx, c, statement.StateRevoked)
}

// doing is what a change to a state is called while it goes on.
var doing = map[string]string{statement.StateDeprecated: "deprecating", statement.StateRevoked: "revoking"}

func (p *Publisher) change(ctx context.Context, c Change, state string) (*StateResult, error) {
	if strings.TrimSpace(c.Reason) == "" {
		return nil, &fault.Error{Kind: ErrRef, Message: "no reason is given", Hint: "say why, for those who use the version"}
	}
	found, err := p.checker().look(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	v := found.verdict
	if err := changeable(found, c.Ref, state); err != nil {
		return nil, err
	}
	out := &StateResult{Outcome: p.outcome(found.repo, v), State: state}
	if out.Environments, err = p.checker().runningIn(ctx, v); err != nil {
		return nil, err
	}
	for _, s := range v.States {
		if s.State == state {
			out.Already, out.Bundle, out.Signer = true, s.Bundle, &s.Signer
			if p.DryRun {
				return out, nil
			}
			entry := statement.Entry{Kind: statement.KindState, Manifest: found.holding.digest, Bundle: s.Bundle}
			if err := p.enter(ctx, found.repo, found.holding.version, entry); err != nil {
				return nil, failed(doing[state], v.Name(), StepRecorded, "", err)
			}
			return out, p.changed(ctx, doing[state], v.Name(), v.Manifest) // where a run was cut off before that
		}
	}
	if p.DryRun {
		return out, p.preflight(ctx)
	}
	now := p.now()
	r := recording{doing: doing[state], of: "state", kind: statement.TypeState, entry: statement.KindState, at: now,
		statement: statement.State{Version: found.holding.version, State: state, Reason: c.Reason, Actor: c.Actor, Time: now}}
	if err := p.record(ctx, found, r, &out.Outcome); err != nil {
		return nil, err
	}
	return out, nil
}

// changeable says why a version cannot be given a state, nil where it can.
func changeable(found *looked, ref registry.Ref, state string) error {
	v := found.verdict
	if found.holding == nil || found.holding.artifact == nil {
		if err := refusedBy(v, fmt.Sprintf("%q cannot be %s", v.Name(), state)); found.holding != nil {
			return err
		}
		return &fault.Error{Kind: ErrNotPublished, Message: v.Reasons[0].Message, Hint: "check the reference, or name the version by its digest"}
	}
	if state == statement.StateDeprecated && v.Status != Usable && v.Status != Deprecated {
		return refusedBy(v, fmt.Sprintf("%q cannot be deprecated", v.Name()))
	}
	for _, r := range v.Reasons {
		switch {
		case ref.Digest == "" && (r.Kind == ReasonConflict || r.Refuses && (r.Kind == ReasonMoved || r.Kind == ReasonUnsigned || r.Kind == ReasonPin)):
			return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%q does not name exactly one digest: %s", v.Name(), r.Message),
				Hint: "name the intended one by its digest"}
		case r.Kind == ReasonVersion && r.Refuses:
			return &fault.Error{Kind: ErrRefused, Message: r.Message, Hint: "check the reference"}
		}
	}
	return nil
}

// recording is a statement about a version that is published, on its way there.
type recording struct {
	doing       string // what this is called while it goes on
	of          string // what it is a statement of
	kind        string // its type
	entry       statement.Kind
	environment string // that it moves, "" for none
	at          time.Time
	statement   interface{ Statement() ([]byte, error) }
}

// record signs a statement about what a reference names, attaches it there, and
// reads it back.
func (p *Publisher) record(ctx context.Context, found *looked, r recording, out *Outcome) error {
	about, h := found.holding.version, found.holding
	source, err := r.statement.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement about the %s of %q can be made", r.of, about.Pack), Cause: err}
	}
	bundle, v, err := p.sign(ctx, r.kind, about, source)
	if err != nil {
		return failed(r.doing, about.Pack, StepSigned, "", err)
	}
	attach := func(ctx context.Context) error {
		_, err := found.repo.Attach(ctx, h.artifact, registry.Attachment{Type: registry.BundleType, Content: bundle, PredicateType: r.kind, Created: r.at})
		return err
	}
	if err := attach(ctx); err != nil {
		return failed(r.doing, about.Pack, StepAttached, "", err)
	}
	err = keptBy(ctx, func(ctx context.Context) error {
		again, err := p.checker().inspect(ctx, found.repo, h.digest)
		if err == nil && !slices.Contains(again.bundles, v.Digest) {
			err = &fault.Error{Kind: ErrLost, Message: fmt.Sprintf("the signed statement about %q was written, and is missing when it is read back", about.Pack),
				Cause: errors.New("another writer may have replaced the list of referrers")}
		}
		return err
	}, attach)
	if err != nil {
		return failed(r.doing, about.Pack, StepVerified, "", err)
	}
	entry := statement.Entry{Kind: r.entry, Manifest: h.digest, Bundle: v.Digest, Environment: r.environment}
	if err := p.enter(ctx, found.repo, about, entry); err != nil {
		return failed(r.doing, about.Pack, StepRecorded, "", err)
	}
	out.Bundle, out.Signer = v.Digest, &v.Signer
	return p.changed(ctx, r.doing, about.Pack, h.digest)
}

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

// Pin moves an environment to a version and records that. The version must be
// usable, or deprecated where Replay says so (ErrRefused); then recheck, which may
// be nil, must find nothing in its bytes. What the environment runs is the newest bundle of
// the version there, which is in the verdict's Build, and the version itself where it has none. The record is attached before the tag
// moves, so that the tag never stands without one; where a run was cut off between
// the two, the next one uses the record that is there. ErrMoved says that somebody
// else moved the environment meanwhile.
func (p *Publisher) Pin(ctx context.Context, c PinChange, recheck func(context.Context, *Verdict, []byte) error) (*PinResult, error) {
	tag, err := registry.PinTag(c.Environment)
	if err != nil {
		return nil, err
	}
	found, err := p.checker().look(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	v := found.verdict
	if err := pinnable(v, c); err != nil {
		return nil, err
	}
	if v.Build, err = p.checker().NewestBuild(ctx, v, c.Environment); err != nil {
		return nil, err
	}
	if v.Build != nil {
		c.bundle = &v.Build.Statement.Version
	}
	if recheck != nil {
		if err := recheck(ctx, v, found.holding.artifact.Content); err != nil {
			return nil, err
		}
	}
	return p.pinTo(ctx, found, tag, c)
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

// pinStanding is where an environment stands before it is moved.
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
	all, err := p.checker().survey(ctx, found.verdict.Pack, request{tags: []string{tag}, digests: []string{found.holding.digest}})
	if err != nil {
		return nil, err
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
			s.record, s.settled = &last.PinRecord, s.digest == h.digest
			return s, nil
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

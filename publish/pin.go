package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
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
}

// PinResult is what became of a pin.
type PinResult struct {
	Pack        string // pack_id@version
	Ref         string // repository:version@digest
	Digest      string // of the manifest
	Environment string
	Previous    string // digest that the environment had before, "" for none
	Bundle      string // digest of the bundle, "" where nothing was signed
	Already     bool   // the environment was there before, and nothing was done
	DryRun      bool
	Signer      *attest.SignerInfo // who signed; nil in a dry run
}

// Pin moves an environment to a version and records that. The version must be
// usable, or deprecated where Replay says so (ErrRefused); then recheck, which may
// be nil, must find nothing in its bytes. The record is attached before the tag
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
	if recheck != nil {
		if err := recheck(ctx, v, found.holding.artifact.Content); err != nil {
			return nil, err
		}
	}
	out := &PinResult{
		Pack: v.Name(), Digest: v.Manifest, Environment: c.Environment, DryRun: p.DryRun,
		Ref: fmt.Sprintf("%s:%s@%s", found.repo.Name(), registry.VersionTag(v.Version), v.Manifest),
	}
	standing, err := p.pinStanding(ctx, found, tag, c.Environment)
	if err != nil {
		return nil, err
	}
	out.Previous, out.Already = standing.digest, standing.settled
	if standing.record != nil {
		signer := standing.record.Signer
		out.Previous, out.Bundle, out.Signer = standing.record.Previous, standing.record.Bundle, &signer
	}
	if out.Already || p.DryRun {
		if p.DryRun && standing.record == nil {
			return out, p.preflight(ctx)
		}
		return out, nil
	}
	if standing.record == nil {
		if err := p.recordPin(ctx, found, c, out); err != nil {
			return nil, err
		}
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
}

// pinStanding reads where an environment stands, and whether a record of the move
// is there already: the one in force, or one that a run left behind that could not
// move the tag. A record that is older than that of the digest which the
// environment has is of an earlier move, and not of this one.
func (p *Publisher) pinStanding(ctx context.Context, found *looked, tag, environment string) (*pinStanding, error) {
	current, err := found.repo.Resolve(ctx, tag)
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return nil, err
	}
	s := &pinStanding{digest: current}
	mine := newestPin(found.holding.pins, environment)
	if current == found.holding.digest {
		all, err := p.checker().survey(ctx, found.repo, found.verdict.Pack, request{known: []*holding{found.holding}})
		if err != nil {
			return nil, err
		}
		if len(all.judgePin(environment, found.holding)) == 0 {
			s.record, s.settled = mine, true
		}
		return s, nil
	}
	if mine == nil || mine.Previous != current {
		return s, nil
	}
	if current != "" {
		h, err := p.checker().inspect(ctx, found.repo, current)
		if err != nil {
			return nil, err
		}
		if theirs := newestPin(h.pins, environment); theirs != nil && !mine.Time.After(theirs.Time) {
			return s, nil
		}
	}
	s.record = mine
	return s, nil
}

func (p *Publisher) recordPin(ctx context.Context, found *looked, c PinChange, out *PinResult) error {
	source, err := statement.Pin{
		Version: found.holding.version, Environment: c.Environment, Previous: out.Previous,
		Actor: c.Actor, Reason: c.Reason, Replay: c.Replay, Time: p.now(),
	}.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement can be made of the pin of %q", found.verdict.Name()), Cause: err}
	}
	s, err := p.record(ctx, pinning, found, statement.TypePin, source)
	if err != nil {
		return err
	}
	signer := s.verified.Signer
	out.Bundle, out.Signer = s.verified.Digest, &signer
	return nil
}

// movePin moves the tag, where it still names what it named when the record was
// made.
func movePin(ctx context.Context, found *looked, tag, previous string) error {
	name := found.verdict.Name()
	now, err := found.repo.Resolve(ctx, tag)
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return failed(pinning, name, StepTagged, "", err)
	}
	moved := func(cause error) error {
		return &fault.Error{
			Kind: ErrMoved, Message: fmt.Sprintf("the tag %q was moved by somebody else meanwhile", tag),
			Hint: "look at where the environment is to be, and pin it again", Cause: cause,
		}
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

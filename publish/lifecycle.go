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
	found, err := p.Checker().look(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	v := found.verdict
	if err := changeable(found, c.Ref, state); err != nil {
		return nil, err
	}
	out := &StateResult{Outcome: p.outcome(found.repo, v), State: state}
	if out.Environments, err = p.Checker().runningIn(ctx, v); err != nil {
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
		again, err := p.Checker().inspect(ctx, found.repo, h.digest)
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

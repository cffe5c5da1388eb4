package publish

import (
	"context"
	"errors"
	"fmt"
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

// StateResult is what became of a change of state.
type StateResult struct {
	Pack    string // pack_id@version
	Ref     string // repository:version@digest
	Digest  string // of the manifest
	State   string
	Bundle  string // digest of the bundle, "" where nothing was signed
	Already bool   // the version was in this state before, and nothing was done
	DryRun  bool
	Signer  *attest.SignerInfo // who signed; nil in a dry run
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
	out := &StateResult{
		Pack: v.Name(), Digest: v.Manifest, State: state, DryRun: p.DryRun,
		Ref: fmt.Sprintf("%s:%s@%s", found.repo.Name(), registry.VersionTag(v.Version), v.Manifest),
	}
	for _, s := range v.States {
		if s.State == state {
			signer := s.Signer
			out.Already, out.Bundle, out.Signer = true, s.Bundle, &signer
			return out, nil
		}
	}
	if p.DryRun {
		return out, p.preflight(ctx)
	}
	source, err := statement.State{
		Version: found.holding.version, State: state, Reason: c.Reason, Actor: c.Actor, Time: p.now(),
	}.Statement()
	if err != nil {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement can be made of the state of %q", v.Name()), Cause: err}
	}
	s, err := p.record(ctx, doing[state], found, statement.TypeState, source)
	if err != nil {
		return nil, err
	}
	signer := s.verified.Signer
	out.Bundle, out.Signer = s.verified.Digest, &signer
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
			return &fault.Error{
				Kind: ErrRefused, Message: fmt.Sprintf("%q names no one digest: %s", v.Name(), r.Message),
				Hint: "name the one that is intended by its digest",
			}
		case r.Kind == ReasonVersion && r.Refuses:
			return &fault.Error{Kind: ErrRefused, Message: r.Message, Hint: "check the reference"}
		}
	}
	return nil
}

// record signs a statement about what a reference names, attaches it there, and
// reads it back.
func (p *Publisher) record(ctx context.Context, doing string, found *looked, kind string, source []byte) (*signature, error) {
	about, h := found.holding.version, found.holding
	s, err := p.sign(ctx, kind, about, source)
	if err != nil {
		return nil, failed(doing, about.Pack, StepSigned, "", err)
	}
	at := registry.Attachment{
		Type: registry.BundleType, Content: s.bundle, PredicateType: kind, Created: statedAt(s.verified),
	}
	if _, err := found.repo.Attach(ctx, h.artifact, at); err != nil {
		return nil, failed(doing, about.Pack, StepAttached, "", err)
	}
	again, err := p.checker().inspect(ctx, found.repo, h.digest)
	if err != nil {
		return nil, failed(doing, about.Pack, StepVerified, "", err)
	}
	for _, has := range again.bundles() {
		if has == s.verified.Digest {
			return s, nil
		}
	}
	return nil, &fault.Error{
		Kind: ErrLost, Message: fmt.Sprintf("the signed statement about %q was written, and is not there when read back", about.Pack),
		Hint: "run it again, and look at the registry where that does not help", Cause: errors.New("another writer may have replaced the list of referrers"),
	}
}

// bundles returns the digests of all trusted bundles.
func (h *holding) bundles() []string {
	var out []string
	for _, s := range h.summaries {
		out = append(out, s.bundle)
	}
	for _, s := range h.states {
		out = append(out, s.Bundle)
	}
	for _, p := range h.pins {
		out = append(out, p.Bundle)
	}
	return out
}

// statedAt returns the time that a statement itself names, so that the same bundle
// always makes the same attachment; zero where it names none.
func statedAt(v *attest.Verified) time.Time {
	if s, err := v.Statement.State(); err == nil {
		return s.Time
	}
	if p, err := v.Statement.Pin(); err == nil {
		return p.Time
	}
	return time.Time{}
}

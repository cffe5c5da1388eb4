package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// holding is what a registry holds under one manifest digest, as far as it can be
// believed.
type holding struct {
	digest   string
	artifact *registry.Artifact // nil where there is a problem
	problem  *Reason            // why there is no artifact
	// version is what statements about the artifact must speak of.
	version   statement.Version
	summaries []signedSummary // of the trusted identity, the first one signed first
	states    []StateRecord
	pins      []PinRecord
	odd       []Reason // bundles that count for nothing, and what else is strange
	reports   []string // digests of the gate reports
}

// signedSummary is a trusted statement that the version passed the gates.
type signedSummary struct {
	summary *statement.Summary
	signer  attest.SignerInfo
	time    time.Time
	bundle  string // digest of its bytes
	source  []byte
}

// signed tells whether a trusted statement says that the version passed.
func (h *holding) signed() bool { return len(h.summaries) > 0 }

// revoked tells whether a trusted statement revoked it.
func (h *holding) revoked() bool {
	s := stateOf(h.states)
	return s != nil && s.State == statement.StateRevoked
}

// inspect reads what the registry holds under a digest. Whatever the registry
// serves that cannot be believed becomes a reason; the error is for what could not
// be looked at.
func (c *Checker) inspect(ctx context.Context, repo *registry.Repository, digest string) (*holding, error) {
	h := &holding{digest: digest}
	a, err := repo.Pull(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	attachments, err := repo.Attachments(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	h.hold(a)
	for _, at := range attachments {
		switch at.Type {
		case registry.ReportType:
			h.reports = append(h.reports, string(pack.DigestOf(at.Content)))
		case registry.BundleType:
			h.read(c.Verifier, at)
		}
	}
	h.order()
	return h, nil
}

// problemOf returns the reason for an error that is the answer, and nil for one
// that is none.
func problemOf(digest string, err error) *Reason {
	r := Reason{Digest: digest, Refuses: true, Cause: err}
	switch {
	case errors.Is(err, registry.ErrNotFound):
		r.Kind, r.Message = ReasonNotPublished, fmt.Sprintf("the registry has no manifest %s", digest)
		r.Hint = "check the digest and the registry"
	case errors.Is(err, registry.ErrContent):
		r.Kind, r.Message = ReasonBytes, "the registry does not serve what the digest names"
		r.Hint = "do not use it, and look at who can write to the registry"
	case errors.Is(err, registry.ErrForeign):
		r.Kind, r.Message = ReasonForeign, "what the registry holds is no context pack"
		r.Hint = "check the reference"
	default:
		return nil
	}
	if r.Kind != ReasonNotPublished {
		r.Message += ": " + err.Error()
	}
	return &r
}

// hold takes an artifact whose digests are those of its bytes.
func (h *holding) hold(a *registry.Artifact) {
	h.artifact = a
	h.version = statement.Version{Pack: nameOf(a.Pack, a.Version), Manifest: a.Digest, Content: a.ContentDigest}
	found, err := nameIn(a.Content)
	switch {
	case err != nil:
		h.odd = append(h.odd, Reason{Kind: ReasonForeign, Digest: h.digest, Refuses: true, Cause: err,
			Message: fmt.Sprintf("the content of %q is no pack: %v", h.version.Pack, err)})
	case found != h.version.Pack:
		h.odd = append(h.odd, Reason{Kind: ReasonVersion, Digest: h.digest, Refuses: true,
			Message: fmt.Sprintf("the pack says that it is %q, and its manifest that it is %q", found, h.version.Pack)})
	}
}

// read takes one bundle: into its list where it is trusted and speaks of the
// artifact, else among the odd ones.
func (h *holding) read(verifier *attest.Verifier, at registry.Attachment) {
	odd := func(kind ReasonKind, err error, format string, args ...any) {
		h.odd = append(h.odd, Reason{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: fault.Hint(err), Digest: at.Digest, Cause: err})
	}
	v, err := verifier.Verify(at.Content)
	if err != nil {
		odd(ReasonSignature, err, "a bundle is not trusted: %v", err)
		return
	}
	if found := v.Statement.Version(); found != h.version {
		odd(ReasonSubject, errors.New("other subjects"), "a signed statement speaks of %s", differs(found, h.version))
		return
	}
	if err := h.take(v, at.Content); err != nil {
		odd(ReasonSubject, err, "a signed statement cannot be read: %v", err)
	}
}

// differs says in which member a statement's version is not the wanted one.
func differs(found, want statement.Version) string {
	switch {
	case found.Pack != want.Pack:
		return fmt.Sprintf("%q, not of %q", found.Pack, want.Pack)
	case found.Manifest != want.Manifest:
		return fmt.Sprintf("the manifest %s, not of %s", found.Manifest, want.Manifest)
	}
	return fmt.Sprintf("content %s, not of %s", found.Content, want.Content)
}

// take sorts a trusted statement about the artifact into its list.
func (h *holding) take(v *attest.Verified, source []byte) error {
	switch v.Statement.Type {
	case statement.TypeSummary:
		s, err := v.Statement.Summary()
		if err != nil {
			return err
		}
		h.summaries = append(h.summaries, signedSummary{
			summary: s, signer: v.Signer, time: signedAt(v, s.Time), bundle: v.Digest, source: source,
		})
	case statement.TypeState:
		s, err := v.Statement.State()
		if err != nil {
			return err
		}
		h.states = append(h.states, StateRecord{
			State: s.State, Reason: s.Reason, Actor: s.Actor, Time: signedAt(v, s.Time), Signer: v.Signer, Bundle: v.Digest,
		})
	case statement.TypePin:
		p, err := v.Statement.Pin()
		if err != nil {
			return err
		}
		h.pins = append(h.pins, PinRecord{
			Environment: p.Environment, Previous: p.Previous, Actor: p.Actor, Reason: p.Reason, Replay: p.Replay,
			Time: signedAt(v, p.Time), Signer: v.Signer, Bundle: v.Digest, Manifest: h.digest,
		})
	default:
		return fmt.Errorf("type %q is not one of packgate's", v.Statement.Type)
	}
	return nil
}

// signedAt returns when a statement was signed: the time that a service vouches
// for, and the signer's own where there is no such service.
func signedAt(v *attest.Verified, said time.Time) time.Time {
	if v.Time.IsZero() {
		return said
	}
	return v.Time
}

// order sorts by time, and by digest where two are of one time, so that the same
// registry always gives the same answer.
func (h *holding) order() {
	slices.SortFunc(h.summaries, func(a, b signedSummary) int {
		return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.bundle, b.bundle))
	})
	slices.SortFunc(h.states, func(a, b StateRecord) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Bundle, b.Bundle))
	})
	slices.SortFunc(h.pins, func(a, b PinRecord) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Bundle, b.Bundle))
	})
}

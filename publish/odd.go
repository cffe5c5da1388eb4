package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// errOtherType says that a statement is of a type that this version of packgate does not know.
var errOtherType = errors.New("is not one of packgate's")

// read takes one bundle: into its list where it is trusted and speaks of the
// artifact, else among the odd ones.
func (h *holding) read(verifier *attest.Verifier, at registry.Attachment) {
	odd := func(kind ReasonKind, err error, format string, args ...any) Reason {
		return Reason{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: fault.Hint(err), Digest: at.Digest, Cause: err}
	}
	v, err := verifier.Verify(at.Content)
	if err != nil {
		h.odd = append(h.odd, unverified(verifier.Claim(at.Content), odd(ReasonOtherSigner, err, "a bundle is not trusted: %v", err)))
		return
	}
	if found := v.Statement.Version(); found != h.version {
		h.odd = append(h.odd, odd(ReasonSubject, errors.New("other subjects"), "a signed statement is about %s", differs(found, h.version)).failing())
		return
	}
	switch err := h.take(v, at.Content); {
	case errors.Is(err, errOtherType):
		h.odd = append(h.odd, odd(ReasonOtherType, err, "a signed statement cannot be read: %v", err))
	case err != nil:
		h.odd = append(h.odd, odd(ReasonSubject, err, "a signed statement cannot be read: %v", err).failing())
	}
}

// unverified returns the reason for a bundle that does not verify. A bundle that names another
// identity, or none, counts for nothing. One that names the trusted identity was changed after it
// was signed, or made up, so an audit fails for it; and it may say that the version is revoked.
func unverified(claim attest.Claim, r Reason) Reason {
	if !claim.Ours {
		return r
	}
	r.Kind, r.Refuses = ReasonSignature, claim.MayBeState()
	r.Hint = "check who can write to the registry; revoke the version again if it is revoked; otherwise delete the bundle"
	return r.failing()
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

// baselines looks for the versions that the signed statements about a version were compared with,
// and returns a reason for each that is not there.
func (c *Checker) baselines(ctx context.Context, h *holding) (out []Reason, err error) {
	var seen []statement.Baseline
	for _, s := range h.summaries {
		b := s.summary.Baseline
		if b == nil || slices.Contains(seen, *b) {
			continue
		}
		seen = append(seen, *b)
		found, err := c.baseline(ctx, *b)
		if err != nil {
			return nil, err
		}
		if found == "" {
			continue
		}
		out = append(out, ReasonBaseline.explains(b.Manifest, "restore it from a copy, and check who can delete from the registry",
			"the version that it was compared with, %q, is missing: %s", b.Pack, found).failing())
	}
	return out, nil
}

// baseline says what is wrong with what the registry has of a baseline, "" for nothing.
func (c *Checker) baseline(ctx context.Context, b statement.Baseline) (string, error) {
	id, version, _ := strings.Cut(b.Pack, "@")
	repo, err := c.Registry.Repository(id)
	if err != nil {
		return "", err
	}
	a, err := repo.Pull(ctx, b.Manifest)
	if problem := problemOf(b.Manifest, err); problem != nil {
		return problem.Message, nil
	}
	switch {
	case err != nil:
		return "", err
	case a.Version != version:
		return fmt.Sprintf("its digest is of version %s", a.Version), nil
	case a.ContentDigest != b.Content:
		return fmt.Sprintf("its content is %s, wanted %s", a.ContentDigest, b.Content), nil
	}
	return "", nil
}

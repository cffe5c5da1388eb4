package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/report/model"
)

// stopped notes why a version is not published, and what that means for the run.
func (p *publication) stopped(out model.Publication, err error) model.Publication {
	var unfinished *publish.Unfinished
	out.Status, out.Reasons = model.PublicationRefused, problemsOf(err)
	switch {
	case errors.Is(err, errGated):
		out.Reasons = []model.Problem{{Message: err.Error(), Hint: "fix what they found, which the report lists"}}
	case errors.As(err, &unfinished), exitCode(err) == gating.ExitFailure && !refusal(err):
		out.Status = model.PublicationUnfinished
		p.Broken = max(p.Broken, gating.ExitFailure)
	case refusal(err):
	default:
		p.Broken = max(p.Broken, exitCode(err))
	}
	return out
}

// refusal reports whether an error is a decision against a version, and no failure.
func refusal(err error) bool {
	var missing *refusedError
	var collision *publish.Collision
	if errors.As(err, &missing) || errors.As(err, &collision) {
		return true
	}
	// Running it again changes nothing about any of these.
	return slices.ContainsFunc([]error{
		publish.ErrRefused, publish.ErrRevoked, publish.ErrCandidate, registry.ErrName,
		attest.ErrToken, attest.ErrRefusedBySigning, attest.ErrIssuer, attest.ErrWorkflow, attest.ErrRepository, attest.ErrTrigger,
	}, func(kind error) bool { return errors.Is(err, kind) })
}

// done notes what was published.
func (p *publication) done(out model.Publication, r *publish.Result) model.Publication {
	out.Ref, out.Digest, out.Content, out.Bundle = r.Ref, r.Digest, r.Content, r.Bundle
	out.NotChecked = append(out.NotChecked, r.NotChecked...)
	for _, note := range r.Notes {
		p.Notice("%s: %s", out.Pack, note)
	}
	switch {
	case r.DryRun:
		out.Status = model.PublicationWould
		return out
	case r.Already:
		out.Status = model.PublicationAlready
	default:
		out.Status = model.PublicationDone
	}
	if r.Signer != nil {
		out.Signer = signerName(r.Signer)
	}
	out.Signed, out.VerifyOwn = shownTime(r.Signed), p.own(r)
	out.Verify = p.cosign(r)
	return out
}

// own returns the command by which anyone checks a version with packgate, wherever
// that is: it says whose signature counts.
func (p *publication) own(r *publish.Result) string {
	command := "packgate verify " + r.Ref
	switch {
	case p.house.key != nil:
		return command + " --key public.pem"
	case r.Signer == nil:
		return command
	case r.Signer.Issuer != githubIssuer:
		command += " --issuer " + shellWord(r.Signer.Issuer)
	}
	command += " --workflow " + shellWord(r.Signer.Workflow)
	if p.house.private() {
		command += " --trusted-root trusted_root.json"
	}
	return command
}

// signerName returns what names a signer for a person: the workflow, or the key.
func signerName(s *attest.SignerInfo) string { return cmp.Or(s.Workflow, s.Key) }

// cosign returns the command by which anyone checks a version without packgate; ""
// for a folder, and for a version that a key signed.
func (p *publication) cosign(r *publish.Result) string {
	if p.house.key != nil || r.Signer == nil || p.publisher.Registry.Local() {
		return ""
	}
	repository, _, _ := strings.Cut(r.Ref, "@")
	repository = repository[:strings.LastIndex(repository, ":")]
	command := fmt.Sprintf("cosign verify-attestation --type %s --certificate-oidc-issuer %s --certificate-identity %s",
		statement.TypeSummary, shellWord(r.Signer.Issuer), shellWord(r.Signer.Workflow))
	if p.house.private() {
		command += " --trusted-root trusted_root.json"
	}
	return command + " " + repository + "@" + r.Digest
}

// private reports whether a Sigstore of one's own is in use.
func (h *signingHouse) private() bool {
	return h.options.trustedRoot != "" || h.config.Publish.TrustedRoot.Value != ""
}

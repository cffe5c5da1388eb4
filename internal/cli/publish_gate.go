package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// errGated says that the gates stand against a version; the report has what they
// found.
var errGated = errors.New("the gates do not pass")

// gated puts a version through the gates, compared with the published version before
// it, asks for its reviews, and returns what is to be published. What becomes known
// on the way is noted in out.
func (p *publication) gated(ctx context.Context, s *candidate, out *model.Publication) (*publish.Candidate, error) {
	before, diff, err := p.before(ctx, s)
	if err != nil {
		return nil, err
	}
	subject := p.w.Subject(s.unit)
	judged := p.judge(ctx, subject, diff)
	if err := diff.Contradicted(); err != nil {
		return nil, err
	}
	if judged.Result = p.Add(judged); judged.Result != model.Passed {
		return nil, errGated
	}
	c := &publish.Candidate{
		Content: s.unit.Document.Source, Class: classOfDiff(diff), Tool: p.env.Version, Rules: gates.RulesVersion,
		Pack: s.unit.Pack.PackMeta.PackID.Value, Version: s.unit.Pack.PackMeta.PackVersion.Value,
	}
	if before != nil {
		c.Baseline = &statement.Baseline{Pack: before.Pack + "@" + before.Version, Manifest: before.Manifest, Content: before.Content}
		out.Baseline = &model.Published{Pack: c.Baseline.Pack, Digest: c.Baseline.Manifest}
	}
	if doc := p.w.Config.Document; doc != nil {
		c.Config = string(pack.DigestOf(doc.Source))
	}
	out.Class = c.Class
	if c.Source, err = p.reviews.source(s.name, c.Content); err != nil {
		return nil, err
	}
	if err := p.reviews.ask(ctx, c, before, out); err != nil {
		return nil, err
	}
	c.Report, err = p.gateReport(judged)
	return c, err
}

// judge runs the gates over a pack, with what differs from the version before it.
func (p *publication) judge(ctx context.Context, subject *gate.Subject, diff *diffing.Diff) model.Pack {
	var outside []finding.Finding
	if diff != nil {
		outside = diff.Findings()
	}
	return build.NewPack(subject, gates.Run(subject, p.policy, outside...), gating.Step(ctx, diff, subject), nil)
}

// before returns the published version that a pack is compared with, and what
// differs; nothing for the first version of a pack.
func (p *publication) before(ctx context.Context, s *candidate) (*publish.Verdict, *diffing.Diff, error) {
	if s.found == nil {
		return nil, nil, nil // no version, which the gates say
	}
	meta := &s.unit.Pack.PackMeta
	checker := &publish.Checker{Registry: p.publisher.Registry, Verifier: p.publisher.Verifier}
	before, content, err := checker.Baseline(ctx, meta.PackID.Value, meta.PackVersion.Value)
	if err != nil || before == nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("%s@%s", before.Pack, before.Version)
	document, faults := pack.Read(name, content, p.w.Config.Limits)
	if len(faults) > 0 {
		return nil, nil, gating.OfSide("the published version "+name, repo.Unreadable(faults))
	}
	document.Revision = before.Manifest
	diff, err := diffing.Compare(pack.New(document), s.unit.Pack, p.overrides)
	if err != nil {
		return nil, nil, fmt.Errorf("compare with the published version %s: %w", name, err)
	}
	return before, diff, nil
}

// classOfDiff returns the class under which a version is published.
func classOfDiff(d *diffing.Diff) string {
	if d == nil {
		return statement.ClassInitial
	}
	return max(d.Class, diffing.Patch).String()
}

// gateReport returns the JSON report of one pack as it is attached to its version: a
// function of the pack and of what it was judged by, so that the same pack makes the
// same report.
func (p *publication) gateReport(judged model.Pack) ([]byte, error) {
	r := newRun(p.env, "publish", gating.FailOnError)
	r.Report.Packs = model.PacksOf(judged)
	r.Settle()
	var b bytes.Buffer
	err := model.JSON(&b, r.Report)
	return b.Bytes(), err
}

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

// refusal reports whether an error is a decision against a version, and not a
// failure to make one.
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

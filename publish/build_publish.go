package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// BuildCandidate is what a version is in one environment, with what its statement is to say.
// Content is the version's own bytes, as they are published: a bundle is of those and of
// no other.
type BuildCandidate struct {
	Candidate
	Environment       string
	Resolved, Catalog []byte
	Sources           []statement.SourceFile
}

// build returns the bundle as a registry holds it.
func (c BuildCandidate) build() (*registry.Build, error) {
	of, err := artifactOf(c.Pack, c.Version, c.Content)
	if err != nil {
		return nil, err
	}
	if found, err := nameIn(c.Resolved); err != nil || found != c.name() {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the pack that is resolved for the environment %q says that it is %q, wanted %q", c.Environment, found, c.name()), Cause: err}
	}
	return registry.NewBuild(of, c.Environment, c.Resolved, c.Catalog)
}

// BuildResult is what became of a bundle.
type BuildResult struct {
	Outcome
	Name       statement.BuildName
	Content    string // digest of the resolved pack
	Signed     time.Time
	Notes      []string
	NotChecked []string
}

// buildJob is the publishing of one bundle.
type buildJob struct {
	*Publisher
	BuildCandidate
	*BuildStanding
	repo     *registry.Repository
	result   *BuildResult
	report   []byte
	attached bool
	state    string
}

// PublishBuild signs the bundle of a version and puts it into the registry, as Publish does
// with a version: it may be run again at any point, finishes what was begun, overwrites
// nothing, and fails with a *Collision where another publisher took the same revision. The
// version itself must be published with these very bytes, and verify (ErrRefused).
func (p *Publisher) PublishBuild(ctx context.Context, c BuildCandidate) (*BuildResult, error) {
	s, err := p.BuildStanding(ctx, c)
	if err != nil {
		return nil, failed("publishing", c.name(), StepPacked, "", err)
	}
	repo, err := p.Registry.Repository(c.Pack)
	if err != nil {
		return nil, err
	}
	j := &buildJob{Publisher: p, BuildCandidate: c, BuildStanding: s, repo: repo, report: c.Report, result: &BuildResult{
		Name: s.Name, Content: s.Build.ContentDigest, Outcome: Outcome{Pack: s.Name.String(), Ref: s.Ref, Digest: s.Build.Digest, DryRun: p.DryRun}}}
	if s.Kind == Same {
		j.result.Already = true
		j.use(s.made)
		return j.result, j.State.remove(s.Name.String())
	}
	steps := []struct {
		name Step
		do   func(context.Context) error
	}{
		{StepPacked, j.ofVersion}, {StepSigned, j.sign}, {StepPushed, func(ctx context.Context) error { return repo.PushBuild(ctx, s.Build) }},
		{StepAttached, j.attach}, {StepVerified, j.readBack}, {StepTagged, j.tag},
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return nil, failed("publishing", s.Name.String(), step.name, j.state, err)
		}
		if p.DryRun && step.name == StepSigned {
			return j.result, nil
		}
	}
	if err := p.State.remove(s.Name.String()); err != nil {
		j.note(err.Error())
	}
	return j.result, nil
}

func (j *buildJob) note(text string) { j.result.Notes = append(j.result.Notes, text) }

func (j *buildJob) use(b *Build) {
	j.made, j.result.Bundle, j.result.Signer, j.result.Signed = b, b.Signing.Bundle, &b.Signer, b.Time
}

// ofVersion makes sure that the version is published with the bytes that the bundle is of. In
// a dry run it may be about to be.
func (j *buildJob) ofVersion(ctx context.Context) error {
	v, err := j.checker().Verify(ctx, registry.Ref{Pack: j.Pack, Version: j.Candidate.Version}, nil)
	switch {
	case err != nil:
		return err
	case v.Manifest == j.Build.Of && (v.Status == Usable || v.Status == Deprecated):
		return nil
	case j.DryRun && v.Manifest == "":
		return nil
	case v.Manifest != j.Build.Of && v.Manifest != "":
		return &Collision{Pack: j.name(), Wanted: j.Build.Of, Found: v.Manifest, Tag: j.Candidate.Version}
	}
	return refusedBy(v, fmt.Sprintf("the environment %q has no bundle of %q", j.Environment, j.name()))
}

// about returns of what the statement speaks.
func (j *buildJob) about() statement.Version {
	return statement.Version{Pack: j.Name.String(), Manifest: j.Build.Digest, Content: j.Build.ContentDigest}
}

// sign finds a statement that speaks for the bundle, in the registry or in the saved state,
// or makes one.
func (j *buildJob) sign(ctx context.Context) error {
	if j.made != nil && j.haveReport(j.made, j.reports) {
		j.use(j.made)
		j.attached = true
		return nil
	}
	if j.made = nil; j.signedAndSaved() {
		return nil
	}
	if j.DryRun {
		return j.preflight(ctx)
	}
	of, err := artifactOf(j.Pack, j.Candidate.Version, j.Content)
	if err != nil {
		return err
	}
	source, err := statement.Build{
		Summary: statement.Summary{
			Version: j.about(), Resource: j.repo.Name(), Tool: j.Tool, Rules: j.Rules, Config: j.Config, Class: j.Class, Checks: j.Checks, Baseline: j.Baseline,
			Approvals: j.Approvals, PullRequest: j.PullRequest, Report: string(pack.DigestOf(j.Report)), Source: j.Source, Time: j.now(),
		},
		Of: statement.Version{Pack: j.name(), Manifest: of.Digest, Content: of.ContentDigest}, Sequence: j.sequence, Sources: j.Sources,
	}.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement can be made of %q", j.Name), Cause: err}
	}
	bundle, v, err := j.Publisher.sign(ctx, statement.TypeBundle, j.about(), source)
	if err != nil {
		return err
	}
	s, err := v.Statement.Build()
	if err != nil {
		return err
	}
	j.source = bundle
	j.use(&Build{Name: j.Name, Statement: s, Resolved: j.Resolved, Catalog: j.BuildCandidate.Catalog, Signing: signing(v, s.Time)})
	j.state, err = j.State.save(saved{Pack: j.Name.String(), Manifest: j.Build.Digest, Bundle: bundle, Report: j.Report})
	if err != nil {
		j.note(err.Error()) // the next run signs again, where this one is cut off
	}
	return nil
}

// haveReport tells whether the report that a statement names is in the registry, or else at
// hand, which it then is what is attached.
func (j *buildJob) haveReport(b *Build, there []string) bool {
	digest := b.Statement.Report
	if slices.Contains(there, digest) {
		j.report = nil
		return true
	}
	if string(pack.DigestOf(j.report)) == digest {
		return true
	}
	kept, _ := j.State.load(j.Name.String(), &j.Build.Artifact)
	if kept != nil && string(pack.DigestOf(kept.Report)) == digest {
		j.report = kept.Report
		return true
	}
	return false
}

// signedAndSaved takes a statement that an earlier run signed and could not publish.
func (j *buildJob) signedAndSaved() bool {
	kept, note := j.State.load(j.Name.String(), &j.Build.Artifact)
	if note != "" {
		j.note(note)
	}
	if kept == nil {
		return false
	}
	v, err := j.Verifier.Verify(kept.Bundle)
	if err == nil && v.Statement.Version() != j.about() {
		err = errors.New("it speaks of " + differs(v.Statement.Version(), j.about()))
	}
	var s *statement.Build
	if err == nil {
		s, err = v.Statement.Build()
	}
	switch {
	case err != nil:
	case s.Report != string(pack.DigestOf(kept.Report)):
		err = fmt.Errorf("it names the report %s, and the one kept with it is another one", s.Report)
	case s.Sequence != j.sequence:
		err = errors.New("another bundle of the environment was published since")
	}
	if err != nil {
		j.note("the saved bundle is not used: " + err.Error())
		return false
	}
	j.source, j.report = kept.Bundle, kept.Report
	j.use(&Build{Name: j.Name, Statement: s, Resolved: j.Resolved, Catalog: j.BuildCandidate.Catalog, Signing: signing(v, s.Time)})
	j.state, _ = j.State.file(j.Name.String())
	return true
}

// attach puts the report and then the statement beside the bundle.
func (j *buildJob) attach(ctx context.Context) error {
	to := &j.Build.Artifact
	if j.report != nil {
		if _, err := j.repo.Attach(ctx, to, registry.Attachment{Type: registry.ReportType, Content: j.report}); err != nil {
			return err
		}
	}
	if j.attached {
		return nil
	}
	_, err := j.repo.Attach(ctx, to, registry.Attachment{Type: registry.BundleType, Content: j.source, PredicateType: statement.TypeBundle, Created: j.made.Statement.Time})
	return err
}

// readBack reads what was written, as a stranger would.
func (j *buildJob) readBack(ctx context.Context) error {
	h, err := j.checker().inspectBuild(ctx, j.repo, j.Build.Digest)
	if err != nil {
		return err
	}
	lost := func(what string) error {
		return &fault.Error{Kind: ErrLost, Message: fmt.Sprintf("%q was written, and read back %s", j.Name, what)}
	}
	switch {
	case h.problem != nil:
		return lost("it was not right: " + h.problem.Message)
	case !bytes.Equal(h.build.Content, j.Resolved) || !bytes.Equal(h.build.Catalog, j.BuildCandidate.Catalog):
		return lost("it has other bytes")
	case h.named(j.Name.Revision) == nil:
		return lost("its signature is not there")
	case !slices.Contains(h.reports, h.named(j.Name.Revision).Statement.Report):
		return lost("its report is not there")
	}
	j.use(h.named(j.Name.Revision))
	return nil
}

// tag puts the tag of the manifest and then that of the revision, and looks for another
// publisher before and after each, as publishing a version does.
func (j *buildJob) tag(ctx context.Context) error {
	place := registry.BuildTag{Version: j.Build.Version, Environment: j.Environment, Revision: j.Name.Revision}
	for _, t := range []registry.BuildTag{place.At(j.Build.Digest), place} {
		if err := j.unclaimed(ctx, place); err != nil {
			return err
		}
		err := j.repo.Tag(ctx, j.Build.Digest, t.String())
		if errors.Is(err, registry.ErrMoved) {
			found, resolveErr := j.repo.Resolve(ctx, t.String())
			if resolveErr != nil {
				return errors.Join(err, resolveErr)
			}
			if found == j.Build.Digest {
				continue // moved back by a publisher of the same bytes
			}
			return j.collision(t, found)
		}
		if err != nil {
			return err
		}
	}
	return j.unclaimed(ctx, place)
}

func (j *buildJob) collision(t registry.BuildTag, found string) error {
	return &Collision{Pack: j.Name.String(), Wanted: j.Build.Digest, Found: found, Tag: t.String(), Race: true}
}

// unclaimed refuses where a tag of the revision names another digest.
func (j *buildJob) unclaimed(ctx context.Context, place registry.BuildTag) error {
	tags, err := j.repo.Tags(ctx)
	if err != nil {
		return err
	}
	for _, text := range append(tags, place.String()) {
		t, ours := registry.ReadBuildTag(text)
		if !ours || t.Place() != place {
			continue
		}
		found, err := resolve(ctx, j.repo, text)
		if err != nil {
			return err
		}
		if found != "" && found != j.Build.Digest {
			return j.collision(t, found)
		}
	}
	return nil
}

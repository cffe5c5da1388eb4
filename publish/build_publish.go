package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
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

// build returns the bundle as a registry holds it, and the version that it is of.
func (c BuildCandidate) build() (*registry.Build, *registry.Artifact, error) {
	of, err := artifactOf(c.Pack, c.Version, c.Content)
	if err != nil {
		return nil, nil, err
	}
	if found, err := nameIn(c.Resolved); err != nil || found != c.name() {
		return nil, nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the pack resolved for the environment %q says that it is %q, wanted %q", c.Environment, found, c.name()), Cause: err}
	}
	b, err := registry.NewBuild(of, c.Environment, c.Resolved, c.Catalog)
	return b, of, err
}

// buildJob is the publishing of one bundle.
type buildJob struct {
	upload
	*BuildStanding
	candidate BuildCandidate
}

// PublishBuild signs the bundle of a version and puts it into the registry, as Publish does
// with a version: it may be run again at any point, finishes what was begun, overwrites
// nothing, and fails with a *Collision where another publisher took the same revision. The
// version itself must be published with these very bytes, and verify (ErrRefused). The name
// of the result's Pack is that of the bundle.
func (p *Publisher) PublishBuild(ctx context.Context, c BuildCandidate) (*Result, error) {
	s, err := p.BuildStanding(ctx, c)
	if err != nil {
		return nil, failed("publishing", c.name(), StepPacked, "", err)
	}
	repo, err := p.Registry.Repository(c.Pack)
	if err != nil {
		return nil, err
	}
	j := &buildJob{BuildStanding: s, candidate: c, upload: upload{
		Publisher: p, Candidate: c.Candidate, repo: repo, artifact: &s.Build.Artifact, report: c.Report, kind: statement.TypeBundle, of: s.Build.Of,
		about:  statement.Version{Pack: s.Name.String(), Manifest: s.Build.Digest, Content: s.Build.ContentDigest},
		result: &Result{Content: s.Build.ContentDigest, Outcome: Outcome{Pack: s.Name.String(), Ref: s.Ref, Digest: s.Build.Digest, DryRun: p.DryRun}}}}
	j.way = j
	return j.run(ctx)
}

// free makes sure that the version is published with the bytes that the bundle is of. In a
// dry run it may be about to be.
func (j *buildJob) free(ctx context.Context) error {
	if j.result.Already = j.Kind == Same; j.result.Already {
		j.use(j.made.signedSummary())
		return nil
	}
	v, err := j.Checker().Verify(ctx, registry.Ref{Pack: j.Pack, Version: j.Candidate.Version}, nil)
	switch {
	case err != nil:
		return err
	case v.Manifest == j.of && (v.Status == Usable || v.Status == Deprecated):
		return nil
	case j.DryRun && v.Status == Untrusted && (v.Manifest == "" || v.Manifest == j.of):
		return nil // it may be about to be published, or signed
	case v.Manifest != j.of && v.Manifest != "":
		return &Collision{Pack: j.name(), Wanted: j.of, Found: v.Manifest, Tag: j.Candidate.Version}
	}
	return refusedBy(v, fmt.Sprintf("the environment %q has no bundle of %q", j.candidate.Environment, j.name()))
}

func (j *buildJob) before(context.Context) (signed []signedSummary, reports []string, err error) {
	if j.made != nil {
		signed = append(signed, j.made.signedSummary())
	}
	return signed, j.reports, nil
}

func (j *buildJob) statement() ([]byte, error) {
	return statement.Build{Summary: j.summary(), Of: j.version, Sequence: j.sequence, Sources: j.candidate.Sources}.Statement()
}

func (j *buildJob) read(v *attest.Verified, source []byte) (signedSummary, error) {
	s, err := v.Statement.Build()
	if err != nil {
		return signedSummary{}, err
	}
	if s.Sequence != j.sequence {
		return signedSummary{}, errors.New("another bundle of the environment was published in the meantime")
	}
	return signedSummary{signing(v, s.Time), &s.Summary, source}, nil
}

func (j *buildJob) entry() (statement.Version, statement.Entry) {
	return j.version, statement.Entry{Kind: statement.KindBundle, Environment: j.Name.Environment}
}

func (j *buildJob) push(ctx context.Context) error { return j.repo.PushBuild(ctx, j.Build) }

func (j *buildJob) there(ctx context.Context) (signed []signedSummary, reports []string, problem *Reason, err error) {
	h, err := j.Checker().inspectBuild(ctx, j.repo, j.artifact.Digest)
	if err != nil {
		return nil, nil, nil, err
	}
	if h.problem == nil && (!bytes.Equal(h.build.Content, j.candidate.Resolved) || !bytes.Equal(h.build.Catalog, j.candidate.Catalog)) {
		h.problem = otherBytes(h.digest)
	}
	if newest := h.named(j.Name.Revision); newest != nil {
		signed = append(signed, newest.signedSummary())
	}
	return signed, h.reports, h.problem, nil
}

// place returns the tag of the revision.
func (j *buildJob) place() registry.BuildTag {
	return registry.BuildTag{Version: j.Build.Version, Environment: j.candidate.Environment, Revision: j.Name.Revision}
}

func (j *buildJob) tags() (own, place string) {
	return j.place().At(j.artifact.Digest).String(), j.place().String()
}

func (j *buildJob) unclaimed(ctx context.Context) ([]string, error) {
	tags, err := j.repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range append(tags, j.place().String()) {
		t, ours := registry.ReadBuildTag(text)
		if !ours || t.Place() != j.place() {
			continue
		}
		found, err := resolve(ctx, j.repo, text)
		if err != nil {
			return nil, err
		}
		if found != "" && found != j.artifact.Digest {
			return nil, j.collision(text, found, true)
		}
	}
	return tags, nil
}

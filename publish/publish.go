package publish

import (
	"bytes"
	"context"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Publish signs a candidate and puts it into the registry. It may be run again at
// any point and finishes the job: what is there is not made again, and a version
// that is there with the same bytes and verifies is left alone. Nothing is overwritten: it
// fails with a *Collision where the version is there with different content, and with an
// *Unfinished, which says how far it came, where a service was not available. Any
// other error is of no use to try again.
func (p *Publisher) Publish(ctx context.Context, c Candidate) (*Result, error) {
	a, err := c.artifact()
	if err != nil {
		return nil, err
	}
	repo, err := p.Registry.Repository(c.Pack)
	if err != nil {
		return nil, err
	}
	j := &job{upload{
		Publisher: p, Candidate: c, repo: repo, artifact: a, report: c.Report, kind: statement.TypeSummary, of: a.Digest,
		about:  statement.Version{Pack: c.name(), Manifest: a.Digest, Content: a.ContentDigest},
		result: &Result{Outcome: p.outcome(repo, &Verdict{Pack: c.Pack, Version: c.Version, Manifest: a.Digest}), Content: a.ContentDigest},
	}}
	j.way = j
	return j.run(ctx)
}

// Settled tells whether a version that is there is published: it verifies, whatever its state.
// It is not where nobody signed it, so that it still has to be. The error is of kind ErrRefused where
// something else keeps it from being trusted, which publishing would not change.
func (p *Publisher) Settled(ctx context.Context, packID, version string) (bool, error) {
	v, err := p.Checker().Verify(ctx, registry.Ref{Pack: packID, Version: version}, nil)
	if err != nil {
		return false, err
	}
	if v.Status != Untrusted {
		return true, nil
	}
	for _, r := range v.Reasons {
		if r.Refuses && r.Kind != ReasonUnsigned {
			return false, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%q is in the registry with these bytes, and does not verify: %s", v.Name(), r.Message), Hint: r.Hint}
		}
	}
	return false, nil
}

// job is the publishing of one version.
type job struct{ upload }

func (j *job) free(ctx context.Context) error {
	if _, err := j.claimed(ctx, false); err != nil || j.result.Already {
		return err
	}
	return j.Checker().otherwise(ctx, j.Pack, j.Version, j.artifact.Digest)
}

func (j *job) unclaimed(ctx context.Context) ([]string, error) { return j.claimed(ctx, true) }

// claimed refuses where a tag of the version names another digest, and returns the
// tags that are listed. Of a content tag that is only where the digest is not revoked;
// whether it is signed is not asked: it may be about to be. Race says that it was not
// there when publishing began.
func (j *job) claimed(ctx context.Context, race bool) (tags []string, err error) {
	at, err := standing(ctx, j.repo, j.artifact)
	switch {
	case err != nil:
		return nil, err
	case at.Kind == Other:
		return nil, j.collision(j.Version, at.Found, race)
	case at.Kind == Same && !race:
		if j.result.Already, err = j.Settled(ctx, j.Pack, j.Version); err != nil || j.result.Already {
			return nil, err
		}
	}
	if tags, err = j.repo.Tags(ctx); err != nil {
		return nil, err
	}
	for _, text := range tags {
		if t, _ := registry.ReadTag(text); !t.Content || t.Version != j.Version {
			continue
		}
		found, err := resolve(ctx, j.repo, text)
		if err != nil {
			return nil, err
		}
		if found == "" || found == j.artifact.Digest { // deleted since it was listed, or our own
			continue
		}
		h, err := j.Checker().inspect(ctx, j.repo, found)
		if err != nil {
			return nil, err
		}
		if !h.revoked() {
			return nil, j.collision(text, found, race)
		}
	}
	return tags, nil
}

func (j *job) before(ctx context.Context) ([]signedSummary, []string, error) {
	h, err := j.Checker().inspect(ctx, j.repo, j.artifact.Digest)
	switch {
	case err != nil:
		return nil, nil, err
	case h.revoked():
		return nil, nil, &fault.Error{Kind: ErrRevoked, Message: fmt.Sprintf("the content of %q was revoked: %s", j.name(), stateOf(h.states).Reason)}
	case h.problem != nil && h.problem.Kind != ReasonNotPublished:
		return nil, nil, h.problem.Cause
	}
	return h.summaries, h.reports, nil
}

func (j *job) statement() ([]byte, error) { return j.summary().Statement() }

func (j *job) read(v *attest.Verified, source []byte) (signedSummary, error) {
	return summaryOf(v, source)
}

func (j *job) entry() (statement.Version, statement.Entry) {
	return j.about, statement.Entry{Kind: statement.KindPublish}
}

func (j *job) push(ctx context.Context) error { return j.repo.Push(ctx, j.artifact) }

func (j *job) there(ctx context.Context) ([]signedSummary, []string, *Reason, error) {
	h, err := j.Checker().inspect(ctx, j.repo, j.artifact.Digest)
	if err != nil {
		return nil, nil, nil, err
	}
	if h.problem == nil && !bytes.Equal(h.artifact.Content, j.Content) {
		h.problem = otherBytes(h.digest)
	}
	return h.summaries, h.reports, h.problem, nil
}

// otherBytes is the reason for what has other bytes than were written.
func otherBytes(digest string) *Reason {
	r := ReasonBytes.refuses(digest, "", "it has other bytes")
	return &r
}

func (j *job) tags() (own, place string) {
	return registry.ContentTag(j.Version, j.artifact.Digest), j.Version
}

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

// Result is what became of one candidate.
type Result struct {
	Outcome
	Content    string    // digest of the pack's bytes
	Steps      []Step    // those that stand at the end, done by this run or found done
	Signed     time.Time // when it was signed; zero where Signer is nil
	Notes      []string  // Notes say what was found and not used, such as a damaged file of saved state
	NotChecked []string  // says what could not be looked at
}

// job is the publishing of one candidate.
type job struct {
	*Publisher
	Candidate
	repo     *registry.Repository
	artifact *registry.Artifact
	about    statement.Version
	result   *Result
	report   []byte // what is attached: the one that the signed statement names
	signed   signedSummary
	attached bool   // whether the bundle is in the registry
	state    string // file of the saved state, "" where there is none
}

// Publish signs a candidate and puts it into the registry. It may be run again at
// any point and finishes the job: what is there is not made again, and a version
// that is there with the same bytes and verifies is left alone. Nothing is overwritten: it
// fails with a *Collision where the version is there with other bytes, and with an
// *Unfinished, which says how far it came, where a service was not available. Any
// other error is of no use to try again.
func (p *Publisher) Publish(ctx context.Context, c Candidate) (*Result, error) {
	j, err := p.job(c)
	if err != nil {
		return nil, err
	}
	steps := []struct {
		name Step
		do   func(context.Context) error
	}{
		{StepPacked, func(ctx context.Context) error { _, err := j.unclaimed(ctx, false); return err }}, {StepSigned, j.sign},
		{StepPushed, func(ctx context.Context) error { return j.repo.Push(ctx, j.artifact) }}, // under no tag yet
		{StepAttached, j.attach}, {StepVerified, j.readBack}, {StepTagged, j.tag},
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return nil, failed("publishing", c.name(), step.name, j.state, err)
		}
		if j.result.Already {
			break
		}
		if p.DryRun && step.name == StepSigned {
			return j.result, nil
		}
		j.result.Steps = append(j.result.Steps, step.name)
	}
	if p.DryRun {
		return j.result, nil
	}
	if err := p.State.remove(c.name()); err != nil {
		j.note(err.Error()) // the version is published; the file is ignored from now on
	}
	if err := p.changed(ctx, "publishing", c.name(), j.artifact.Digest); err != nil {
		return nil, err
	}
	return j.result, nil
}

// Settled tells whether a version that is there is published: it verifies, whatever its state.
// It is not where nobody signed it, so that it still has to be. The error is of kind ErrRefused where
// something else keeps it from being trusted, which publishing would not change.
func (p *Publisher) Settled(ctx context.Context, packID, version string) (bool, error) {
	v, err := p.checker().Verify(ctx, registry.Ref{Pack: packID, Version: version}, nil)
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

func (p *Publisher) job(c Candidate) (*job, error) {
	a, err := c.artifact()
	if err != nil {
		return nil, err
	}
	repo, err := p.Registry.Repository(c.Pack)
	if err != nil {
		return nil, err
	}
	return &job{
		Publisher: p, Candidate: c, repo: repo, artifact: a, report: c.Report,
		about:  statement.Version{Pack: c.name(), Manifest: a.Digest, Content: a.ContentDigest},
		result: &Result{Outcome: p.outcome(repo, &Verdict{Pack: c.Pack, Version: c.Version, Manifest: a.Digest}), Content: a.ContentDigest},
	}, nil
}

func (j *job) note(text string) { j.result.Notes = append(j.result.Notes, text) }

func (j *job) collision(tag, found string, race bool) error {
	return &Collision{Pack: j.name(), Wanted: j.artifact.Digest, Found: found, Tag: tag, Race: race}
}

// unclaimed refuses where a tag of the version names another digest, and returns the
// tags that are listed. Of a content tag that is only where the digest is not revoked;
// whether it is signed is not asked: it may be about to be. Race says that it was not
// there when publishing began.
func (j *job) unclaimed(ctx context.Context, race bool) (tags []string, err error) {
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
		h, err := j.checker().inspect(ctx, j.repo, found)
		if err != nil {
			return nil, err
		}
		if !h.revoked() {
			return nil, j.collision(text, found, race)
		}
	}
	return tags, nil
}

// sign finds a bundle that speaks for the candidate, in the registry or in the
// saved state, or makes one.
func (j *job) sign(ctx context.Context) error {
	if done, err := j.signedBefore(ctx); done || err != nil {
		return err
	}
	if j.signedAndSaved() {
		return nil
	}
	if j.DryRun {
		return j.preflight(ctx)
	}
	source, err := statement.Summary{
		Version: j.about, Resource: j.repo.Name(), Tool: j.Tool, Rules: j.Rules, Config: j.Config, Class: j.Class,
		Checks: j.Checks, Baseline: j.Baseline, Approvals: j.Approvals, PullRequest: j.PullRequest,
		Report: string(pack.DigestOf(j.Report)), Source: j.Source, Time: j.now(),
	}.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement can be made of %q", j.name()), Cause: err}
	}
	bundle, v, err := j.Publisher.sign(ctx, statement.TypeSummary, j.about, source)
	if err != nil {
		return err
	}
	s, err := summaryOf(v, bundle)
	if err != nil {
		return err
	}
	j.use(s)
	j.state, err = j.State.save(saved{Pack: j.name(), Manifest: j.artifact.Digest, Bundle: bundle, Report: j.Report})
	if err != nil {
		j.note(err.Error()) // the next run signs again, where this one is cut off
	}
	return nil
}

// use takes a summary as the one that speaks for the candidate.
func (j *job) use(s signedSummary) {
	j.signed, j.result.Bundle, j.result.Signer, j.result.Signed = s, s.Bundle, &s.Signer, s.Time
}

// signedBefore takes a bundle that an earlier run left in the registry. It must
// have its gate report there, or else the report must be at hand: a bundle whose
// report is lost is replaced by a new one.
func (j *job) signedBefore(ctx context.Context) (done bool, err error) {
	h, err := j.checker().inspect(ctx, j.repo, j.artifact.Digest)
	switch {
	case err != nil:
		return false, err
	case h.revoked():
		return false, &fault.Error{Kind: ErrRevoked, Message: fmt.Sprintf("the content of %q was revoked: %s", j.name(), stateOf(h.states).Reason)}
	case h.problem != nil && h.problem.Kind != ReasonNotPublished:
		return false, h.problem.Cause
	}
	for _, s := range h.summaries {
		if report, ok := j.reportOf(s, h); ok {
			j.use(s)
			j.report, j.attached = report, true
			return true, nil
		}
	}
	return false, nil
}

// reportOf returns the bytes of the report that a summary names, nil where they are
// in the registry.
func (j *job) reportOf(s signedSummary, h *holding) (report []byte, ok bool) {
	if slices.Contains(h.reports, s.summary.Report) {
		return nil, true
	}
	if string(pack.DigestOf(j.Report)) == s.summary.Report {
		return j.Report, true
	}
	kept, _ := j.State.load(j.name(), j.artifact)
	if kept != nil && string(pack.DigestOf(kept.Report)) == s.summary.Report {
		return kept.Report, true
	}
	return nil, false
}

// signedAndSaved takes a bundle that an earlier run signed and could not publish.
func (j *job) signedAndSaved() bool {
	kept, note := j.State.load(j.name(), j.artifact)
	if note != "" {
		j.note(note)
	}
	if kept == nil {
		return false
	}
	v, err := j.Verifier.Verify(kept.Bundle)
	if err == nil && v.Statement.Version() != j.about {
		err = errors.New("the bundle speaks of " + differs(v.Statement.Version(), j.about))
	}
	var s signedSummary
	if err == nil {
		s, err = summaryOf(v, kept.Bundle)
	}
	if digest := string(pack.DigestOf(kept.Report)); err == nil && s.summary.Report != digest {
		err = fmt.Errorf("the bundle names the report %s, and the one kept with it is %s", s.summary.Report, digest)
	}
	if err != nil {
		j.note("the saved bundle is not used: " + err.Error())
		return false
	}
	j.use(s)
	j.report = kept.Report
	j.state, _ = j.State.file(j.name())
	return true
}

// attach puts the report and then the bundle beside the manifest, so that a bundle
// never names a report that was not there.
func (j *job) attach(ctx context.Context) error {
	if j.report != nil {
		if _, err := j.repo.Attach(ctx, j.artifact, registry.Attachment{Type: registry.ReportType, Content: j.report}); err != nil {
			return err
		}
	}
	if j.attached {
		return nil
	}
	_, err := j.repo.Attach(ctx, j.artifact, registry.Attachment{
		Type: registry.BundleType, Content: j.signed.source, PredicateType: statement.TypeSummary, Created: j.signed.summary.Time,
	})
	return err
}

// attachAgain is how often a signature that other writers took off the list is put back.
const attachAgain = 3

// readBack reads what was written, as a stranger would. Where other writers took it off the
// list of referrers in the meantime, it is put back.
func (j *job) readBack(ctx context.Context) (err error) {
	for range attachAgain {
		if err = j.readOnce(ctx); !errors.Is(err, ErrLost) {
			return err
		}
		j.attached = false
		if again := j.attach(ctx); again != nil {
			return again
		}
	}
	return j.readOnce(ctx)
}

func (j *job) readOnce(ctx context.Context) error {
	h, err := j.checker().inspect(ctx, j.repo, j.artifact.Digest)
	if err != nil {
		return err
	}
	lost := func(what string) error {
		return &fault.Error{Kind: ErrLost, Message: fmt.Sprintf("%q was written, and read back %s", j.name(), what)}
	}
	switch {
	case h.problem != nil:
		return lost("it was not right: " + h.problem.Message)
	case !bytes.Equal(h.artifact.Content, j.Content):
		return lost("it has other bytes")
	case len(h.summaries) == 0:
		return lost("its signature is not there")
	}
	at := slices.IndexFunc(h.summaries, func(s signedSummary) bool { return s.Bundle == j.result.Bundle })
	if at < 0 {
		// Another publisher of the same bytes was listed in place of this one: what it
		// signed says the same.
		at = slices.IndexFunc(h.summaries, func(s signedSummary) bool { return slices.Contains(h.reports, s.summary.Report) })
	}
	if at < 0 || !slices.Contains(h.reports, h.summaries[at].summary.Report) {
		return lost("its gate report is not there")
	}
	j.use(h.summaries[at])
	return nil
}

// tag puts the content tag and then the version tag. It looks for another publisher
// before and after each: two of them both leave a content tag before either looks
// for the last time, so that at least one of them sees the other.
func (j *job) tag(ctx context.Context) error {
	content := registry.ContentTag(j.Version, j.artifact.Digest)
	for _, tag := range []string{content, j.Version} {
		if _, err := j.unclaimed(ctx, true); err != nil {
			return err
		}
		if err := j.put(ctx, tag); err != nil {
			return err
		}
	}
	tags, err := j.unclaimed(ctx, true)
	if err != nil {
		return err
	}
	if !slices.Contains(tags, content) {
		j.result.NotChecked = append(j.result.NotChecked, notListed(content))
	}
	return nil
}

// put writes one tag.
func (j *job) put(ctx context.Context, tag string) error {
	err := j.repo.Tag(ctx, j.artifact.Digest, tag)
	if !errors.Is(err, registry.ErrMoved) {
		return err
	}
	found, resolveErr := j.repo.Resolve(ctx, tag)
	if resolveErr != nil {
		return errors.Join(err, resolveErr)
	}
	if found == j.artifact.Digest {
		return nil // moved back by a publisher of the same bytes
	}
	return j.collision(tag, found, true)
}

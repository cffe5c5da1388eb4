package publish

import (
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

// Result is what became of one candidate.
type Result struct {
	Outcome
	Content    string    // digest of the pack's bytes; of a bundle, of the resolved pack's
	Steps      []Step    // those that are at the end, done by this run or found done
	Signed     time.Time // when it was signed; zero where Signer is nil
	Notes      []string  // Notes say what was found and not used, such as a damaged file of saved state
	NotChecked []string  // says what could not be looked at
}

// upload is the way of a manifest, and of what is signed about it, into the registry.
type upload struct {
	*Publisher
	Candidate
	way      way
	repo     *registry.Repository
	artifact *registry.Artifact
	kind     string            // type of the statement
	about    statement.Version // of what it has to speak
	of       string            // digest of the version's manifest
	result   *Result
	report   []byte // what is attached: the one that the signed statement names; nil where it is there
	signed   signedSummary
	state    string // file of the saved state, "" where there is none
}

// way is what a version and a bundle of one do each in its own way.
type way interface {
	// free refuses where something else has the name, or keeps it from being published. It
	// notes in the result where it is published already.
	free(ctx context.Context) error
	// before returns what an earlier run signed, and the digests of the reports that are there.
	before(ctx context.Context) ([]signedSummary, []string, error)
	// statement returns what is to be signed.
	statement() ([]byte, error)
	// read reads a statement that was signed, where it still says what is to be said.
	read(v *attest.Verified, source []byte) (signedSummary, error)
	push(ctx context.Context) error
	// entry returns the version, and what the pack's history names without the statement.
	entry() (of statement.Version, e statement.Entry)
	// there returns what is signed by what the registry has, and the digests of the reports;
	// the reason says that it has something else.
	there(ctx context.Context) ([]signedSummary, []string, *Reason, error)
	// tags returns the tag of the manifest alone, and that of the name.
	tags() (own, place string)
	// unclaimed refuses where a tag of the name names another digest, and returns the tags that
	// are listed.
	unclaimed(ctx context.Context) ([]string, error)
}

// run takes all steps that are not done.
func (u *upload) run(ctx context.Context) (*Result, error) {
	steps := []struct {
		name Step
		do   func(context.Context) error
	}{
		{StepPacked, u.way.free}, {StepSigned, u.sign}, {StepPushed, u.way.push}, // under no tag yet
		{StepAttached, u.attach}, {StepVerified, u.readBack}, {StepRecorded, u.enter}, {StepTagged, u.tag},
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return nil, failed("publishing", u.about.Pack, step.name, u.state, err)
		}
		if u.result.Already {
			break
		}
		if u.DryRun && step.name == StepSigned {
			return u.result, nil
		}
		u.result.Steps = append(u.result.Steps, step.name)
	}
	if u.DryRun {
		return u.result, nil
	}
	if err := u.State.remove(u.about.Pack); err != nil {
		u.note(err.Error()) // it is published; the file is ignored from now on
	}
	if err := u.changed(ctx, "publishing", u.about.Pack, u.of); err != nil {
		return nil, err
	}
	return u.result, nil
}

func (u *upload) note(text string) { u.result.Notes = append(u.result.Notes, text) }

// use takes a statement as the one that speaks for the candidate.
func (u *upload) use(s signedSummary) {
	u.signed, u.result.Bundle, u.result.Signer, u.result.Signed = s, s.Bundle, &s.Signer, s.Time
}

// sign finds a statement that speaks for the candidate, in the registry or in the saved
// state, or makes one.
func (u *upload) sign(ctx context.Context) error {
	signed, reports, err := u.way.before(ctx)
	if err != nil {
		return err
	}
	for _, s := range signed {
		if report, ok := u.reportOf(s, reports); ok {
			u.use(s)
			u.report = report
			return nil
		}
	}
	if u.signedAndSaved() {
		return nil
	}
	if u.DryRun {
		return u.preflight(ctx)
	}
	source, err := u.way.statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("no statement about %q can be made", u.about.Pack), Cause: err}
	}
	bundle, v, err := u.Publisher.sign(ctx, u.kind, u.about, source)
	if err != nil {
		return err
	}
	s, err := u.way.read(v, bundle)
	if err != nil {
		return err
	}
	u.use(s)
	u.state, err = u.State.save(saved{Pack: u.about.Pack, Manifest: u.artifact.Digest, Bundle: bundle, Report: u.report})
	if err != nil {
		u.note(err.Error()) // the next run signs again, where this one is cut off
	}
	return nil
}

// reportOf returns the bytes of the report that a statement names, nil where they are in the
// registry. A statement whose report is lost is replaced by a new one.
func (u *upload) reportOf(s signedSummary, there []string) (report []byte, ok bool) {
	if slices.Contains(there, s.summary.Report) {
		return nil, true
	}
	if string(pack.DigestOf(u.report)) == s.summary.Report {
		return u.report, true
	}
	kept, _ := u.State.load(u.about.Pack, u.artifact)
	if kept != nil && string(pack.DigestOf(kept.Report)) == s.summary.Report {
		return kept.Report, true
	}
	return nil, false
}

// signedAndSaved takes a statement that an earlier run signed and could not publish.
func (u *upload) signedAndSaved() bool {
	kept, note := u.State.load(u.about.Pack, u.artifact)
	if note != "" {
		u.note(note)
	}
	if kept == nil {
		return false
	}
	v, err := u.Verifier.Verify(kept.Bundle)
	if err == nil && v.Statement.Version() != u.about {
		err = errors.New("the bundle is about " + differs(v.Statement.Version(), u.about))
	}
	var s signedSummary
	if err == nil {
		s, err = u.way.read(v, kept.Bundle)
	}
	if digest := string(pack.DigestOf(kept.Report)); err == nil && s.summary.Report != digest {
		err = fmt.Errorf("the bundle names the report %s, and the one kept with it is %s", s.summary.Report, digest)
	}
	if err != nil {
		u.note("the saved bundle is not used: " + err.Error())
		return false
	}
	u.use(s)
	u.report = kept.Report
	u.state, _ = u.State.file(u.about.Pack)
	return true
}

// attach puts the report and then the statement beside the manifest, so that a statement
// never names a report that was not there.
func (u *upload) attach(ctx context.Context) error {
	if u.report != nil {
		if _, err := u.repo.Attach(ctx, u.artifact, registry.Attachment{Type: registry.ReportType, Content: u.report}); err != nil {
			return err
		}
	}
	_, err := u.repo.Attach(ctx, u.artifact, registry.Attachment{
		Type: registry.BundleType, Content: u.signed.source, PredicateType: u.kind, Created: u.signed.summary.Time,
	})
	return err
}

// attachAgain is how often a signature that other writers took off the list is put back.
const attachAgain = 3

// keptBy looks at what was attached. Where other writers took it off the list of referrers
// meanwhile (ErrLost), it is put back.
func keptBy(ctx context.Context, look, attach func(context.Context) error) (err error) {
	for range attachAgain {
		if err = look(ctx); !errors.Is(err, ErrLost) {
			return err
		}
		switch again := attach(ctx); {
		case errors.Is(again, registry.ErrMoved):
			return err // it is taken off again and again
		case again != nil:
			return again
		}
	}
	return look(ctx)
}

// readBack reads what was written, as a stranger would.
func (u *upload) readBack(ctx context.Context) error {
	return keptBy(ctx, func(ctx context.Context) error {
		signed, reports, problem, err := u.way.there(ctx)
		if err != nil {
			return err
		}
		lost := func(what string) error {
			return &fault.Error{Kind: ErrLost, Message: fmt.Sprintf("%q was written, and when it was read back, %s", u.about.Pack, what)}
		}
		switch {
		case problem != nil:
			return lost("this was wrong: " + problem.Message)
		case len(signed) == 0:
			return lost("its signature was missing")
		}
		at := slices.IndexFunc(signed, func(s signedSummary) bool { return s.Bundle == u.result.Bundle })
		if at < 0 {
			// Another publisher of the same bytes was listed in place of this one: what it
			// signed says the same.
			at = slices.IndexFunc(signed, func(s signedSummary) bool { return slices.Contains(reports, s.summary.Report) })
		}
		if at < 0 || !slices.Contains(reports, signed[at].summary.Report) {
			return lost("its gate report was missing")
		}
		u.use(signed[at])
		return nil
	}, u.attach)
}

// enter puts the statement into the history, before any tag names what it is about: what is
// published is in it.
func (u *upload) enter(ctx context.Context) error {
	of, e := u.way.entry()
	e.Manifest, e.Bundle = u.artifact.Digest, u.signed.Bundle
	return u.Publisher.enter(ctx, u.repo, of, e)
}

// tag puts the tag of the manifest and then that of the name. It looks for another publisher
// before and after each: two of them both leave a tag of their own before either looks for
// the last time, so that at least one of them sees the other.
func (u *upload) tag(ctx context.Context) error {
	own, place := u.way.tags()
	for _, tag := range []string{own, place} {
		if _, err := u.way.unclaimed(ctx); err != nil {
			return err
		}
		if err := u.put(ctx, tag); err != nil {
			return err
		}
	}
	tags, err := u.way.unclaimed(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(tags, own) {
		u.result.NotChecked = append(u.result.NotChecked, notListed(own))
	}
	return nil
}

// put writes one tag.
func (u *upload) put(ctx context.Context, tag string) error {
	err := u.repo.Tag(ctx, u.artifact.Digest, tag)
	if !errors.Is(err, registry.ErrMoved) {
		return err
	}
	found, resolveErr := u.repo.Resolve(ctx, tag)
	if resolveErr != nil {
		return errors.Join(err, resolveErr)
	}
	if found == u.artifact.Digest {
		return nil // moved back by a publisher of the same bytes
	}
	return u.collision(tag, found, true)
}

func (u *upload) collision(tag, found string, race bool) error {
	return &Collision{Pack: u.about.Pack, Wanted: u.artifact.Digest, Found: found, Tag: tag, Race: race}
}

// summary returns what the statement says that a version and a bundle have in common.
func (u *upload) summary() statement.Summary {
	return statement.Summary{
		Version: u.about, Resource: u.repo.Name(), Tool: u.Tool, Rules: u.Rules, Config: u.Config, Class: u.Class,
		Checks: u.Checks, Notes: u.Notes, Accepted: u.Accepted, Baseline: u.Baseline, Approvals: u.Approvals, PullRequest: u.PullRequest,
		Report: string(pack.DigestOf(u.report)), Source: u.Source, Time: u.now(),
	}
}

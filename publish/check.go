package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding/fault"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Checker answers questions about what is published. It only reads.
type Checker struct {
	Registry *registry.Registry // not needed by VerifyBundle
	Verifier *attest.Verifier
	// Freshness is what has to be known of the registry before a version is used; nil where
	// nothing is configured, which Verify and Fetch then list as not checked.
	Freshness *FreshnessPolicy
	Now       func() time.Time // nil for time.Now

	records *knownRecords // nil for none
}

// Verify says what the version is that a reference names: a version, a digest, or
// an environment. Where content is not nil, it must be the bytes of that version.
// A version that is absent, unsigned or not what it is said to be is an answer, of
// status Untrusted with its reasons; the error is for what could not be looked at,
// and for a reference that this registry cannot answer (ErrRef).
func (c *Checker) Verify(ctx context.Context, ref registry.Ref, content []byte) (*Verdict, error) {
	found, err := c.look(ctx, ref)
	if err != nil {
		return nil, err
	}
	v := found.verdict
	if content != nil {
		if err := c.file(ctx, v, content); err != nil {
			return nil, err
		}
	}
	if err := c.freshen(ctx, v); err != nil {
		return nil, err
	}
	return v.settle(), nil
}

// Fetch returns the verdict on a reference and the bytes of the version that the registry
// holds there, which are those that the verdict's Content names. They are nil where the
// registry has none; that they are not nil says nothing about the status. What an
// environment makes of them is in the verdict's Build.
func (c *Checker) Fetch(ctx context.Context, ref registry.Ref) (*Verdict, []byte, error) {
	found, err := c.look(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if err := c.freshen(ctx, found.verdict); err != nil {
		return nil, nil, err
	}
	return found.verdict.settle(), found.content(), nil
}

// looked is what a reference names.
type looked struct {
	verdict *Verdict
	holding *holding // nil where the reference names nothing
	repo    *registry.Repository
	survey  *survey // nil where nothing else had to be read
}

// content returns the bytes that the registry holds, nil where it has none.
func (l *looked) content() []byte {
	if l.holding == nil || l.holding.artifact == nil {
		return nil
	}
	return l.holding.artifact.Content
}

// look reads what a reference names and all that bears on it.
func (c *Checker) look(ctx context.Context, ref registry.Ref) (*looked, error) {
	if ref.Registry != "" && ref.Registry != c.Registry.String() {
		return nil, &fault.Error{Kind: ErrRef, Message: fmt.Sprintf("the reference names the registry %q, and packgate has opened %q", ref.Registry, c.Registry)}
	}
	repo, err := c.Registry.Repository(ref.Pack)
	if err != nil {
		return nil, err
	}
	var found *looked
	tag, _ := registry.ReadTag(ref.Tag)
	if bundle, ok := ref.Build(); ok {
		found, err = c.lookBuild(ctx, repo, ref, bundle)
	} else if version := cmp.Or(ref.Version, tag.Version); version == "" && tag.Environment != "" {
		found, err = c.lookPin(ctx, ref, tag.Environment)
	} else {
		found, err = c.lookVersion(ctx, repo, ref, version)
	}
	if err != nil {
		return nil, err
	}
	found.repo, found.verdict.Ref = repo, ref
	return found, nil
}

// lookVersion reads a version by its tag, by its digest, or by both.
func (c *Checker) lookVersion(ctx context.Context, repo *registry.Repository, ref registry.Ref, version string) (*looked, error) {
	digest, q := ref.Digest, request{version: version}
	if digest != "" {
		h, err := c.inspect(ctx, repo, digest)
		if err != nil {
			return nil, err
		}
		if version == "" && h.artifact != nil {
			version = h.artifact.Version
		}
		q.known = append(q.known, h)
		if version == "" { // nothing is there that could be of any version
			v := &Verdict{Pack: ref.Pack, Manifest: digest, Reasons: []Reason{*h.problem}}
			return &looked{verdict: v.settle(), holding: h}, nil
		}
	}
	q.version, q.tags = version, []string{version}
	if ref.Tag != "" {
		q.tags = append(q.tags, ref.Tag)
	}
	s, err := c.survey(ctx, ref.Pack, q)
	if err != nil {
		return nil, err
	}
	if digest == "" {
		digest = s.tags[cmp.Or(ref.Tag, version)]
	}
	if digest == "" {
		return &looked{verdict: s.absent(version)}, nil
	}
	h := s.holdings[digest]
	v := s.judge(version, h)
	if named := s.tags[ref.Tag]; ref.Digest != "" && named != "" && named != ref.Digest {
		v.add(moved(ref.Tag, named, ref.Digest))
	}
	if ref.Version == "" && ref.Tag == "" {
		v.alone()
	}
	return &looked{verdict: v.settle(), holding: h}, nil
}

// absent is the verdict on a version that has no tag.
func (s *survey) absent(version string) *Verdict {
	v := &Verdict{Pack: s.pack, Version: version}
	signed := slices.DeleteFunc(s.digestsOf(version), func(digest string) bool {
		h := s.holdings[digest]
		return !s.of(h, version) || h.revoked()
	})
	if len(signed) == 0 {
		v.add(ReasonNotPublished.refuses("", "check the version and the registry", "%q has no %q", s.repo.Name(), v.Name()))
		return v.settle()
	}
	v.add(ReasonNotPublished.refuses(signed[0], "publish it again",
		"%q has no tag for %q, although %s of it is signed: publishing was not finished, or the tag was deleted", s.repo.Name(), v.Name(), signed[0]))
	if len(signed) > 1 {
		v.add(conflict(v, signed[0], signed[1]))
	}
	return v.settle()
}

// lookPin reads the version that an environment is pinned to. All versions of the
// pack are read, since the newest record may be at any of them.
func (c *Checker) lookPin(ctx context.Context, ref registry.Ref, environment string) (*looked, error) {
	q := request{tags: []string{ref.Tag}}
	if ref.Digest != "" {
		q.digests = []string{ref.Digest}
	}
	s, err := c.survey(ctx, ref.Pack, q)
	if err != nil {
		return nil, err
	}
	named := s.tags[ref.Tag]
	h := s.holdings[cmp.Or(ref.Digest, named)]
	if named == "" || h.artifact == nil {
		why := ReasonNotPublished.refuses("", "pin the environment first", "%q has no pin of the environment %q", s.repo.Name(), environment)
		if named != "" {
			why = *h.problem
		}
		v := &Verdict{Pack: ref.Pack, Manifest: named, Reasons: []Reason{why}}
		return &looked{verdict: v.settle(), holding: h, survey: s}, nil
	}
	v := s.judge(h.artifact.Version, h)
	if named != h.digest {
		v.add(moved(ref.Tag, named, h.digest))
	}
	v.add(s.judgePin(environment, h)...)
	v.add(s.judgeHistory(environment, h)...)
	if err := c.runs(ctx, s.repo, v, newestPin(h.pins, environment)); err != nil {
		return nil, err
	}
	return &looked{verdict: v.settle(), holding: h, survey: s}, nil
}

// VerifyBundle says whether a bundle signs the content of a file as a version that
// passed the gates. It asks nobody, so that what only a registry knows is listed
// as not checked.
func (c *Checker) VerifyBundle(content, bundle []byte) (*Verdict, error) {
	v := &Verdict{Content: string(pack.DigestOf(content)), NotChecked: []string{
		"whether it is deprecated or revoked: no registry was asked",
		"whether another digest of this version is signed: no registry was asked",
	}}
	refuse := func(kind ReasonKind, err error, format string, args ...any) (*Verdict, error) {
		v.add(Reason{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: fault.Hint(err), Digest: string(pack.DigestOf(bundle)), Refuses: true, Cause: err})
		return v.settle(), nil
	}
	named, err := nameIn(content)
	if err != nil {
		return refuse(ReasonForeign, err, "the file is not a pack: %v", err)
	}
	v.Pack, v.Version, _ = strings.Cut(named, "@")
	signed, err := c.Verifier.Verify(bundle)
	if err != nil {
		return refuse(ReasonSignature, err, "the bundle is not trusted: %v", err)
	}
	if signed.Statement.Type == statement.TypeBundle {
		if err := signedBuild(v, signed, named); err != nil {
			return refuse(ReasonSubject, err, "the bundle is of another file: %v", err)
		}
		return v.settle(), nil
	}
	about := signed.Statement.Version()
	v.Manifest = about.Manifest
	if about.Content != v.Content || about.Pack != named {
		want := statement.Version{Pack: named, Manifest: about.Manifest, Content: v.Content}
		return refuse(ReasonSubject, &fault.Error{Kind: ErrRefused, Message: "other subjects", Hint: "give the bundle of this version, and the file as it was published"}, "the signed statement is about %s", differs(about, want))
	}
	summary, err := summaryOf(signed, bundle)
	if err != nil {
		return refuse(ReasonSubject, err, "the bundle does not say that the pack passed the checks: %v", err)
	}
	v.sign(summary)
	return v.settle(), nil
}

// Baseline returns the verdict on the version that the next one is compared with,
// and its bytes: the highest published version below the given one that is not
// revoked. It returns nil where there is none. Where that version is not trusted,
// the error is of kind ErrRefused: passing it over would compare with an older
// version, and so might let through what the newer one had forbidden. So it is where
// the history names a later version whose tag is missing.
func (c *Checker) Baseline(ctx context.Context, packID, version string) (*Verdict, []byte, error) {
	v, content, err := c.below(ctx, packID, version, (*semver.Version).LessThan)
	if err == nil {
		err = c.passedOver(ctx, packID, version, v)
	}
	if err != nil {
		return nil, nil, err
	}
	return v, content, nil
}

// Last is Baseline for a version that may be published itself.
func (c *Checker) Last(ctx context.Context, packID, version string) (*Verdict, []byte, error) {
	return c.below(ctx, packID, version, (*semver.Version).LessThanEqual)
}

// Newest is Baseline for any next version.
func (c *Checker) Newest(ctx context.Context, packID string) (*Verdict, []byte, error) {
	return c.newest(ctx, packID, "the next one", func(*semver.Version) bool { return true })
}

// below returns the highest published version that is below a version, in the sense of a
// comparison.
func (c *Checker) below(ctx context.Context, packID, version string, isBelow func(v, other *semver.Version) bool) (*Verdict, []byte, error) {
	bound, err := semver.StrictNewVersion(version)
	if err != nil {
		return nil, nil, &fault.Error{Kind: ErrRef, Message: fmt.Sprintf("the version is %q, wanted MAJOR.MINOR.PATCH", version), Cause: err}
	}
	return c.newest(ctx, packID, strconv.Quote(version), func(v *semver.Version) bool { return isBelow(v, bound) })
}

// newest returns the highest published version that may be the baseline of another one.
func (c *Checker) newest(ctx context.Context, packID, next string, may func(*semver.Version) bool) (*Verdict, []byte, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, nil, err
	}
	tags, err := repo.Tags(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, published := range slices.Backward(versionsOf(slices.Values(tags), false)) {
		if !may(published) {
			continue
		}
		found, err := c.look(ctx, registry.Ref{Pack: packID, Version: published.String()})
		if err != nil {
			return nil, nil, err
		}
		switch v := found.verdict; {
		case v.Status == Revoked:
			continue
		case v.Status == Untrusted:
			err := refusedBy(v, fmt.Sprintf("%q cannot be the baseline of %s", v.Name(), next))
			err.Hint = "find out who published it, and revoke it if it should not count"
			return nil, nil, err
		}
		return found.verdict, found.content(), nil
	}
	return nil, nil, nil
}

// refusedBy returns the error for a verdict that forbids something.
func refusedBy(v *Verdict, what string) *fault.Error {
	for _, r := range v.Reasons {
		if r.Refuses || v.Status != Untrusted && r.Kind == ReasonState {
			return &fault.Error{Kind: ErrRefused, Message: what + ": " + r.Message, Hint: r.Hint}
		}
	}
	return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%s: it is %s", what, v.Status)}
}

package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
	if content != nil && v.Content != "" {
		if digest := string(pack.DigestOf(content)); digest != v.Content {
			v.add(Reason{
				Kind: ReasonFile, Digest: digest, Refuses: true,
				Message: fmt.Sprintf("the file is %s, and %q is %s", digest, v.Name(), v.Content),
				Hint:    "pull the version, or publish the file under a version of its own",
			})
		}
	}
	return v.settle(), nil
}

// Fetch returns the verdict on a reference and the bytes that the registry holds
// there, which are those that the verdict's Content names. They are nil where the
// registry has none; that they are not nil says nothing about the status.
func (c *Checker) Fetch(ctx context.Context, ref registry.Ref) (*Verdict, []byte, error) {
	found, err := c.look(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if found.holding == nil || found.holding.artifact == nil {
		return found.verdict, nil, nil
	}
	return found.verdict, found.holding.artifact.Content, nil
}

// looked is what a reference names.
type looked struct {
	verdict *Verdict
	holding *holding // nil where the reference names nothing
	survey  *survey
	repo    *registry.Repository
}

// look reads what a reference names and all that bears on it.
func (c *Checker) look(ctx context.Context, ref registry.Ref) (*looked, error) {
	repo, err := c.repository(ref)
	if err != nil {
		return nil, err
	}
	var found *looked
	if environment, version := target(ref); environment != "" {
		found, err = c.lookPin(ctx, repo, ref, environment)
	} else {
		found, err = c.lookVersion(ctx, repo, ref, version)
	}
	if err != nil {
		return nil, err
	}
	found.repo, found.verdict.Ref = repo, ref
	return found, nil
}

// repository returns the repository of a reference, which must be one of the
// registry that is open.
func (c *Checker) repository(ref registry.Ref) (*registry.Repository, error) {
	if ref.Registry != "" && ref.Registry != c.Registry.String() {
		return nil, &fault.Error{Kind: ErrRef, Message: fmt.Sprintf("the reference is of the registry %q, and %q is open", ref.Registry, c.Registry)}
	}
	return c.Registry.Repository(ref.Pack)
}

// target returns the environment or the version that a reference names, neither
// for one by digest alone.
func target(ref registry.Ref) (environment, version string) {
	if t, ok := readTag(ref.Tag); ok && ref.Version == "" {
		return t.environment, t.version
	}
	return "", ref.Version
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
			v := &Verdict{Pack: ref.Pack, Manifest: digest}
			v.add(*h.problem)
			return &looked{verdict: v.settle(), holding: h}, nil
		}
	}
	q.version, q.tags = version, []string{registry.VersionTag(version)}
	if ref.Tag != "" {
		q.tags = append(q.tags, ref.Tag)
	}
	s, err := c.survey(ctx, repo, ref.Pack, q)
	if err != nil {
		return nil, err
	}
	if digest == "" {
		digest = s.tags[cmp.Or(ref.Tag, registry.VersionTag(version))]
	}
	if digest == "" {
		return &looked{verdict: s.absent(version), survey: s}, nil
	}
	h := s.holdings[digest]
	v := s.judge(version, h)
	if named := s.tags[ref.Tag]; ref.Digest != "" && named != "" && named != ref.Digest {
		v.add(moved(ref.Tag, named, ref.Digest))
	}
	return &looked{verdict: v.settle(), holding: h, survey: s}, nil
}

// absent is the verdict on a version that has no tag.
func (s *survey) absent(version string) *Verdict {
	v := &Verdict{Pack: s.pack, Version: version}
	r := Reason{
		Kind: ReasonNotPublished, Refuses: true,
		Message: fmt.Sprintf("%q has no %q", s.repo.Name(), v.Name()),
		Hint:    "check the version and the registry",
	}
	var signed []string
	for _, digest := range s.digestsOf(version) {
		if s.of(s.holdings[digest], version) && !s.revoked(digest) {
			signed = append(signed, digest)
		}
	}
	if len(signed) > 0 {
		r.Digest = signed[0]
		r.Message = fmt.Sprintf("%q has no tag for %q, of which %s is signed: publishing was not finished, or the tag was deleted", s.repo.Name(), v.Name(), signed[0])
		r.Hint = "publish it again"
	}
	v.add(r)
	if len(signed) > 1 {
		v.add(Reason{
			Kind: ReasonConflict, Digest: signed[1], Refuses: true,
			Message: fmt.Sprintf("two digests of %q are signed: %s and %s", v.Name(), signed[0], signed[1]),
			Hint:    "revoke the one that is not to be used, by its digest",
		})
	}
	return v.settle()
}

// lookPin reads the version that an environment is pinned to. All versions of the
// pack are read, since the newest record may be at any of them.
func (c *Checker) lookPin(ctx context.Context, repo *registry.Repository, ref registry.Ref, environment string) (*looked, error) {
	q := request{tags: []string{ref.Tag}}
	if ref.Digest != "" {
		q.digests = []string{ref.Digest}
	}
	s, err := c.survey(ctx, repo, ref.Pack, q)
	if err != nil {
		return nil, err
	}
	named := s.tags[ref.Tag]
	h := s.holdings[cmp.Or(ref.Digest, named)]
	if named == "" || h.artifact == nil {
		v := &Verdict{Pack: ref.Pack, Manifest: named}
		if named == "" {
			v.add(Reason{
				Kind: ReasonNotPublished, Refuses: true,
				Message: fmt.Sprintf("%q has no pin of the environment %q", repo.Name(), environment), Hint: "pin the environment first",
			})
		} else {
			v.add(*h.problem)
		}
		return &looked{verdict: v.settle(), holding: h, survey: s}, nil
	}
	v := s.judge(h.artifact.Version, h)
	if named != h.digest {
		v.add(moved(ref.Tag, named, h.digest))
	}
	v.add(s.judgePin(environment, h)...)
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
		return refuse(ReasonForeign, err, "the file is no pack: %v", err)
	}
	v.Pack, v.Version, _ = strings.Cut(named, "@")
	signed, err := c.Verifier.Verify(bundle)
	if err != nil {
		return refuse(ReasonSignature, err, "the bundle is not trusted: %v", err)
	}
	about := signed.Statement.Version()
	v.Manifest = about.Manifest
	if about.Content != v.Content || about.Pack != named {
		want := statement.Version{Pack: named, Manifest: about.Manifest, Content: v.Content}
		return refuse(ReasonSubject, &fault.Error{Kind: ErrRefused, Message: "other subjects", Hint: "give the bundle of this version, and the file as it was published"}, "the signed statement speaks of %s", differs(about, want))
	}
	summary, err := signed.Statement.Summary()
	if err != nil {
		return refuse(ReasonSubject, err, "the bundle does not say that the pack passed the gates: %v", err)
	}
	v.sign(signedSummary{summary: summary, signer: signed.Signer, time: signedAt(signed, summary.Time), bundle: signed.Digest})
	return v.settle(), nil
}

// Baseline returns the verdict on the version that the next one is compared with,
// and its bytes: the highest published version below the given one that is not
// revoked. It returns nil where there is none. Where that version is not trusted,
// the error is of kind ErrRefused: passing it over would compare with an older
// version, and so might let through what the newer one had forbidden.
func (c *Checker) Baseline(ctx context.Context, packID, version string) (*Verdict, []byte, error) {
	below, err := semver.StrictNewVersion(version)
	if err != nil {
		return nil, nil, &fault.Error{Kind: ErrRef, Message: fmt.Sprintf("the version is %q, wanted MAJOR.MINOR.PATCH", version), Cause: err}
	}
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, nil, err
	}
	tags, err := repo.Tags(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, published := range slices.Backward(versionsOf(tags)) {
		if !published.LessThan(below) {
			continue
		}
		v, content, err := c.Fetch(ctx, registry.Ref{Pack: packID, Version: published.String()})
		switch {
		case err != nil:
			return nil, nil, err
		case v.Status == Revoked:
			continue
		case v.Status == Untrusted:
			err := refusedBy(v, fmt.Sprintf("%q cannot be the baseline of %q", v.Name(), version))
			err.Hint = "find out who published it, and revoke it where it is not to count"
			return nil, nil, err
		}
		return v, content, nil
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

// versionsOf returns the versions that have a version tag, the lowest first.
func versionsOf(tags []string) []*semver.Version {
	var out []*semver.Version
	for _, text := range tags {
		if t, ok := readTag(text); ok && t.version != "" && !t.content {
			if v, err := semver.StrictNewVersion(t.version); err == nil {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, (*semver.Version).Compare)
	return out
}

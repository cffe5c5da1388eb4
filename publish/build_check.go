package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// lookBuild reads a bundle by the tag of its revision or of its manifest, and its version.
func (c *Checker) lookBuild(ctx context.Context, repo *registry.Repository, ref registry.Ref, tag registry.BuildTag) (*looked, error) {
	s, err := c.builds(ctx, ref.Pack, tag.Version, tag.Environment)
	if err != nil {
		return nil, err
	}
	name := statement.BuildName{Pack: nameOf(ref.Pack, tag.Version), Environment: tag.Environment, Revision: tag.Revision}
	digest := s.tags[tag]
	if digest == "" {
		v := &Verdict{Pack: ref.Pack, Version: tag.Version}
		v.add(ReasonNotPublished.refuses("", "check the name; packgate publish numbers the bundles of an environment", "%q has no %q", repo.Name(), name))
		return &looked{verdict: v.settle()}, nil
	}
	found, err := c.lookVersionOf(ctx, repo, ref, s.holdings[digest])
	if err != nil || found.verdict.Manifest == "" {
		return found, err
	}
	v := found.verdict
	v.add(judgeBuild(v, s.holdings[digest], name)...)
	for _, other := range s.rivals(tag.Place(), digest) {
		v.add(ReasonConflict.refuses(other, "publish again: this gives the bundle a new number", "two digests of %q are signed: %s and %s", name, digest, other))
	}
	if ref.Digest != "" && ref.Digest != digest {
		v.add(moved(ref.Tag, digest, ref.Digest))
	}
	v.settle()
	return found, nil
}

// lookVersionOf reads the version that a bundle is of.
func (c *Checker) lookVersionOf(ctx context.Context, repo *registry.Repository, ref registry.Ref, h *buildHolding) (*looked, error) {
	if h.problem != nil {
		v := &Verdict{Pack: ref.Pack, Version: ref.Version, Reasons: []Reason{*h.problem}}
		return &looked{verdict: v.settle()}, nil
	}
	return c.lookVersion(ctx, repo, registry.Ref{Registry: ref.Registry, Pack: ref.Pack, Version: h.build.Version, Digest: h.build.Of}, h.build.Version)
}

// judgeBuild takes the bundle of a name into the verdict on its version, and returns what is
// wrong with it.
func judgeBuild(v *Verdict, h *buildHolding, name statement.BuildName) (out []Reason) {
	if h.problem != nil {
		r := *h.problem
		r.Message = fmt.Sprintf("the bundle %q: %s", name, r.Message)
		return []Reason{r}
	}
	b, out := h.build, h.odd
	refuse := func(kind ReasonKind, hint, format string, args ...any) {
		out = append(out, kind.refuses(h.digest, hint, format, args...))
	}
	const writers = "check who can write to the registry"
	if b.Environment != name.Environment || nameOf(b.Pack, b.Version) != name.Pack {
		refuse(ReasonVersion, writers, "%s is a bundle of %q in the environment %q, not %q", h.digest, nameOf(b.Pack, b.Version), b.Environment, name)
		return out
	}
	if b.Of != v.Manifest {
		refuse(ReasonVersion, writers, "the bundle %q is of the manifest %s, not of %s", name, b.Of, v.Manifest)
	}
	made := h.named(name.Revision)
	if made == nil {
		refuse(ReasonUnsigned, "publish again, or pin another bundle", "no statement of the trusted identity says that the bundle %q passed the checks", name)
		return out
	}
	if of := made.Statement.Of; of.Content != v.Content {
		refuse(ReasonSubject, writers, "the bundle %q is of %s, and its version is %s", name, of.Content, v.Content)
	}
	if !slices.Contains(h.reports, made.Statement.Report) {
		out = append(out, ReasonReport.explains(made.Statement.Report, "look for it among the artifacts of the run that signed it", "the report that the signed statement of %q names is not in the registry", name).failing())
	}
	v.Build = made
	return out
}

// runs takes what an environment runs into the verdict on the version that it is pinned to:
// the bundle that the record names, by its digest. A tag of it that was moved is only said.
func (c *Checker) runs(ctx context.Context, repo *registry.Repository, v *Verdict, pin *PinRecord) error {
	if pin == nil || pin.Runs == nil {
		return nil
	}
	name, _ := statement.ReadBuildName(pin.Runs.Pack)
	h, err := c.inspectBuild(ctx, repo, pin.Runs.Manifest)
	if err != nil {
		return err
	}
	v.add(judgeBuild(v, h, name)...)
	if h.build != nil && h.build.ContentDigest != pin.Runs.Content {
		v.add(ReasonSubject.refuses(h.digest, "pin the environment again", "the record names the resolved pack %s, and the bundle %q has %s", pin.Runs.Content, name, h.build.ContentDigest))
	}
	place := registry.BuildTag{Version: v.Version, Environment: name.Environment, Revision: name.Revision}
	named, err := resolve(ctx, repo, place.String())
	if err != nil {
		return err
	}
	if named != h.digest {
		v.add(ReasonMoved.explains(named, "publish again, and check who can write to the registry", "the tag %q names %s, wanted %s", place, orNone(named), h.digest))
	}
	return nil
}

// byContent looks for a bundle of a version whose resolved pack is a file: the newest one of
// the first environment that has one.
func (c *Checker) byContent(ctx context.Context, v *Verdict, digest string) (*Build, error) {
	s, err := c.builds(ctx, v.Pack, v.Version, "")
	if err != nil {
		return nil, err
	}
	var found *Build
	for _, manifest := range slices.Sorted(maps.Keys(s.holdings)) {
		h := s.holdings[manifest]
		if h.build == nil || h.build.ContentDigest != digest || h.build.Of != v.Manifest {
			continue
		}
		for _, b := range h.signed {
			better := found == nil || b.Name.Environment < found.Name.Environment || b.Name.Environment == found.Name.Environment && b.compareBuild(found) > 0
			if better && b.Statement.Of.Content == v.Content && s.settled(b) && !slices.ContainsFunc(h.odd, func(r Reason) bool { return r.Refuses }) {
				found = b
			}
		}
	}
	return found, nil
}

// file holds a file against what a reference names: the pack that an environment runs, the
// version's own, or what one of its bundles resolves to.
func (c *Checker) file(ctx context.Context, v *Verdict, content []byte) error {
	digest := string(pack.DigestOf(content))
	const hint = "pull the version, or publish the file under a version of its own"
	switch {
	case v.Build != nil && digest != v.Build.Statement.Content:
		v.add(ReasonFile.refuses(digest, hint, "the file is %s, and the bundle %q resolves to %s", digest, v.Build.Name, v.Build.Statement.Content))
	case v.Build != nil || v.Content == "" || digest == v.Content:
	default:
		found, err := c.byContent(ctx, v, digest)
		if err != nil {
			return err
		}
		if v.Build = found; found == nil {
			v.add(ReasonFile.refuses(digest, hint, "the file is %s, and %q is %s", digest, v.Name(), v.Content))
		}
	}
	return nil
}

// signedBuild is VerifyBundle for the statement of an environment's bundle.
func signedBuild(v *Verdict, signed *attest.Verified, named string) error {
	s, err := signed.Statement.Build()
	if err != nil {
		return err
	}
	if s.Content != v.Content || s.Name().Pack != named {
		return errors.New("it is about " + differs(statement.Version{Pack: s.Name().Pack, Manifest: s.Manifest, Content: s.Content}, statement.Version{Pack: named, Manifest: s.Manifest, Content: v.Content}))
	}
	v.Manifest = s.Of.Manifest
	v.Build = &Build{Name: s.Name(), Statement: s, Signing: signing(signed, s.Time)}
	v.Summary, v.Signer, v.Signed, v.Bundle = &s.Summary, &v.Build.Signer, v.Build.Time, signed.Digest
	v.NotChecked = append(v.NotChecked, "whether an environment runs this bundle: no registry was asked")
	return nil
}

// judgeBuilds looks at every bundle of the versions of a pack: at its tags, its signature,
// and at whether what it was compared with is still there.
func (s *survey) judgeBuilds(all *builds) (out []AuditFinding) {
	find := func(t registry.BuildTag, severity Severity, r Reason) {
		out = append(out, AuditFinding{s.pack, t.Version, severity, r})
	}
	for _, t := range all.sortedTags() {
		digest := all.tags[t]
		h, name := all.holdings[digest], statement.BuildName{Pack: nameOf(s.pack, t.Version), Environment: t.Environment, Revision: t.Revision}
		v := &Verdict{Pack: s.pack, Version: t.Version, Manifest: digest}
		if h.build != nil {
			if of := s.holdings[h.build.Of]; of != nil && of.artifact != nil {
				v.Manifest, v.Content = of.digest, of.artifact.ContentDigest
			}
		}
		if !t.Of(digest) {
			find(t, SeverityError, moved(t.String(), digest, "the digest that it begins with"))
			continue
		}
		for _, r := range judgeBuild(v, h, name) {
			find(t, severityOf(r), r)
		}
		if t.Short == "" {
			if own := t.At(digest); all.tags[own] != digest {
				find(t, SeverityError, ReasonUnlisted.explains(digest, "check who can write to the registry", "the tag %q is missing: it was deleted, or the bundle was not published by packgate", own))
			}
			continue
		}
		place := t.Place()
		switch named := all.tags[place]; {
		case named == digest:
		case named == "":
			find(t, all.superseded(t), ReasonUntagged.explains(digest, "publish it again", "the tag %q is missing: publishing was not finished, or the tag was deleted", place))
		case h.named(t.Revision) != nil && all.holdings[named].named(t.Revision) == nil:
			find(t, SeverityError, moved(place.String(), named, digest))
		case h.named(t.Revision) != nil:
			find(t, all.superseded(t), ReasonConflict.explains(digest, "publish again: this gives the bundle a new number", "two digests of %q are signed: %s and %s", name, named, digest))
		}
	}
	if all.dropped > 0 {
		out = append(out, AuditFinding{s.pack, "", SeverityError, ReasonTooMany.refuses("", "check who can write to the registry, and delete the tags that packgate did not write",
			"%d more tags claim bundles than the %d of each version that packgate reads", all.dropped, buildLimit)})
	}
	return out
}

func severityOf(r Reason) Severity {
	if r.Refuses || r.Fails {
		return SeverityError
	}
	return SeverityWarning
}

// superseded is how much it matters what is wrong with the tags of a revision: a warning where a
// later bundle has taken its place.
func (s *builds) superseded(t registry.BuildTag) Severity {
	highest, newest := s.last(t.Environment)
	if newest != nil && newest.Statement.Sequence == highest && newest.Name.Revision != t.Revision {
		return SeverityWarning
	}
	return SeverityError
}

// auditBuilds looks at all bundles of a pack, and at its history.
func (c *Checker) auditBuilds(ctx context.Context, s *survey) ([]AuditFinding, error) {
	run := s.chain.bundles()
	for _, h := range s.holdings {
		for _, p := range h.pins {
			if p.Runs != nil {
				run = append(run, p.Runs.Manifest)
			}
		}
	}
	all, err := c.builds(ctx, s.pack, "", "", run...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(s.judgeBuilds(all), s.auditLostBuilds(all), s.auditUntagged(all), s.auditHistory(all)), nil
}

// auditLostBuilds finds bundles that a signed statement of another one was compared with, or
// that a record put into force, and that are not there any more.
func (s *survey) auditLostBuilds(all *builds) (out []AuditFinding) {
	lost := map[[3]string]bool{}
	missing := func(v statement.Version, said string) {
		h, key := all.holdings[v.Manifest], [3]string{v.Pack, v.Manifest, v.Content}
		there := h != nil && h.build != nil && h.build.ContentDigest == v.Content && h.named(revisionOf(v.Pack)) != nil
		if there || lost[key] {
			return
		}
		lost[key] = true
		name, _ := statement.ReadBuildName(v.Pack)
		version := versionOf(name.Pack)
		out = append(out, AuditFinding{s.pack, version, SeverityError, ReasonNotPublished.refuses(v.Manifest, "check who can delete from the registry, and publish again",
			"the bundle %q, %s, is missing", v.Pack, said)})
	}
	for _, digest := range slices.Sorted(maps.Keys(all.holdings)) {
		for _, b := range all.holdings[digest].signed {
			if b.Statement.Baseline != nil {
				missing(statement.Version(*b.Statement.Baseline), fmt.Sprintf("which %q was compared with", b.Name))
			}
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(s.holdings)) {
		for _, p := range s.holdings[digest].pins {
			if p.Runs != nil {
				missing(*p.Runs, fmt.Sprintf("which a record says that the environment %q ran", p.Environment))
			}
		}
	}
	return out
}

func revisionOf(name string) int {
	n, _ := statement.ReadBuildName(name)
	return n.Revision
}

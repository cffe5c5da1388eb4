package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Build is a bundle that a trusted statement says passed: what a version is in one
// environment.
type Build struct {
	Name              statement.BuildName
	Statement         *statement.Build
	Resolved, Catalog []byte // its parts, in their canonical form
	Signing

	source []byte // of the Sigstore bundle
}

// signedSummary returns the statement as one that the bundle passed the checks.
func (b *Build) signedSummary() signedSummary {
	return signedSummary{b.Signing, &b.Statement.Summary, b.source}
}

// Version returns how statements name the bundle.
func (b *Build) Version() statement.Version { return b.Statement.Version }

// buildHolding is what a registry holds under the digest of a bundle, as far as it can be
// believed.
type buildHolding struct {
	digest  string
	build   *registry.Build // nil where there is a problem
	problem *Reason
	signed  []*Build // of the trusted identity, by their sequence
	odd     []Reason
	reports []string
}

// inspectBuild reads what the registry holds under the digest of a bundle, as inspect does
// for a version.
func (c *Checker) inspectBuild(ctx context.Context, repo *registry.Repository, digest string) (*buildHolding, error) {
	h := &buildHolding{digest: digest}
	b, err := repo.PullBuild(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	attachments, err := repo.Attachments(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	h.build = b
	version := nameOf(b.Pack, b.Version)
	if found, err := nameIn(b.Content); err != nil || found != version {
		h.odd = append(h.odd, ReasonVersion.refuses(digest, "", "the resolved pack says that it is %q, and its manifest that it is %q", found, version))
	}
	for _, at := range attachments {
		switch at.Type {
		case registry.ReportType:
			h.reports = append(h.reports, string(pack.DigestOf(at.Content)))
		case registry.BundleType:
			h.read(c, at)
		}
	}
	slices.SortFunc(h.signed, (*Build).compareBuild)
	return h, nil
}

// compareBuild orders by sequence, and then as records are ordered.
func (b *Build) compareBuild(other *Build) int {
	return cmp.Or(cmp.Compare(b.Statement.Sequence, other.Statement.Sequence), b.compare(other.Signing))
}

// read takes one Sigstore bundle, where it is trusted and speaks of this bundle.
func (h *buildHolding) read(c *Checker, at registry.Attachment) {
	odd := func(kind ReasonKind, err error, format string, args ...any) {
		h.odd = append(h.odd, Reason{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: fault.Hint(err), Digest: at.Digest, Cause: err})
	}
	v, err := c.Verifier.Verify(at.Content)
	if err != nil {
		odd(ReasonOtherSigner, err, "a signature of a bundle is not trusted: %v", err)
		if last := &h.odd[len(h.odd)-1]; c.Verifier.Claim(at.Content).Ours {
			last.Kind, last.Fails, last.Hint = ReasonSignature, true, "check who can write to the registry"
		}
		return
	}
	s, err := v.Statement.Build()
	if err != nil {
		odd(ReasonSubject, err, "a signed statement cannot be read: %v", err)
		return
	}
	name, b := s.Name(), h.build
	want := statement.Version{Pack: statement.BuildName{Pack: nameOf(b.Pack, b.Version), Environment: b.Environment, Revision: name.Revision}.String(),
		Manifest: h.digest, Content: b.ContentDigest}
	if s.Version != want || s.Of.Manifest != b.Of {
		odd(ReasonSubject, errors.New("other subjects"), "a signed statement is about another bundle: %s", differs(s.Version, want))
		return
	}
	h.signed = append(h.signed, &Build{Name: name, Statement: s, Resolved: b.Content, Catalog: b.Catalog, Signing: signing(v, s.Time), source: at.Content})
}

// named returns the newest statement that gives the bundle a revision; nil where none does.
func (h *buildHolding) named(revision int) *Build {
	for _, b := range slices.Backward(h.signed) {
		if b.Name.Revision == revision {
			return b
		}
	}
	return nil
}

// builds are the bundles of the environments of one version.
type builds struct {
	version  string
	tags     map[registry.BuildTag]string // to the digest that they name
	holdings map[string]*buildHolding     // by digest
	dropped  int                          // tags that were not looked at
	unlisted string                       // a tag that is there and not in the registry's list of tags
	recorded map[string]int               // the statements that the history names, by the digest of the bundle: from 1, in its order
	lost     []place                      // those of them that are not there
}

// buildLimit bounds how many tags of bundles of one version are looked at.
const buildLimit = 512

// builds reads the bundles of a version: those of one environment, or of all where that is
// "". The digests are looked at whether a tag names them or not.
func (c *Checker) builds(ctx context.Context, packID, version, environment string, digests ...string) (*builds, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, err
	}
	listed, err := repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	s := &builds{version: version, tags: map[registry.BuildTag]string{}, holdings: map[string]*buildHolding{}, recorded: map[string]int{}}
	wanted := s.follow(listed, environment)
	if first := (registry.BuildTag{Version: version, Environment: environment, Revision: 1}).String(); version != "" && environment != "" && !slices.Contains(listed, first) {
		wanted = append(wanted, first) // which every environment has that has a bundle
	}
	found, err := each(ctx, c.Registry, packID, wanted, resolve)
	if err != nil {
		return nil, err
	}
	for i, digest := range found {
		if t, ours := registry.ReadBuildTag(wanted[i]); ours && digest != "" {
			s.tags[t] = digest
			digests = append(digests, digest)
			if !slices.Contains(listed, wanted[i]) {
				s.unlisted = wanted[i]
			}
		}
	}
	slices.Sort(digests)
	holdings, err := each(ctx, c.Registry, packID, slices.Compact(digests), c.inspectBuild)
	if err != nil {
		return nil, err
	}
	for _, h := range holdings {
		s.holdings[h.digest] = h
	}
	return s, nil
}

// follow returns the tags of bundles that are looked at, of one environment or of all.
func (s *builds) follow(listed []string, environment string) (wanted []string) {
	seen := map[string]int{}
	for _, text := range listed {
		t, ours := registry.ReadBuildTag(text)
		if !ours || s.version != "" && t.Version != s.version || environment != "" && t.Environment != environment {
			continue
		}
		if seen[t.Version]++; seen[t.Version] > buildLimit {
			s.dropped++
			continue
		}
		wanted = append(wanted, text)
	}
	return wanted
}

// whole refuses where there may be bundles that were not looked at: the newest one may be
// among them.
func (s *builds) whole(name, environment string) error {
	switch {
	case s.dropped > 0:
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%q has more than %d tags of bundles in the environment %q", name, buildLimit, environment),
			Hint: "check who can write to the registry, and delete the tags that packgate did not write"}
	case s.unlisted != "":
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the newest bundle of %q in the environment %q is not known: the registry's list of tags does not have %q, although the tag exists", name, environment, s.unlisted),
			Hint: "use a registry that lists all of its tags"}
	}
	return nil
}

// sortedTags returns the tags in the order of environments and revisions.
func (s *builds) sortedTags() []registry.BuildTag {
	return slices.SortedFunc(maps.Keys(s.tags), func(a, b registry.BuildTag) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Short, b.Short))
	})
}

// rivals returns the other digests that claim a revision, signed by the trusted identity:
// under that name, by a tag that is listed.
func (s *builds) rivals(place registry.BuildTag, digest string) (out []string) {
	for _, t := range s.sortedTags() {
		other := s.tags[t]
		if h := s.holdings[other]; t.Place() == place && other != digest && h.named(place.Revision) != nil && !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// place returns the tag of a bundle's revision.
func (s *builds) place(b *Build) registry.BuildTag {
	return registry.BuildTag{Version: versionOf(b.Name.Pack), Environment: b.Name.Environment, Revision: b.Name.Revision}
}

// versionOf returns the version of pack_id@version, "" if there is none.
func versionOf(name string) string {
	_, version, _ := strings.Cut(name, "@")
	return version
}

// settled reports whether a bundle is published as a whole under its name, and no other is.
func (s *builds) settled(b *Build) bool {
	place := s.place(b)
	return s.tags[place] == b.Statement.Manifest && len(s.rivals(place, b.Statement.Manifest)) == 0
}

// last returns the statement with the highest sequence of all bundles of an environment, and
// the newest one that is settled; nil where there is none.
func (s *builds) last(environment string) (highest int, newest *Build) {
	for _, h := range s.holdings {
		for _, b := range h.signed {
			if b.Name.Environment != environment {
				continue
			}
			highest = max(highest, b.Statement.Sequence)
			if (newest == nil || b.compareBuild(newest) > 0) && s.settled(b) {
				newest = b
			}
		}
	}
	return highest, newest
}

// NewestBuild returns the newest bundle of a version in an environment; nil where it has none.
// The error is of kind ErrRefused where a newer one was signed that does not count, or is
// not of these bytes: whoever passed it over would take an older one for the newest.
func (c *Checker) NewestBuild(ctx context.Context, v *Verdict, environment string) (*Build, error) {
	s, err := c.environmentBuilds(ctx, buildPlace{v.Pack, v.Version, environment})
	if err != nil {
		return nil, err
	}
	if err := s.whole(v.Name(), environment); err != nil {
		return nil, err
	}
	highest, newest := s.last(environment)
	if lost := s.hides(newest); lost != nil {
		return nil, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the newest bundle of %q in the environment %q is not known: record %d names a statement on %s, which is missing", v.Name(), environment, lost.sequence, lost.Manifest),
			Hint: "publish again, and check who can delete from the registry"}
	}
	switch {
	case newest == nil && highest == 0:
		return nil, nil
	case newest != nil && newest.Statement.Of != statement.Version{Pack: v.Name(), Manifest: v.Manifest, Content: v.Content}:
		return nil, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the newest bundle of %q in the environment %q is %q, which does not have the published bytes", v.Name(), environment, newest.Name),
			Hint: "publish again, and check who can write to the registry"}
	case newest != nil && newest.Statement.Sequence == highest:
		return newest, nil
	}
	return nil, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the newest bundle of %q in the environment %q does not count: its tag is missing, or another bundle has its name", v.Name(), environment),
		Hint: "publish again: this finishes it or gives it a new number"}
}

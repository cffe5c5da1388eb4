package publish

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Anyone who can write to a registry can delete tags, and can remove what is attached to a version
// from its list. What the pack's history names was there all the same, and everything that is signed
// later takes it into account.

// sorted returns what the history names of a kind, in its order.
func (ch *chain) sorted(kind statement.Kind) []place {
	if ch == nil {
		return nil
	}
	named := slices.DeleteFunc(slices.Collect(maps.Values(ch.places)), func(p place) bool { return p.Kind != kind })
	slices.SortFunc(named, func(a, b place) int { return cmp.Or(a.compare(b), cmp.Compare(a.Bundle, b.Bundle)) })
	return named
}

// hidden returns a reason for each state of a version that the pack's history names, and whose
// statement is not there: it may be revoked. What is known to be revoked hides nothing.
func (s *survey) hidden(h *holding) (out []Reason) {
	for _, p := range s.chain.sorted(statement.KindState) {
		if p.Manifest == h.digest && !h.revoked() && !slices.Contains(h.bundles, p.Bundle) {
			out = append(out, ReasonHistory.refuses(p.Bundle, restore+"; revoke the version where there is no copy", "record %d of %q names a state of %s, whose statement is missing", p.sequence, s.pack, h.digest))
		}
	}
	return out
}

// environmentBuilds reads the bundles of a version in an environment: those that a tag names,
// those that the history names, and those of the given digests.
func (c *Checker) environmentBuilds(ctx context.Context, of buildPlace, digests ...string) (*builds, error) {
	_, ch, _, err := c.past(ctx, of.Pack)
	if err != nil {
		return nil, err
	}
	named := slices.DeleteFunc(ch.sorted(statement.KindBundle), func(p place) bool {
		return p.Environment != of.Environment || p.of != "" && p.of != nameOf(of.Pack, of.Version)
	})
	for _, p := range named {
		digests = append(digests, p.Manifest)
	}
	s, err := c.builds(ctx, of.Pack, of.Version, of.Environment, digests...)
	if err != nil {
		return nil, err
	}
	for i, p := range named {
		h := s.holdings[p.Manifest]
		switch {
		case h == nil:
		case h.build != nil && h.build.Version != of.Version: // it was adopted, without its version
			delete(s.holdings, p.Manifest)
		case !slices.ContainsFunc(h.signed, func(b *Build) bool { return b.Bundle == p.Bundle }):
			s.lost = append(s.lost, p)
		}
		s.recorded[p.Bundle] = i + 1
	}
	return s, nil
}

// hides returns a statement on a bundle that the history names after the one on the newest that is
// there, and that is not there: it may be of the newest one. It returns nil for none.
func (s *builds) hides(newest *Build) *place {
	for i, p := range s.lost {
		if newest == nil || s.recorded[newest.Bundle] < s.recorded[p.Bundle] {
			return &s.lost[i]
		}
	}
	return nil
}

// highest returns the highest sequence of an environment: of the statements that are there, and
// at most of those on other bundles than the given one that are lost.
func (s *builds) highest(known int, digest string) int {
	for _, p := range s.lost {
		if p.Manifest != digest {
			known = max(known, s.recorded[p.Bundle])
		}
	}
	return known
}

// buildPlace is a version in an environment.
type buildPlace struct{ Pack, Version, Environment string }

// past returns the repository of a pack, its history and its tags.
func (c *Checker) past(ctx context.Context, packID string) (*registry.Repository, *chain, []string, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, nil, nil, err
	}
	tags, err := repo.Tags(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	ch, err := c.chain(ctx, repo, packID, tags)
	return repo, ch, tags, err
}

// untagged returns the digests that the history names as published, of versions that are not
// revoked and have no tag, by version.
func (c *Checker) untagged(ctx context.Context, packID string) (map[string][]string, error) {
	repo, ch, tags, err := c.past(ctx, packID)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, p := range ch.sorted(statement.KindPublish) {
		if p.of != "" && slices.Contains(tags, versionIn(p.of)) || p.of == "" && slices.ContainsFunc(tags, func(text string) bool {
			t, _ := registry.ReadTag(text)
			return t.Content && slices.Contains(tags, t.Version) && registry.ContentTag(t.Version, p.Manifest) == text
		}) {
			continue
		}
		h, err := c.inspect(ctx, repo, p.Manifest)
		if err != nil {
			return nil, err
		}
		version := versionIn(p.of)
		if h.artifact != nil {
			version = h.artifact.Version
		}
		if version != "" && !h.revoked() && !slices.Contains(tags, version) {
			out[version] = append(out[version], p.Manifest)
		}
	}
	return out, nil
}

// versionIn returns the version of pack_id@version.
func versionIn(name string) string {
	version := versionOf(name)
	return version
}

// passedOver refuses a baseline where the history names a version between it and the next one
// that has no tag: to compare with an older one may let through what the newer had forbidden.
func (c *Checker) passedOver(ctx context.Context, packID, version string, found *Verdict) error {
	untagged, err := c.untagged(ctx, packID)
	if err != nil {
		return err
	}
	bound, err := semver.StrictNewVersion(version)
	if err != nil {
		return err
	}
	for _, text := range slices.Sorted(maps.Keys(untagged)) {
		v, err := semver.StrictNewVersion(text)
		if err != nil || !v.LessThan(bound) {
			continue
		}
		if found != nil {
			if before, err := semver.StrictNewVersion(found.Version); err == nil && v.LessThan(before) {
				continue
			}
		}
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("%q comes before %q, and its tag is missing: the history names it as published, with the digest %s", nameOf(packID, text), version, untagged[text][0]),
			Hint: "publish it again, or revoke it by its digest, and check who can delete from the registry"}
	}
	return nil
}

// otherwise refuses to publish a version that the history names with another digest, as a
// *Collision without a tag.
func (c *Checker) otherwise(ctx context.Context, packID, version, digest string) error {
	untagged, err := c.untagged(ctx, packID)
	if err != nil {
		return err
	}
	for _, other := range untagged[version] {
		if other != digest {
			return &Collision{Pack: nameOf(packID, version), Wanted: digest, Found: other}
		}
	}
	return nil
}

// auditUntagged finds what the history names as published and no tag names.
func (s *survey) auditUntagged(all *builds) (out []AuditFinding) {
	find := func(version string, severity Severity, p place) {
		out = append(out, AuditFinding{s.pack, version, severity, ReasonUntagged.explains(p.Manifest, "publish it again, or revoke the version by its digest; check who can delete from the registry",
			"record %d names it as published, and no tag does: publishing was not finished, or the tags were deleted", p.sequence)})
	}
	for _, p := range s.chain.sorted(statement.KindPublish) {
		h := s.holdings[p.Manifest]
		if h == nil || h.artifact == nil || h.revoked() || slices.Contains(s.digestsOf(h.artifact.Version), p.Manifest) {
			continue
		}
		severity, version := SeverityError, h.artifact.Version
		if s.of(s.holdings[s.tagged(version)], version) {
			severity = SeverityWarning // of two publishers that met, the one that gave way
		}
		find(version, severity, p)
	}
	tagged := slices.Collect(maps.Values(all.tags))
	for _, p := range s.chain.sorted(statement.KindBundle) {
		h := all.holdings[p.Manifest]
		if h == nil || slices.Contains(tagged, p.Manifest) {
			continue
		}
		for _, b := range h.signed {
			if b.Bundle == p.Bundle {
				find(h.build.Version, all.superseded(all.place(b)), p)
			}
		}
	}
	return out
}

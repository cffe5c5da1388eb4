package publish

import (
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/publish/registry"
)

// judge says what a version is that the registry holds under a digest.
func (s *survey) judge(version string, h *holding) *Verdict {
	v := &Verdict{Pack: s.pack, Version: version, Manifest: h.digest, States: h.states, Pins: h.pins}
	switch {
	case h.problem != nil:
		v.add(*h.problem)
	case h.artifact.Pack != s.pack || h.artifact.Version != version:
		v.Content = h.artifact.ContentDigest
		v.add(Reason{
			Kind: ReasonVersion, Digest: h.digest, Refuses: true,
			Message: fmt.Sprintf("%s is %q, not %q", h.digest, h.version.Pack, v.Name()),
			Hint:    "check the reference, and look at who can write to the registry",
		})
	default:
		v.Content = h.artifact.ContentDigest
	}
	s.judgeSignature(v, h)
	v.add(h.odd...)
	s.judgeTags(v, version, h)
	if state := stateOf(h.states); state != nil {
		v.add(Reason{
			Kind: ReasonState, Digest: h.digest,
			Message: fmt.Sprintf("%s by %q: %s", state.State, state.Actor, state.Reason),
			Hint:    "move to another version",
		})
	}
	if s.unlisted != "" {
		v.NotChecked = append(v.NotChecked, notListed(s.unlisted))
	}
	return v.settle()
}

// notListed says what a registry that does not list its tags keeps from being seen.
func notListed(tag string) string {
	return fmt.Sprintf("whether another digest of this version is signed: the registry's list of tags does not have %q, which is there", tag)
}

// judgeSignature takes the first trusted summary, and says what is wrong with it.
func (s *survey) judgeSignature(v *Verdict, h *holding) {
	if h.problem != nil {
		return
	}
	if !h.signed() {
		v.add(Reason{
			Kind: ReasonUnsigned, Digest: h.digest, Refuses: true,
			Message: fmt.Sprintf("no statement of the trusted identity says that %q passed the gates", h.version.Pack),
			Hint:    "delete the version's tag and publish it again, or verify it with the identity that signed it",
		})
		return
	}
	first := h.summaries[0]
	v.sign(first)
	if !slices.Contains(h.reports, first.summary.Report) {
		v.add(Reason{
			Kind: ReasonReport, Digest: first.summary.Report,
			Message: "the gate report that the signed statement names is not in the registry",
			Hint:    "look for it among the artifacts of the run that signed",
		})
	}
	if from := first.summary.Resource; s.repo != nil && from != s.repo.Name() {
		v.add(Reason{
			Kind: ReasonElsewhere, Digest: h.digest,
			Message: fmt.Sprintf("it was published to %q and is read from %q", from, s.repo.Name()),
			Hint:    "look for its states where it was published",
		})
		v.NotChecked = append(v.NotChecked, fmt.Sprintf("whether it is deprecated or revoked in %q", from))
	}
}

// sign takes over what the summary says.
func (v *Verdict) sign(s signedSummary) {
	signer := s.signer
	v.Summary, v.Signer, v.Signed, v.Bundle = s.summary, &signer, s.time, s.bundle
}

// judgeTags compares what the version's tags name with what was signed.
func (s *survey) judgeTags(v *Verdict, version string, h *holding) {
	s.judgeOthers(v, version, h)
	versionTag, tagged := registry.VersionTag(version), s.tagged(version)
	switch other := s.holdings[tagged]; {
	case tagged == "":
		v.add(Reason{
			Kind: ReasonUntagged, Digest: h.digest,
			Message: fmt.Sprintf("the tag %q is not there: publishing was not finished, or the tag was deleted", versionTag),
			Hint:    "publish it again",
		})
	case tagged == h.digest || s.of(other, version) && !other.revoked():
		// As it should be, or two signed digests, which have a reason of their own.
	case other.revoked():
		v.add(Reason{
			Kind: ReasonUntagged, Digest: tagged,
			Message: fmt.Sprintf("the tag %q names %s, which is revoked", versionTag, tagged),
		})
	default:
		v.add(moved(versionTag, tagged, h.digest))
	}
	own := registry.ContentTag(version, h.digest)
	for _, text := range slices.Sorted(maps.Keys(s.tags)) {
		t, _ := readTag(text)
		named := s.tags[text]
		if t.version == version && t.content && text != registry.ContentTag(version, named) {
			r := moved(text, named, "the digest that it begins with")
			r.Refuses = text == own
			v.add(r)
		}
	}
	if s.tags[own] == "" && s.unlisted == "" && tagged == h.digest && h.signed() {
		v.add(Reason{
			Kind: ReasonUnlisted, Digest: h.digest,
			Message: fmt.Sprintf("the tag %q is not there: it was deleted, or the version was not published by packgate", own),
			Hint:    "look at who can write to the registry",
		})
	}
	if n := s.dropped[version]; n > 0 {
		v.add(Reason{
			Kind: ReasonTooMany, Refuses: true,
			Message: fmt.Sprintf("%d more content tags claim %q than the %d that are looked at", n, v.Name(), digestLimit),
			Hint:    "look at who can write to the registry, and delete the tags that are not of packgate",
		})
	}
}

// judgeOthers looks for another digest of the version that is signed as well.
func (s *survey) judgeOthers(v *Verdict, version string, h *holding) {
	for _, digest := range s.digestsOf(version) {
		other := s.holdings[digest]
		switch {
		case digest == h.digest || !s.of(other, version) || other.revoked():
		case s.of(h, version):
			v.add(Reason{
				Kind: ReasonConflict, Digest: digest, Refuses: true,
				Message: fmt.Sprintf("two digests of %q are signed: %s and %s", v.Name(), h.digest, digest),
				Hint:    "revoke the one that is not to be used, by its digest",
			})
		case s.tagged(version) == h.digest:
			v.add(moved(registry.VersionTag(version), h.digest, digest))
		}
	}
}

// moved is the reason for a tag that does not name what was signed.
func moved(tag, found, wanted string) Reason {
	return Reason{
		Kind: ReasonMoved, Digest: found, Refuses: true,
		Message: fmt.Sprintf("the tag %q names %s, wanted %s", tag, found, wanted),
		Hint:    "move the tag back to the signed digest, and look at who moved it",
	}
}

// judgePin says whether a signed record put an environment where it is. The newest
// record of an environment is the one in force, so that moving the tag back to a
// version that was pinned earlier does not pass for a rollback.
func (s *survey) judgePin(environment string, h *holding) []Reason {
	newest := newestPin(h.pins, environment)
	if newest == nil {
		return []Reason{{
			Kind: ReasonPin, Digest: h.digest, Refuses: true,
			Message: fmt.Sprintf("no signed record moved the environment %q to %s", environment, h.digest),
			Hint:    "pin the environment with packgate, and look at who moved the tag",
		}}
	}
	for _, digest := range slices.Sorted(maps.Keys(s.holdings)) {
		other := newestPin(s.holdings[digest].pins, environment)
		if digest != h.digest && other != nil && other.Time.After(newest.Time) {
			return []Reason{{
				Kind: ReasonPin, Digest: h.digest, Refuses: true,
				Message: fmt.Sprintf("the environment %q names %s, and its newest signed record names %s", environment, h.digest, digest),
				Hint:    "pin the environment again, to the version that it is to run",
			}}
		}
	}
	return nil
}

// newestPin returns the newest record of an environment; the records are in the
// order of time.
func newestPin(pins []PinRecord, environment string) *PinRecord {
	for i := len(pins) - 1; i >= 0; i-- {
		if pins[i].Environment == environment {
			return &pins[i]
		}
	}
	return nil
}

// revoked tells whether a digest does not stand in the way of another one of
// the same version.
func (s *survey) revoked(digest string) bool {
	h := s.holdings[digest]
	return h != nil && h.revoked()
}

package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Status is what a consumer may do with a version.
type Status string

// The statuses, from the best to the worst.
const (
	Usable     Status = "usable"
	Deprecated Status = "deprecated" // signed, and to be moved away from
	Revoked    Status = "revoked"    // signed to be used no more
	Untrusted  Status = "untrusted"  // not signed, or not what it is said to be
	Stale      Status = "stale"      // signed, and the registry may show an earlier state than the newest: not to be loaded
)

// ReasonKind names what a reason is about.
type ReasonKind string

// The kinds of reasons.
const (
	ReasonNotPublished ReasonKind = "not-published"    // the registry holds no such version
	ReasonUnsigned     ReasonKind = "unsigned"         // no statement of the configured identity says that it passed
	ReasonSignature    ReasonKind = "signature"        // a bundle that names the trusted identity does not verify
	ReasonOtherSigner  ReasonKind = "other-signer"     // a bundle of another identity, or of none
	ReasonOtherType    ReasonKind = "other-type"       // a signed statement of a type that is not known here
	ReasonSubject      ReasonKind = "other-subject"    // a signed statement is about something else
	ReasonBytes        ReasonKind = "other-bytes"      // the registry serves bytes of another digest
	ReasonForeign      ReasonKind = "foreign"          // what is there is no context pack
	ReasonVersion      ReasonKind = "other-version"    // what is there is another pack or version
	ReasonMoved        ReasonKind = "tag-moved"        // a tag names another digest than the signed one
	ReasonConflict     ReasonKind = "two-statements"   // two digests of one version are signed
	ReasonUntagged     ReasonKind = "not-tagged"       // signed, but not under the version's tag
	ReasonUnlisted     ReasonKind = "no-content-tag"   // under the version's tag, but without a content tag
	ReasonFile         ReasonKind = "other-file"       // the file is not the version's bytes
	ReasonReport       ReasonKind = "report-missing"   // the gate report that the statement names is not there
	ReasonBaseline     ReasonKind = "baseline-missing" // the version that the statement was compared with is not there
	ReasonPin          ReasonKind = "pin-unrecorded"   // no signed record put the environment where it is
	ReasonPinState     ReasonKind = "pin-of-state"     // an environment runs a version that is not usable
	ReasonStopped      ReasonKind = "stopped"          // an environment runs no version any more
	ReasonState        ReasonKind = "state"            // the version is deprecated or revoked
	ReasonElsewhere    ReasonKind = "other-registry"   // signed for another registry, where its states are kept
	ReasonTooMany      ReasonKind = "too-many-digests" // more digests claim the version than are looked at
	ReasonStale        ReasonKind = "stale"            // nobody has said of late what the newest state of the registry is
	ReasonRolledBack   ReasonKind = "rolled-back"      // the registry shows an earlier state than was said
	ReasonHidden       ReasonKind = "state-hidden"     // the registry lacks a state that the publisher's status has
	ReasonStatus       ReasonKind = "status"           // the publisher's status is not what it has to be
	ReasonHistory      ReasonKind = "history"          // the pack's history is not whole
	ReasonUnrecorded   ReasonKind = "unrecorded"       // a signed statement that the pack's history does not name
	ReasonAccepted     ReasonKind = "baseline"         // findings were in a baseline file, or nobody knows whether they were
	ReasonIncomplete   ReasonKind = "incomplete"       // a check did not run, or nobody knows whether it did
)

// Reason says why a verdict is what it is, or what else there is to look at.
type Reason struct {
	Kind    ReasonKind
	Message string // says what is there: lower case, no full stop
	Hint    string // says what to do about it; it may be empty
	Digest  string // that of the manifest or the bundle that the reason is about, or ""
	Refuses bool   // tells whether the version is not trusted for this reason. A reason that does not refuse explains the status, or is worth a look.
	Fails   bool   // tells whether an audit fails for this reason, though the version may be used. What refuses does so too.
	Cause   error  // the error below, such as a *fault.Error with its kind; it may be nil
}

// failing returns the reason as one for which an audit fails.
func (r Reason) failing() Reason {
	r.Fails = true
	return r
}

// refuses returns a reason not to trust a version.
func (k ReasonKind) refuses(digest, hint, format string, args ...any) Reason {
	r := k.explains(digest, hint, format, args...)
	r.Refuses = true
	return r
}

// explains returns a reason that does not refuse.
func (k ReasonKind) explains(digest, hint, format string, args ...any) Reason {
	return Reason{Kind: k, Message: fmt.Sprintf(format, args...), Hint: hint, Digest: digest}
}

// Signing is by whom and when a statement was signed.
type Signing struct {
	Signer attest.SignerInfo
	Time   time.Time
	Bundle string // digest of the bundle
}

// compare orders by time, and by digest where two are of one time, so that the same
// registry always gives the same answer.
func (s Signing) compare(other Signing) int {
	return cmp.Or(s.Time.Compare(other.Time), cmp.Compare(s.Bundle, other.Bundle))
}

// StateRecord is one signed state of a version.
type StateRecord struct {
	State, Reason, Actor string
	Signing
}

// PinRecord is one signed record that an environment was moved to a version.
type PinRecord struct {
	Environment, Previous, Actor, Reason string
	By, Commit, Accept                   string // see statement.Pin
	Approvals                            []statement.Approval
	Replay                               bool
	Stopped                              bool // it runs no version of the pack from then on
	// Runs is the bundle that it runs of the version, nil for the pack as it was published.
	Runs *statement.Version
	Signing

	place place // in the pack's history
}

// order compares two records by the pack's history, and by time where it has none.
func (p PinRecord) order(other PinRecord) int {
	return cmp.Or(p.place.compare(other.place), p.compare(other.Signing))
}

// Verdict is the answer to what a version is and whether it may be used.
type Verdict struct {
	Ref        registry.Ref // what was asked for
	Pack       string       // pack_id
	Version    string       // pack_version, "" where it could not be learnt
	Manifest   string       // digest of the manifest, "" where there is none
	Content    string       // digest of the pack's bytes, "" where they could not be read
	Status     Status
	Reasons    []Reason
	Summary    *statement.Summary // nil where no trusted statement says that it passed
	Signer     *attest.SignerInfo // of the summary
	Signed     time.Time          // when the summary was signed
	Bundle     string             // digest of the summary's bundle
	States     []StateRecord      // trusted ones, in the order of time
	Pins       []PinRecord        // trusted ones on this manifest, in the order of time
	Build      *Build             // the bundle that was asked for, or that the environment runs; nil for none
	NotChecked []string           // says what could not be looked at, each with its reason
	Freshness  *Freshness         // nil where nothing is configured
}

// Name returns "pack_id@version".
func (v *Verdict) Name() string { return nameOf(v.Pack, v.Version) }

// add appends reasons that are not there yet.
func (v *Verdict) add(reasons ...Reason) {
	for _, r := range reasons {
		if !slices.ContainsFunc(v.Reasons, func(has Reason) bool {
			return has.Kind == r.Kind && has.Message == r.Message && has.Digest == r.Digest
		}) {
			v.Reasons = append(v.Reasons, r)
		}
	}
}

// stateOf returns the state in force: revoked for ever once it was said, else
// deprecated, else nil.
func stateOf(states []StateRecord) *StateRecord {
	var found *StateRecord
	for i, s := range states {
		if found == nil || s.State == statement.StateRevoked && found.State != statement.StateRevoked {
			found = &states[i]
		}
	}
	return found
}

// another tells whether a reason says that what was found is not what was asked
// for. A state says nothing about that.
func (r Reason) another() bool {
	switch r.Kind {
	case ReasonFile, ReasonVersion, ReasonMoved, ReasonBytes, ReasonForeign, ReasonNotPublished, ReasonPin, ReasonStopped:
		return r.Refuses
	}
	return false
}

// late tells whether a reason says that the registry may show an earlier state, and nothing
// against the version itself.
func (r Reason) late() bool {
	return r.Refuses && (r.Kind == ReasonStale || r.Kind == ReasonRolledBack)
}

// settle derives the status from reasons and states. A revocation that the trusted
// identity signed for this very manifest wins over any doubt about it, but not over
// the doubt whether it is the thing that was asked for.
func (v *Verdict) settle() *Verdict {
	states := []string{}
	if state := stateOf(v.States); state != nil {
		states = append(states, state.State)
	}
	if v.Freshness != nil && v.Freshness.State != "" {
		states = append(states, v.Freshness.State)
	}
	switch {
	case slices.ContainsFunc(v.Reasons, Reason.another):
		v.Status = Untrusted
	case slices.Contains(states, statement.StateRevoked):
		v.Status = Revoked
	case slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Refuses && !r.late() }):
		v.Status = Untrusted
	case slices.ContainsFunc(v.Reasons, Reason.late):
		v.Status = Stale
	case len(states) > 0:
		v.Status = Deprecated
	default:
		v.Status = Usable
	}
	return v
}

// judge says what a version is that the registry holds under a digest.
func (s *survey) judge(version string, h *holding) *Verdict {
	v := &Verdict{Pack: s.pack, Version: version, Manifest: h.digest, States: h.states, Pins: h.pins}
	if h.problem != nil {
		v.add(*h.problem)
	} else {
		v.Content = h.artifact.ContentDigest
		if h.artifact.Pack != s.pack || h.artifact.Version != version {
			v.add(ReasonVersion.refuses(h.digest, "check the reference, and check who can write to the registry",
				"%s is %q, not %q", h.digest, h.version.Pack, v.Name()))
		}
		s.judgeSignature(v, h)
	}
	for _, r := range h.odd {
		r.Refuses = r.Refuses && (r.Kind != ReasonSignature || !h.revoked()) // what is revoked is revoked
		v.add(r)
	}
	s.judgeTags(v, version, h)
	v.add(s.hidden(h)...)
	if state := stateOf(h.states); state != nil {
		v.add(ReasonState.explains(h.digest, "move to another version", "%s by %q: %s", state.State, state.Actor, state.Reason))
	}
	if s.unlisted != "" {
		v.NotChecked = append(v.NotChecked, notListed(s.unlisted))
	}
	return v.settle()
}

// notListed says what a registry that does not list its tags keeps from being seen.
func notListed(tag string) string {
	return fmt.Sprintf("whether another digest of this version is signed: the registry's list of tags does not have %q, although the tag exists", tag)
}

// judgeSignature takes the first trusted summary, and says what is wrong with it.
func (s *survey) judgeSignature(v *Verdict, h *holding) {
	if !h.signed() {
		v.add(ReasonUnsigned.refuses(h.digest, "publish it again, so that it is checked and signed, or verify it with the identity that signed it",
			"no statement of the trusted identity says that %q passed the checks", h.version.Pack))
		return
	}
	first := h.summaries[0]
	v.sign(first)
	for _, one := range h.summaries {
		if !slices.Contains(h.reports, one.summary.Report) {
			v.add(ReasonReport.explains(one.summary.Report, "look for it among the artifacts of the run that signed it",
				"the gate report that the signed statement names is not in the registry").failing())
		}
	}
	if from := first.summary.Resource; from != s.repo.Name() {
		v.add(ReasonElsewhere.explains(h.digest, "look for its states in the registry where it was published",
			"it was published to %q and is read from %q", from, s.repo.Name()))
		v.NotChecked = append(v.NotChecked, fmt.Sprintf("whether it is deprecated or revoked in %q", from))
	}
}

// sign takes over what the summary says.
func (v *Verdict) sign(s signedSummary) {
	v.Summary, v.Signer, v.Signed, v.Bundle = s.summary, new(s.Signer), s.Time, s.Bundle
}

// judgeTags compares what the version's tags name with what was signed.
func (s *survey) judgeTags(v *Verdict, version string, h *holding) {
	s.judgeOthers(v, version, h)
	versionTag, tagged := version, s.tagged(version)
	switch other := s.holdings[tagged]; {
	case tagged == "":
		v.add(ReasonUntagged.explains(h.digest, "publish it again",
			"the tag %q is missing: publishing was not finished, or the tag was deleted", versionTag).failing())
	case tagged == h.digest || s.of(other, version) && !other.revoked():
		// As it should be, or two signed digests, which have a reason of their own.
	case other.revoked():
		v.add(ReasonUntagged.explains(tagged, "", "the tag %q names %s, which is revoked", versionTag, tagged))
	default:
		v.add(moved(versionTag, tagged, h.digest))
	}
	own := registry.ContentTag(version, h.digest)
	for _, text := range slices.Sorted(maps.Keys(s.tags)) {
		t, _ := registry.ReadTag(text)
		named := s.tags[text]
		if t.Version == version && t.Content && text != registry.ContentTag(version, named) {
			r := moved(text, named, "the digest that it begins with")
			r.Refuses = text == own
			v.add(r)
		}
	}
	if s.tags[own] == "" && s.unlisted == "" && tagged == h.digest && h.signed() {
		v.add(ReasonUnlisted.explains(h.digest, "check who can write to the registry",
			"the tag %q is missing: it was deleted, or the version was not published by packgate", own).failing())
	}
	if n := s.dropped[version]; n > 0 {
		v.add(ReasonTooMany.refuses("", "check who can write to the registry, and delete the tags that packgate did not write",
			"%d more content tags claim %q than the %d that packgate reads", n, v.Name(), digestLimit))
	}
}

// alone judges the digest that was asked for and no tag of its version: where whoever may write to
// the registry moved or added one, that says nothing about the bytes that the digest names. Another
// digest that the trusted identity signed does.
func (v *Verdict) alone() {
	for i, r := range v.Reasons {
		if r.Kind == ReasonMoved || r.Kind == ReasonTooMany {
			v.Reasons[i].Refuses = false
		}
	}
}

// judgeOthers looks for another digest of the version that is signed as well.
func (s *survey) judgeOthers(v *Verdict, version string, h *holding) {
	for _, digest := range s.digestsOf(version) {
		other := s.holdings[digest]
		switch {
		case digest == h.digest || !s.of(other, version) || other.revoked():
		case s.of(h, version):
			v.add(conflict(v, h.digest, digest))
		case s.tagged(version) == h.digest:
			v.add(moved(version, h.digest, digest))
		}
	}
}

// conflict is the reason for a second digest of a version that is signed.
func conflict(v *Verdict, one, other string) Reason {
	return ReasonConflict.refuses(other, "revoke the one that must not be used, by its digest",
		"two digests of %q are signed: %s and %s", v.Name(), one, other)
}

// moved is the reason for a tag that does not name what was signed.
func moved(tag, found, wanted string) Reason {
	return ReasonMoved.refuses(found, "move the tag back to the signed digest, and check who moved it",
		"the tag %q names %s, wanted %s", tag, found, wanted)
}

// judgePin says whether a signed record put an environment where it is. The newest
// record of an environment is the one in force, so that moving the tag back to a
// version that was pinned earlier does not pass for a rollback.
func (s *survey) judgePin(environment string, h *holding) []Reason {
	newest := newestPin(h.pins, environment)
	if newest == nil {
		return []Reason{ReasonPin.refuses(h.digest, "pin the environment with packgate, and check who moved the tag",
			"no signed record moved the environment %q to %s", environment, h.digest)}
	}
	for _, digest := range slices.Sorted(maps.Keys(s.holdings)) {
		other := newestPin(s.holdings[digest].pins, environment)
		if digest != h.digest && other != nil && other.order(*newest) > 0 {
			return []Reason{ReasonPin.refuses(h.digest, "pin the environment again, to the version that it should run",
				"the environment %q names %s, and its newest signed record names %s", environment, h.digest, digest)}
		}
	}
	if newest.Stopped {
		return []Reason{ReasonStopped.refuses(h.digest, "promote a good version to it", "the environment %q was stopped by %q: %s",
			environment, newest.Actor, cmp.Or(newest.Reason, "no reason is given"))}
	}
	return nil
}

// newestPin returns the newest record of an environment; the records are in their order.
func newestPin(pins []PinRecord, environment string) *PinRecord {
	for _, p := range slices.Backward(pins) {
		if p.Environment == environment {
			return &p
		}
	}
	return nil
}

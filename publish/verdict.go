package publish

import (
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
)

// ReasonKind names what a reason is about.
type ReasonKind string

// The kinds of reasons.
const (
	ReasonNotPublished ReasonKind = "not-published"    // the registry holds no such version
	ReasonUnsigned     ReasonKind = "unsigned"         // no statement of the configured identity says that it passed
	ReasonSignature    ReasonKind = "signature"        // a bundle does not verify
	ReasonSubject      ReasonKind = "other-subject"    // a signed statement speaks of something else
	ReasonBytes        ReasonKind = "other-bytes"      // the registry serves bytes of another digest
	ReasonForeign      ReasonKind = "foreign"          // what is there is no context pack
	ReasonVersion      ReasonKind = "other-version"    // what is there is another pack or version
	ReasonMoved        ReasonKind = "tag-moved"        // a tag names another digest than the signed one
	ReasonConflict     ReasonKind = "two-statements"   // two digests of one version are signed
	ReasonUntagged     ReasonKind = "not-tagged"       // signed, but not under the version's tag
	ReasonUnlisted     ReasonKind = "no-content-tag"   // under the version's tag, but without a content tag
	ReasonFile         ReasonKind = "other-file"       // the file is not the version's bytes
	ReasonReport       ReasonKind = "report-missing"   // the gate report that the statement names is not there
	ReasonPin          ReasonKind = "pin-unrecorded"   // no signed record put the environment where it is
	ReasonPinState     ReasonKind = "pin-of-state"     // an environment runs a version that is not usable
	ReasonState        ReasonKind = "state"            // the version is deprecated or revoked
	ReasonElsewhere    ReasonKind = "other-registry"   // signed for another registry, where its states are kept
	ReasonTooMany      ReasonKind = "too-many-digests" // more digests claim the version than are looked at
)

// Reason says why a verdict is what it is, or what else there is to look at.
type Reason struct {
	Kind ReasonKind
	// Message says what is there: lower case, no full stop.
	Message string
	// Hint says what to do about it; it may be empty.
	Hint string
	// Digest is that of the manifest or the bundle that the reason is about, or "".
	Digest string
	// Refuses tells whether the version is not trusted for this reason. A reason that
	// does not refuse explains the status, or is worth a look.
	Refuses bool
	// Cause is the error below, such as a *fault.Error with its kind; it may be nil.
	Cause error
}

// StateRecord is one signed state of a version.
type StateRecord struct {
	State, Reason, Actor string
	Time                 time.Time
	Signer               attest.SignerInfo
	Bundle               string // digest of the bundle
}

// PinRecord is one signed record that an environment was moved to a version.
type PinRecord struct {
	Environment, Previous, Actor, Reason string
	Replay                               bool
	Time                                 time.Time
	Signer                               attest.SignerInfo
	Bundle                               string // digest of the bundle
	Manifest                             string // digest of the manifest that it was moved to
}

// Verdict is the answer to what a version is and whether it may be used.
type Verdict struct {
	Ref      registry.Ref // what was asked for
	Pack     string       // pack_id
	Version  string       // pack_version, "" where it could not be learnt
	Manifest string       // digest of the manifest, "" where there is none
	Content  string       // digest of the pack's bytes, "" where they could not be read
	Status   Status
	Reasons  []Reason
	Summary  *statement.Summary // nil where no trusted statement says that it passed
	Signer   *attest.SignerInfo // of the summary
	Signed   time.Time          // when the summary was signed
	Bundle   string             // digest of the summary's bundle
	States   []StateRecord      // trusted ones, in the order of time
	Pins     []PinRecord        // trusted ones on this manifest, in the order of time
	// NotChecked says what could not be looked at, each with its reason.
	NotChecked []string
}

// Name returns "pack_id@version".
func (v *Verdict) Name() string { return nameOf(v.Pack, v.Version) }

// add appends reasons that are not there yet.
func (v *Verdict) add(reasons ...Reason) {
	for _, r := range reasons {
		known := false
		for _, has := range v.Reasons {
			known = known || has.Kind == r.Kind && has.Message == r.Message && has.Digest == r.Digest
		}
		if !known {
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
	case ReasonFile, ReasonVersion, ReasonMoved, ReasonBytes, ReasonForeign, ReasonNotPublished, ReasonPin:
		return r.Refuses
	}
	return false
}

// settle derives the status from reasons and states. A revocation that the trusted
// identity signed for this very manifest wins over any doubt about it, but not over
// the doubt whether it is the thing that was asked for.
func (v *Verdict) settle() *Verdict {
	refused, another := false, false
	for _, r := range v.Reasons {
		refused = refused || r.Refuses
		another = another || r.another()
	}
	state := stateOf(v.States)
	switch {
	case another:
		v.Status = Untrusted
	case state != nil && state.State == statement.StateRevoked:
		v.Status = Revoked
	case refused:
		v.Status = Untrusted
	case state != nil:
		v.Status = Deprecated
	default:
		v.Status = Usable
	}
	return v
}

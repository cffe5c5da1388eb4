package model

// Verdict is what is known of one version in a registry, and whether it may be used.
// Digests are "sha256:" and 64 hex digits, times RFC 3339; what is not known is "".
type Verdict struct {
	Ref     string `json:"ref"`                    // what was asked for
	Pack    string `json:"pack,omitempty"`         // id
	Version string `json:"pack_version,omitempty"` // MAJOR.MINOR.PATCH
	Digest  string `json:"digest,omitempty"`       // of the OCI manifest
	Content string `json:"content,omitempty"`      // of the pack's bytes
	Status  string `json:"status"`                 // usable, deprecated, revoked or untrusted
	// Reasons are why the status is what it is, and what else is worth a look.
	Reasons    []Problem  `json:"reasons,omitempty"`
	Class      string     `json:"class,omitempty"`
	Baseline   string     `json:"baseline,omitempty"` // id@version
	Signer     string     `json:"signer,omitempty"`
	Issuer     string     `json:"issuer,omitempty"`
	Repository string     `json:"repository,omitempty"`
	Commit     string     `json:"commit,omitempty"`
	Signed     string     `json:"signed,omitempty"`
	Report     string     `json:"report,omitempty"` // digest of the gate report
	Policy     string     `json:"policy,omitempty"` // what it was gated by
	Approvals  []Approval `json:"approvals,omitempty"`
	// States are the signed states, and Pins the environments that a signed record moved here, be it long ago.
	States []Statement `json:"states,omitempty"`
	Pins   []string    `json:"pins,omitempty"`
	// NotChecked are sentences on what could not be looked at.
	NotChecked []string `json:"not_checked,omitempty"`
	// Path is the file that the version was written to, "" where none was.
	Path string `json:"path,omitempty"`
}

// Statement is one signed statement that a version is deprecated or revoked.
type Statement struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Actor  string `json:"actor,omitempty"`
	Time   string `json:"time,omitempty"`   // RFC 3339
	Digest string `json:"digest,omitempty"` // of its bundle
}

// VersionLog is what is known of all versions of one pack in a registry, in the order
// in which they are to be shown.
type VersionLog struct {
	Pack       string     `json:"pack"`       // id
	Repository string     `json:"repository"` // in the registry
	Versions   []LogEntry `json:"versions"`
	NotChecked []string   `json:"not_checked,omitempty"`
}

// LogEntry is one version in a log. What is not known is "".
type LogEntry struct {
	Version string   `json:"pack_version"`
	Class   string   `json:"class,omitempty"`
	Digest  string   `json:"digest,omitempty"` // of the OCI manifest
	Signer  string   `json:"signer,omitempty"`
	Signed  string   `json:"signed,omitempty"` // RFC 3339
	State   string   `json:"state"`            // usable, deprecated, revoked or untrusted
	Reason  string   `json:"reason,omitempty"` // of the state
	Pins    []string `json:"pins,omitempty"`   // environments that run it
	// Problems are sentences on what is wrong with it.
	Problems []string `json:"problems,omitempty"`
	// Conflict says that two digests of the version are signed.
	Conflict bool `json:"conflict,omitempty"`
}

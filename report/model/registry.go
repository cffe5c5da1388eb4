package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding"
)

// Publication is what happened to one version in a registry. Digests are "sha256:" and 64 hex digits.
type Publication struct {
	Pack   string `json:"pack"` // id@version
	Path   string `json:"path"` // file
	Status string `json:"status"`
	// Environment is that of a bundle, "" for a version. The name of a bundle is Pack.
	Environment string `json:"environment,omitempty"`
	// Ref is by what the version is pulled: repository:version@digest.
	Ref     string `json:"ref,omitempty"`
	Digest  string `json:"digest,omitempty"`  // of the OCI manifest
	Content string `json:"content,omitempty"` // of the pack's bytes
	Bundle  string `json:"bundle,omitempty"`  // of the signature bundle
	Class   string `json:"class,omitempty"`   // patch, minor, major or initial
	// Baseline is the version that the class is about, nil for the first of a pack.
	Baseline    *Published `json:"baseline,omitempty"`
	Approvals   []Approval `json:"approvals,omitempty"`
	PullRequest string     `json:"pull_request,omitempty"` // its address
	Signer      string     `json:"signer,omitempty"`
	Signed      string     `json:"signed,omitempty"` // RFC 3339
	// Verify is the command by which anyone checks the signature without packgate,
	// and VerifyOwn that of packgate. Both can be copied to a shell as they are.
	Verify    string `json:"verify,omitempty"`
	VerifyOwn string `json:"verify_own,omitempty"`
	// Reasons are why it was refused or is unfinished.
	Reasons []Problem `json:"reasons,omitempty"`
	// NotChecked are sentences on what could not be looked at.
	NotChecked []string `json:"not_checked,omitempty"`
}

// The statuses of a publication. Unfinished is what the next run finishes.
const (
	PublicationDone       = "published"
	PublicationAlready    = "already"
	PublicationWould      = "would_publish"
	PublicationRefused    = "refused"
	PublicationUnfinished = "unfinished"
)

// Published names a version that is in a registry.
type Published struct {
	Pack   string `json:"pack"`             // id@version
	Digest string `json:"digest,omitempty"` // of the OCI manifest
}

// EnvironmentBundle is what a version is in one environment.
type EnvironmentBundle struct {
	Name    string `json:"name"`              // id@version+environment.revision
	Digest  string `json:"digest"`            // of its OCI manifest
	Content string `json:"content"`           // of the resolved pack
	Class   string `json:"class"`             // since the bundle before
	Signed  string `json:"signed,omitempty"`  // RFC 3339
	Sources []File `json:"sources,omitempty"` // what it was made of
}

// File is a file with its digest.
type File struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Approval is one approval of a pull request.
type Approval = finding.Approval

// Halted reports whether a publication has to be acted on.
func (p *Publication) Halted() bool {
	return !slices.Contains([]string{PublicationDone, PublicationAlready, PublicationWould}, p.Status)
}

// VersionName names a version: "id 1.2.0".
func VersionName(name string) string {
	id, version, _ := strings.Cut(name, "@")
	return strings.TrimSpace(id + " " + version)
}

// Name names the version, or the file where its name is not known.
func (p *Publication) Name() string { return cmp.Or(VersionName(p.Pack), p.Path, "a pack") }

// Verdict is what is known of one version in a registry, and whether it may be used.
// Digests are "sha256:" and 64 hex digits, times RFC 3339; what is not known is "".
type Verdict struct {
	Ref     string `json:"ref"`                    // what was asked for
	Pack    string `json:"pack,omitempty"`         // id
	Version string `json:"pack_version,omitempty"` // MAJOR.MINOR.PATCH
	Digest  string `json:"digest,omitempty"`       // of the OCI manifest
	Content string `json:"content,omitempty"`      // of the pack's bytes
	// EnvironmentBundle is what the environment runs, or the bundle that was asked for.
	EnvironmentBundle *EnvironmentBundle `json:"environment_bundle,omitempty"`

	Status string `json:"status"` // usable, deprecated, revoked, untrusted or stale
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
	// Checks are what the gates came to when it was published; none where the signed statement does not say.
	Checks []Check `json:"checks,omitempty"`
	// Accepted are the findings that were in the baseline file; nil without such a file.
	Accepted *AcceptedFindings `json:"accepted,omitempty"`
	// Notes are its release notes; nil where the signed statement has none.
	Notes *Notes `json:"notes,omitempty"`
	// States are the signed states, and Pins the environments that a signed record moved here, be it long ago.
	States []Statement `json:"states,omitempty"`
	Pins   []string    `json:"pins,omitempty"`
	// NotChecked are sentences on what could not be looked at.
	NotChecked []string `json:"not_checked,omitempty"`
	// Freshness is what is known of how new the registry is; nil where that was not looked at.
	Freshness *Freshness `json:"freshness,omitempty"`
	// Path is the file that the version was written to, "" if none was, and Kept a file that stays in
	// use although it is not known whether its version is still the newest.
	Path string `json:"path,omitempty"`
	Kept string `json:"kept,omitempty"`
}

// Freshness is the publisher's status that a verdict rests on.
type Freshness struct {
	Sequence int    `json:"sequence"`
	Status   string `json:"status"` // digest of the document
	Issued   string `json:"issued"` // RFC 3339
	Expires  string `json:"expires"`
	State    string `json:"state,omitempty"` // that it gives the version
}

// Timestamp is what packgate timestamp did.
type Timestamp struct {
	Registry string   `json:"registry"`
	Sequence int      `json:"sequence"` // of the status
	Status   string   `json:"status"`   // digest of the document
	Packs    int      `json:"packs"`    // that it is about
	Issued   string   `json:"issued"`   // RFC 3339
	Expires  string   `json:"expires"`
	Signer   string   `json:"signer,omitempty"`
	Bundle   string   `json:"bundle,omitempty"` // digest of the signed statement
	DryRun   bool     `json:"dry_run,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what was found and not used
}

// Check is what one gate came to, and what of it did not run.
type Check struct {
	Gate    string   `json:"gate"`
	Status  string   `json:"status"`            // one of finding.Statuses
	NotRun  []string `json:"not_run,omitempty"` // rules
	Without []string `json:"without,omitempty"` // inputs that the gate did not have
}

// Statement is one signed statement that a version is deprecated or revoked.
type Statement struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Actor  string `json:"actor,omitempty"`
	Time   string `json:"time,omitempty"`   // RFC 3339
	Digest string `json:"digest,omitempty"` // of its bundle
}

// VersionLog is what is known of all versions of one pack in a registry, as they are shown.
type VersionLog struct {
	Pack       string     `json:"pack"`       // id
	Repository string     `json:"repository"` // in the registry
	Versions   []LogEntry `json:"versions"`
	// History is what was done with the pack, in the order of its signed records; nil where it was
	// not looked at.
	History    *History `json:"history,omitempty"`
	NotChecked []string `json:"not_checked,omitempty"`
}

// LogEntry is one version in a log. What is not known is "".
type LogEntry struct {
	Version string   `json:"pack_version"`
	Class   string   `json:"class,omitempty"`
	Digest  string   `json:"digest,omitempty"` // of the OCI manifest
	Signer  string   `json:"signer,omitempty"`
	Signed  string   `json:"signed,omitempty"` // RFC 3339
	State   string   `json:"state"`            // usable, deprecated, revoked, untrusted or stale
	Reason  string   `json:"reason,omitempty"` // of the state
	Pins    []string `json:"pins,omitempty"`   // environments that run it
	// Problems are sentences on what is wrong with it.
	Problems []string `json:"problems,omitempty"`
	// Conflict says that two digests of the version are signed.
	Conflict bool `json:"conflict,omitempty"`
	// Complete says that every check ran when it was published, and Checks what they came to,
	// none where its signed statement does not say.
	Complete bool    `json:"complete"`
	Checks   []Check `json:"checks,omitempty"`
	// Notes are its release notes; nil where its signed statement has none.
	Notes *Notes `json:"notes,omitempty"`
}

// Audit is what was found in a whole registry, or in some packs of it.
type Audit struct {
	Registry string         `json:"registry"`
	Packs    int            `json:"packs"`    // how many were looked at
	Versions int            `json:"versions"` // of all of them
	Findings []AuditFinding `json:"findings"`
	// Triggers are the packs that are to be gated again, and why.
	Triggers   []AuditTrigger    `json:"triggers,omitempty"`
	NotChecked []AuditNotChecked `json:"not_checked"`
	// Export is what was exported; nil where nothing was.
	Export *AuditExport `json:"export,omitempty"`
	// Completeness says of each version that is signed whether every check ran.
	Completeness []AuditVersion `json:"completeness,omitempty"`
}

// RollbackTimes are how long environments ran the versions of a pack that they were rolled back
// from. They are for metrics alone.
type RollbackTimes struct {
	Pack   string                     // id
	Took   map[string][]time.Duration // by environment
	Absent string                     // why they are not known, "" where they are
}

// AuditVersion says whether every check ran when a version was published, and what the checks
// came to, none where its signed statement does not say.
type AuditVersion struct {
	Pack     string  `json:"pack"`
	Version  string  `json:"pack_version"`
	Digest   string  `json:"digest"` // of the OCI manifest
	Complete bool    `json:"complete"`
	Checks   []Check `json:"checks,omitempty"`
}

// AuditFinding is one thing that is wrong in a registry. What it is not about is "".
type AuditFinding struct {
	Severity string `json:"severity"` // error or warning
	Pack     string `json:"pack,omitempty"`
	Version  string `json:"pack_version,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the OCI manifest or the bundle
	Check    string `json:"check"`            // its name
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// AuditTrigger is one reason to gate a published pack again.
type AuditTrigger struct {
	Pack string `json:"pack"` // id, or id@version
	Trigger
}

// AuditNotChecked is a check that could not run.
type AuditNotChecked struct {
	Pack    string `json:"pack,omitempty"`
	Version string `json:"pack_version,omitempty"`
	Check   string `json:"check,omitempty"` // its name; "" for all that there are
	Reason  string `json:"reason"`
}

// Lifecycle is what a command did to a version that is in a registry.
type Lifecycle struct {
	Command     string `json:"command"` // deprecate, revoke, pin or rollback
	Ref         string `json:"ref"`
	Pack        string `json:"pack"` // id@version
	Digest      string `json:"digest,omitempty"`
	Environment string `json:"environment,omitempty"` // of a pin or rollback
	State       string `json:"state,omitempty"`       // deprecated or revoked
	Reason      string `json:"reason,omitempty"`
	Actor       string `json:"actor,omitempty"`
	Previous    string `json:"previous,omitempty"` // digest of the manifest that was pinned before
	Bundle      string `json:"bundle,omitempty"`   // digest of the signed statement
	// Already says that it was so before, and DryRun that nothing was done.
	Already bool `json:"already,omitempty"`
	DryRun  bool `json:"dry_run,omitempty"`
	// Cases is how many golden and replay cases were run again before a pin.
	Cases int `json:"cases,omitempty"`
	// Environments are those that run the version, and Next the commands that end that.
	Environments []string `json:"environments,omitempty"`
	Next         []string `json:"next,omitempty"`
	// Stopped says that the environment has no version any more, Accepted why a rollback went to
	// a version whose cases do not pass, and Skipped which versions it passed over.
	Stopped  bool             `json:"stopped,omitempty"`
	Accepted string           `json:"accepted,omitempty"`
	Skipped  []SkippedVersion `json:"skipped,omitempty"`
}

// SkippedVersion is a version that a rollback passed over.
type SkippedVersion struct {
	Pack   string `json:"pack"` // id@version
	Reason string `json:"reason"`
}

// AcceptedFindings counts what the baseline file with a digest excuses.
type AcceptedFindings struct {
	Count  int    `json:"count"`
	Digest string `json:"digest"`
}

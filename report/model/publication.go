package model

import (
	"cmp"
	"slices"
	"strings"
)

// Publication is what became of one version of a pack in a registry. Digests are
// "sha256:" and 64 hex digits; what is not known is "".
type Publication struct {
	Pack   string `json:"pack"` // id@version
	Path   string `json:"path"` // file
	Status string `json:"status"`
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

// Approval is one approval of a merged pull request.
type Approval struct {
	Role  string `json:"role"`
	Login string `json:"login"`
}

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

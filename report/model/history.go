package model

// History is what was done with a pack, and whether its records are one whole chain.
type History struct {
	Records  int      `json:"records"`
	Deeds    []Deed   `json:"deeds"`
	Problems []string `json:"problems,omitempty"`
}

// Deed is what one signed statement did. What is not known is "".
type Deed struct {
	Record      int        `json:"record,omitempty"` // the number of the record that names it; absent where none does
	What        string     `json:"what"`             // published, bundle-published, deprecated, revoked, pinned or stopped
	Name        string     `json:"name"`             // pack_id@version, or that of an environment's bundle
	Digest      string     `json:"digest"`           // of the OCI manifest
	Environment string     `json:"environment,omitempty"`
	Who         string     `json:"who,omitempty"` // who ordered it
	Why         string     `json:"why,omitempty"`
	PullRequest string     `json:"pull_request,omitempty"`
	Approvals   []Approval `json:"approvals,omitempty"`
	Time        string     `json:"time"` // when it was signed, RFC 3339
	Signer      string     `json:"signer"`
	Statement   string     `json:"statement"` // digest of the bundle that holds it
	// Void says that it does not count: another statement moved the environment shortly before.
	Void bool `json:"void,omitempty"`
}

package model

// Lifecycle is what a command did to a version that is in a registry.
type Lifecycle struct {
	Command     string `json:"command"` // deprecate, revoke or pin
	Ref         string `json:"ref"`
	Pack        string `json:"pack"` // id@version
	Digest      string `json:"digest,omitempty"`
	Environment string `json:"environment,omitempty"` // of a pin
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
}

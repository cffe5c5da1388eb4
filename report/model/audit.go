package model

// Audit is what was found in a whole registry, or in some packs of it.
type Audit struct {
	Registry string         `json:"registry"`
	Packs    int            `json:"packs"`    // how many were looked at
	Versions int            `json:"versions"` // of all of them
	Findings []AuditFinding `json:"findings"`
	// Triggers are the packs that are to be gated again, and why.
	Triggers   []AuditTrigger    `json:"triggers,omitempty"`
	NotChecked []AuditNotChecked `json:"not_checked"`
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

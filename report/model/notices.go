package model

// Notices is what packgate notify found and told.
type Notices struct {
	Registry   string            `json:"registry,omitempty"` // "" where none was looked at
	DryRun     bool              `json:"dry_run,omitempty"`
	Notices    []Notice          `json:"notices"`
	NotChecked []AuditNotChecked `json:"not_checked"`
}

// Notice is one cause to tell somebody, and what was done about it.
type Notice struct {
	Kind  string `json:"notice"` // revocation, audit-failure, soak-done or waiver-ends
	State string `json:"state"`  // standing or ended
	Key   string `json:"key"`    // tells the cause from all others
	Title string `json:"title,omitempty"`
	Issue string `json:"issue,omitempty"` // what was done: opened, updated, reopened, closed, unchanged, left, deferred or failed; "" for nothing
	URL   string `json:"url,omitempty"`   // of the issue
	Event string `json:"event,omitempty"` // sent or failed; "" where it was sent before, or there is no webhook
	ID    string `json:"event_id,omitempty"`
}

package model

// AuditExport is a folder that packgate audit wrote.
type AuditExport struct {
	Directory string `json:"directory"`
	Events    int    `json:"events"`
	Files     int    `json:"files"` // beside the index
}

// ExportCheck is the result of verifying such a folder.
type ExportCheck struct {
	Directory  string         `json:"directory"`
	Verified   bool           `json:"verified"` // nothing is wrong with it
	Registry   string         `json:"registry"`
	Publisher  string         `json:"publisher"`
	Exported   string         `json:"exported"` // RFC 3339, by the clock of who exported it
	Events     int            `json:"events"`
	Statements int            `json:"statements"`
	Issued     string         `json:"issued,omitempty"` // of the timestamp, RFC 3339
	Packs      []ExportedPack `json:"packs"`
	Problems   []string       `json:"problems"`
	NotChecked []string       `json:"not_checked"`
}

// ExportedPack says how far nothing of a pack's history is missing.
type ExportedPack struct {
	Pack       string `json:"pack"`
	Records    int    `json:"records"`
	CompleteTo int    `json:"complete_to"` // record; 0 where it is not proved
	Stamped    bool   `json:"stamped"`     // by a timestamp of the status that names the record
}

package model

// Waivers are the waivers of a config, with what became of them.
type Waivers struct {
	Config     string            `json:"config"`   // the file
	MaxDays    int               `json:"max_days"` // within which a waiver ends, from today
	Today      string            `json:"today"`    // YYYY-MM-DD
	Waivers    []WaiverUse       `json:"waivers"`
	NotChecked []AuditNotChecked `json:"not_checked"`
}

// The states of a waiver.
const (
	WaiverUsed       = "used"
	WaiverUnused     = "unused"
	WaiverNotChecked = "not-checked" // its rule did not run on all that it is for
	WaiverExpired    = "expired"
)

// WaiverUse is one waiver. What is not known is absent.
type WaiverUse struct {
	Rule    string `json:"rule"`
	Name    string `json:"name"` // of the rule
	Pack    string `json:"pack"` // as it is written
	Path    string `json:"path,omitempty"`
	Of      string `json:"of,omitempty"`
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Expires string `json:"expires"` // YYYY-MM-DD
	Line    int    `json:"line"`
	State   string `json:"state"`
	// DaysLeft counts today, and is negative once it has ended.
	DaysLeft int      `json:"days_left"`
	Long     bool     `json:"long,omitempty"`         // it ends later than a waiver may
	EndsSoon bool     `json:"ends_soon,omitempty"`    // within two weeks
	Packs    []string `json:"packs"`                  // that it is for
	Findings int      `json:"findings"`               // that it excuses
	Since    string   `json:"since,omitempty"`        // day of the first commit that has it
	AgeDays  *int     `json:"age_days,omitempty"`     // since then
	Renewals int      `json:"renewals,omitempty"`     // how often its day was moved
	AtLeast  bool     `json:"age_is_least,omitempty"` // the history that is there begins with it
}

package model

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/contextosai/packgate/finding"
)

// Finding is one finding. Line and Column (in characters) count from 1; a whole file has none.
type Finding struct {
	Rule        string         `json:"rule"`
	Name        string         `json:"name"`
	Gate        string         `json:"gate"`
	Severity    string         `json:"severity"`
	Message     string         `json:"message"`
	Hint        string         `json:"hint,omitempty"`
	File        string         `json:"file"`
	Line        int            `json:"line,omitempty"`
	Column      int            `json:"column,omitempty"`
	EndLine     int            `json:"end_line,omitempty"`
	EndColumn   int            `json:"end_column,omitempty"`
	Pointer     string         `json:"pointer"`
	Path        string         `json:"path"`
	Related     []Related      `json:"related,omitempty"`
	Witness     map[string]any `json:"witness,omitempty"`
	Fix         *Fix           `json:"fix,omitempty"`
	Fingerprint string         `json:"fingerprint"`
	// Cause is what the finding follows from; nil where it is a cause itself.
	Cause *FollowsFrom `json:"cause,omitempty"`
	// Environment is the environment whose fault it is; absent for one of the pack itself.
	Environment string `json:"environment,omitempty"`
	// Thing is the part of the version before that the finding is about, as a waiver names it with of.
	Thing string `json:"thing,omitempty"`
	// Approve says that it is not a fault, but something that a reviewer has to approve.
	Approve bool `json:"approve,omitempty"`
	// Waivable says that a waiver can excuse it, with its thing or else its path.
	Waivable bool `json:"waivable,omitempty"`
	// State is new or existing in a comparison with a baseline, by fingerprint.
	State string `json:"state,omitempty"`
	// Old says that the baseline has it too and that nothing it is about has changed: it does not fail
	// a run for which only new findings count.
	Old bool `json:"old,omitempty"`
	// Waived and Approved are what excuses the finding, both where it takes both.
	Waived   *Waived    `json:"waived,omitempty"`
	Approved []Approval `json:"approved,omitempty"`
	// Accepted is the entry of the baseline file for which the finding does not count.
	Accepted *Accepted `json:"accepted,omitempty"`
}

// Excused reports whether the finding no longer counts.
func (f *Finding) Excused() bool { return f.Waived != nil || len(f.Approved) > 0 || f.Accepted != nil }

// Waiver returns a waiver of the finding in a pack, as lines of the config in which its reason, its
// owner and its last day are left empty. They cannot be read before somebody fills them in.
func (f *Finding) Waiver(packID string) string {
	lines := fmt.Sprintf("  - rule: %s\n    pack: %s\n", f.Rule, strconv.Quote(packID))
	switch {
	case f.Thing != "":
		lines += "    of: " + strconv.Quote(f.Thing) + "\n"
	case f.Path != "":
		lines += "    path: " + strconv.Quote(f.Path) + "\n"
	default:
		lines += "    # without a path: whatever " + f.Rule + " finds in the pack\n"
	}
	return lines + "    reason: \"\"  # why the finding is accepted\n    owner: \"\"  # who answers for it\n    expires: \"\"  # the last day, such as 2027-03-31\n"
}

// Related is a place that a finding refers to.
type Related struct {
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	// Revision is the SHA of the file's commit, absent for the files under review.
	Revision string `json:"revision,omitempty"`
}

// Fix is a mechanical repair: a JSON Patch (RFC 6902) and what it does.
type Fix struct {
	Description string      `json:"description"`
	Patch       []Operation `json:"patch"`
}

// Operation is one operation of a JSON Patch.
type Operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Waived is the waiver that excuses a finding.
type Waived = finding.Waiver

// Accepted is the entry of the baseline file that a finding is in.
type Accepted = finding.Acceptance

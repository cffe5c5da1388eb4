// Package finding holds the one value that every stage of packgate hands on:
// something that is wrong (or worth a look) in a file, with the place, the
// words and, where they exist, related places, a witness and a fix.
//
// The package knows nothing of packs, gates or reports. Places are plain
// numbers, so a finding can be sorted, compared and written without the
// document it was found in.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Severity says what a finding does to the verdict.
type Severity uint8

// The severities, from the one that never fails a gate to the one that does.
const (
	// Unset is the zero value; a rule's default severity takes its place.
	Unset Severity = iota
	// Warning is shown and counted and fails nothing, unless asked to.
	Warning
	// Error fails its gate and so the verdict.
	Error
)

// String returns "warning", "error" or "".
func (s Severity) String() string {
	if int(s) < len(severities) {
		return severities[s]
	}
	return ""
}

var severities = []string{Unset: "", Warning: "warning", Error: "error"}

// ParseSeverity reads "error" or "warning"; ok is false for anything else.
func ParseSeverity(s string) (sev Severity, ok bool) {
	i := max(slices.Index(severities, s), 0)
	return Severity(i), i > 0
}

// Position is a place in a file. Line and Column count from 1, the column in
// characters (Unicode code points, as GitHub's annotations do); Offset counts
// bytes from 0. The zero Position means that the place is not known.
type Position struct {
	Line, Column, Offset int
}

// Location is a range in a file, half-open: End is the first position after it.
// Pointer is the JSON Pointer (RFC 6901) of the value and Path its keyed path,
// in which items are named by identity instead of index; both are empty for
// the root and for places that are no JSON value.
//
// Revision is empty for the files under review, and the commit's SHA for a file
// of another version that they are compared with.
type Location struct {
	File       string
	Revision   string
	Start, End Position
	Pointer    string
	Path       string
}

// Related is another place that a reader needs to understand a finding, with
// what it is in a few words ("first defined here").
type Related struct {
	Location Location
	Message  string
}

// Operation is one step of a JSON Patch (RFC 6902). Value is the JSON text to
// put in place and is empty for "remove".
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}

// Fix is a mechanical repair: what it does in words, and the operations that do it.
type Fix struct {
	Description string
	Operations  []Operation
}

// Waiver is the exception that a repository's config grants to a finding.
type Waiver struct {
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Expires string `json:"expires"` // calendar day, YYYY-MM-DD
}

// Acceptance is the entry of the baseline file that a finding is in.
type Acceptance struct {
	Reason   string `json:"reason"`
	Owner    string `json:"owner"`
	Recorded string `json:"recorded"` // calendar day, as that of a waiver
	Expires  string `json:"expires"`
}

// Approval is an approval by somebody who holds a role.
type Approval struct {
	Role  string `json:"role"`
	Login string `json:"login"`
}

// Excuse says what excuses a finding.
type Excuse uint8

// What does. An approval is one of the change, by the roles that the config names for it.
const (
	ByWaiver Excuse = iota // a waiver, unless its rule has none
	ByEither               // a waiver or an approval
	ByBoth                 // a waiver together with an approval
)

// Thing names what a finding is of where that may be gone from the files under review,
// such as a golden case or a replay packet of the version before; empty for most.
type Thing struct {
	Name   string
	Intent string // that a metric of this name is of; "" for every other thing
}

// String returns the thing as a waiver names it: a metric as intent/metric.
func (t Thing) String() string {
	if t.Intent == "" {
		return t.Name
	}
	return t.Intent + "/" + t.Name
}

// Is reports whether a waiver names the thing. No metric has a slash in its name, so that
// a text names one metric of one intent.
func (t Thing) Is(text string) bool { return text != "" && t.String() == text }

// Finding is one fault, found by one rule at one place.
type Finding struct {
	Rule     string // rule id, such as REF001
	Name     string // the rule's readable name
	Gate     string // gate id
	Severity Severity
	Message  string // what is wrong, with the values; lower case, no final period
	Hint     string // what to do about it; empty where the message says it all
	// Key tells apart findings of one rule at one place (the name that did not
	// resolve, the environment that lacks it). It takes part in the
	// fingerprint; the message does not, so that words may be improved.
	Key   string
	Thing Thing
	// Approve says that it is no fault, but something that a reviewer has to approve.
	Approve bool
	// Waivable says that a waiver in the config can excuse it, as the run is judged.
	Waivable bool
	// Environment is the environment whose fault it is: its catalog, or its overlays, show it. ""
	// is a fault of the pack itself, wherever it runs.
	Environment string
	// Ordinal is how many findings with the same rule, path and key stand before
	// this one in the list that Sort made. It is 0 for nearly all.
	Ordinal  int
	Location Location
	Related  []Related
	// Witness is a request that shows the fault, as a JSON object; nil if none.
	Witness map[string]any
	Fix     *Fix
	// Waived and Approved are what excuses it: one of them is set, or both where it takes
	// both, and else neither is. Excuse says what would.
	Waived   *Waiver
	Approved []Approval
	Excuse   Excuse
	// Accepted is the entry of the baseline file for which it counts no more; nil for none.
	Accepted *Acceptance
	// State says whether the version before had the finding too; empty where there
	// is none to compare with.
	State State
	// Old says that the version before has the finding too, that nothing it is about has changed
	// since, and that it may be overlooked where only new findings count.
	Old bool
	// Cause is what the finding follows from; nil where it stands for itself.
	Cause *Cause
}

// Cause is what a finding would not be there without: another finding, by its fingerprint, or
// changes between two versions, by theirs.
type Cause struct {
	Finding string
	Changes []string
}

// Excused reports whether the finding counts no more.
func (f *Finding) Excused() bool { return f.Waived != nil || len(f.Approved) > 0 || f.Accepted != nil }

// NotChecked is a check that did not run. It is listed with its reason and
// never counted as passed.
type NotChecked struct {
	Gate   string `json:"gate"`           // gate id
	Rule   string `json:"rule,omitempty"` // rule id; empty when the whole gate did not run
	Reason string `json:"reason"`         // why, in the grammar of messages
	// Needs is the input that is not configured, where the check is not applicable
	// without it. Where it is none the check could not run, and its gate did not pass.
	Needs Input `json:"needs,omitzero"`
	// Required says that the config wants the check to have run (NRN001), whatever it needs.
	Required bool `json:"required,omitempty"`
}

// CouldNotRun reports whether the check should have run: the config requires it, or
// nothing that a repository need not have was missing.
func (n NotChecked) CouldNotRun() bool { return n.Required || n.Needs == Input{} }

// Compare orders findings for people: errors first, then by file, place, rule,
// path and key. It is a total order over everything that a report shows.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity, a.Severity),
		cmp.Compare(a.Location.File, b.Location.File),
		cmp.Compare(a.Location.Start.Offset, b.Location.Start.Offset),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Location.Path, b.Location.Path),
		cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Message, b.Message),
	)
}

// Sort orders findings by Compare, drops those that say the same of the same
// place twice, and numbers those that only their order tells apart.
func Sort(fs []Finding) []Finding {
	slices.SortStableFunc(fs, Compare)
	fs = slices.CompactFunc(fs, func(a, b Finding) bool { return Compare(a, b) == 0 })
	number(fs)
	return fs
}

// Fingerprint identifies the finding across versions of a pack: it depends on
// the rule, the keyed path and the key, neither on the line nor on the prose.
// Places in arrays whose items have no identity count for nothing, since every
// item that is put before them moves them; what is alike then is told apart by
// its order. It is 32 hexadecimal digits, the first half of a SHA-256.
func (f Finding) Fingerprint() string {
	parts := []string{f.Rule, unnumbered(f.Location.Path), f.Key}
	if f.Ordinal > 0 {
		parts = append(parts, strconv.Itoa(f.Ordinal))
	}
	return digest(parts...)
}

// ChangeFingerprint identifies a change between two versions of a pack, as
// Fingerprint does a finding: by the row of the class table that it is of, its
// keyed path, and what happened ("added", "removed", …).
func ChangeFingerprint(row, path, kind string) string {
	return digest("change", row, unnumbered(path), kind)
}

// Kin returns the fingerprint that the finding shares with those which only their order tells
// apart from it.
func (f Finding) Kin() string {
	f.Ordinal = 0
	return f.Fingerprint()
}

func digest(parts ...string) string {
	var room [512]byte
	b := room[:0]
	for _, part := range parts {
		// With its length before each part, no two lists write the same.
		b = append(append(strconv.AppendInt(b, int64(len(part)), 10), ':'), part...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// unnumbered returns a keyed path in which every place in an array without
// identities is the same one. Such places are written as a number, and as [i] for
// an item that should have an identity.
func unnumbered(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		digits := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// number sets the ordinals of findings in their order.
func number(fs []Finding) {
	seen := make(map[string]int, len(fs))
	for i := range fs {
		fs[i].Ordinal = 0
		same := fs[i].Fingerprint()
		fs[i].Ordinal = seen[same]
		seen[same]++
	}
}

// State says how a finding stands to the version before.
type State string

// The states. A finding that is there no more is fixed, and no finding any more.
const (
	New      State = "new"
	Existing State = "existing"
)

// Since compares findings with those of the version before, both as Sort leaves
// them. It returns the findings with their states, and those of the version before
// that are fixed, in their order. Neither argument is changed.
//
// Of a rule whose list is cut it is not known what is missing in it: then nothing is
// said to be fixed that may only have left the list, and nothing has a state that may
// have been there before.
func Since(before, now []Finding) (standing, fixed []Finding) {
	open := make(map[string]bool, len(before))
	for _, f := range before {
		open[f.Fingerprint()] = true
	}
	cutBefore, cutNow := cut(before), cut(now)
	standing = make([]Finding, len(now))
	for i, f := range now {
		fingerprint := f.Fingerprint()
		switch {
		case open[fingerprint]:
			f.State = Existing
		case cutBefore[f.Rule] && !f.IsRest():
			f.State = ""
		default:
			f.State = New
		}
		delete(open, fingerprint)
		standing[i] = f
	}
	for _, f := range before {
		if open[f.Fingerprint()] && (!cutNow[f.Rule] || f.IsRest()) {
			fixed = append(fixed, f)
		}
	}
	return standing, fixed
}

// restKey is the key of the finding that stands for those which are not listed. No
// rule has another one at the path "", that of a whole document, with this key.
const restKey = "… more"

// AsRest returns a finding that stands for those of its rule which are not listed.
// It has the path of a whole document, so that no waiver of a part of it covers it,
// and the same fingerprint however many there are.
func AsRest(f Finding) Finding {
	f.Key, f.Location.Path, f.Location.Pointer = restKey, "", ""
	return f
}

// IsRest reports whether the finding stands for those of its rule which are not
// listed.
func (f Finding) IsRest() bool { return f.Key == restKey && f.Location.Path == "" }

// cut returns the rules of which not all findings are listed.
func cut(list []Finding) map[string]bool {
	rules := map[string]bool{}
	for i := range list {
		if list[i].IsRest() {
			rules[list[i].Rule] = true
		}
	}
	return rules
}

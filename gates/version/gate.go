// Package version holds the words of the version check: the rules that compare
// the pack with its baseline, the version that is in use now.
//
// A version is a promise. An id with a version names one content for ever,
// because audit trails, replays and pins refer to it; and the step from one
// version to the next says what users have to expect: nothing but metadata
// (patch), constrained behaviour (minor), expanded or changed behaviour (major).
// The rules hold the author to that promise. What the changes are, and which
// class each of them has, is found by the comparison of the two versions, which
// reports in the name of these rules.
package version

import (
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
)

// Gate is the version check. Its rules have no Check of their own: they look at
// two packs, not at one, and are checked by the comparison of two versions.
var Gate = &gate.Gate{
	ID:    "version",
	Title: "Version",
	About: "The new pack_version says what the changes since the baseline mean for those who use the pack.",
	Rules: []*gate.Rule{VER001, VER002, VER003, VER004, VER005, VER006, VER007, VER008},
}

// Unregistered says that VER004 could not run, because there is no registry to ask.
func Unregistered() finding.NotChecked {
	return finding.NotChecked{Gate: Gate.ID, Rule: VER004.ID, Reason: "no registry is configured"}
}

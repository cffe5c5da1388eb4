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
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Gate is the version check. Its rules have no Check of their own: they look at
// two packs, not at one, and are checked by the comparison of two versions.
var Gate = &gate.Gate{
	ID:    "version",
	Title: "Version",
	About: "The new pack_version says what the changes since the baseline mean for those who use the pack.",
	Rules: []*gate.Rule{VER001, VER002, VER003, VER004, VER005, VER006, VER007, VER008},
}

// Unregistered says why VER004 could not run.
func Unregistered(reason string) finding.NotChecked {
	return finding.NotChecked{Gate: Gate.ID, Rule: VER004.ID, Reason: reason}
}

// Taken returns the finding that a version, id@version, is in a registry with other
// bytes; digest is that of the manifest there, and at the pack's pack_version.
func Taken(at *pack.Node, name, registry, digest string) finding.Finding {
	return finding.Finding{
		Rule: VER004.ID, Name: VER004.Name, Gate: Gate.ID, Severity: VER004.Severity, Location: at.Location(),
		Message: fmt.Sprintf("%q is published in %s with other bytes, as %s", name, registry, digest),
		Hint:    "set pack_version to one that is not published; packgate bump writes it",
	}
}

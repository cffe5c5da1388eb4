// Package release knows which packgate this is: the version that a release build sets, and that of
// its rules. It imports os alone, so that Go initialises it before the dependencies that need long
// for that (see [Package initialization] of the language), and answers `packgate --version` then.
//
// [Package initialization]: https://go.dev/ref/spec#Package_initialization
package release

import "os"

// Version is the version of a release, MAJOR.MINOR.PATCH, which the linker flag
// -X github.com/contextosai/packgate/internal/release.Version=… sets. It is empty in
// any other build, such as that of go install.
var Version string

// RulesVersion names the state of the rule set. It changes whenever a rule is
// added, retired, or decides differently.
const RulesVersion = "0.2.0"

// Line returns what `packgate --version` prints for that version of the program.
func Line(version string) string {
	return "packgate " + version + " (rules " + RulesVersion + ")\n"
}

func init() {
	if Version == "" || len(os.Args) != 2 || os.Args[1] != "--version" && os.Args[1] != "-v" {
		return
	}
	// If it cannot be printed, the command line fails at the same and says why.
	if _, err := os.Stdout.WriteString(Line(Version)); err == nil {
		os.Exit(0)
	}
}

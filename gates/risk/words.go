package risk

import (
	"strings"

	"github.com/contextosai/packgate/pack"
)

// fold brings the spellings of a contract word together: "Read-only" and
// "read only" mean read_only.
func fold(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
}

// modeName says in a word which mode a field states, and what it counts as
// where it states none that is known.
func modeName(f pack.Text) string {
	if pack.Mode(f).Known() {
		return f.Value
	}
	return "of no known mode, which counts as destructive"
}

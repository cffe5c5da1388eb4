package risk

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
)

// mostShown is how many characters of a pack's own text a message repeats.
const mostShown = 64

// quote quotes text of a document for a message, shortened.
func quote(text string) string {
	count := 0
	for i := range text {
		if count == mostShown {
			return fmt.Sprintf("%q", text[:i]+"…")
		}
		count++
	}
	return fmt.Sprintf("%q", text)
}

// called returns what messages call a thing: its kind and, if it has one, its name.
func called(kind string, name pack.Text) string {
	if !name.OK {
		return "the " + kind
	}
	return kind + " " + quote(name.Value)
}

func isObject(part pack.Part) bool { return part.Node != nil && part.Node.Kind == pack.Object }

func also(at *pack.Node, format string, args ...any) []finding.Related {
	if at == nil {
		return nil
	}
	return []finding.Related{gate.Also(at, fmt.Sprintf(format, args...))}
}

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

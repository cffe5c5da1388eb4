package version

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
)

// TestRulesHaveTheirWords says that every rule can be explained, and that none
// claims to check a single pack.
func TestRulesHaveTheirWords(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Gate.Rules {
		if !strings.HasPrefix(r.ID, "VER") || seen[r.ID] || seen[r.Name] {
			t.Errorf("%s %s is no name of its own", r.ID, r.Name)
		}
		seen[r.ID], seen[r.Name] = true, true
		for what, text := range map[string]string{
			"name": r.Name, "title": r.Title, "doc": r.Doc, "bad": r.Bad, "good": r.Good, "since": r.Introduced(), "severity": r.Severity.String(),
		} {
			if text == "" {
				t.Errorf("%s has no %s", r.ID, what)
			}
		}
		if r.Check != nil {
			t.Errorf("%s checks a pack alone", r.ID)
		}
		if (r.NoWaiver == gate.Always) != (r.ID == "VER006") {
			t.Errorf("%s: whether it can be waived: %s", r.ID, r.NoWaiver)
		}
	}
}

// A rule that could not run is not passed, and says why.
func TestUnregistered(t *testing.T) {
	if n := Unregistered("no registry is configured"); n.Gate != Gate.ID || n.Rule != "VER004" || n.Reason == "" {
		t.Errorf("%+v", n)
	}
}

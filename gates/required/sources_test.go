package required

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding"
)

// Every kind of input has one source, which says how it is known to be there.
func TestEveryInputHasASource(t *testing.T) {
	var kinds []finding.InputKind
	for _, s := range sources {
		kinds = append(kinds, s.kind)
		if s.gate == nil || s.hint == "" || (s.rule == nil) == (s.lacks == nil) {
			t.Errorf("%s: nothing says whether it is there, or what to do", s.kind)
		}
	}
	if !slices.Equal(kinds, finding.Inputs()) {
		t.Errorf("there are sources of %q, want %q", kinds, finding.Inputs())
	}
}

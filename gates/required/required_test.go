package required_test

import (
	"testing"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/test/gatetest"
)

// What is required is known when all gates have run. The class of the change is that which
// a case with a base has; without one the pack is compared with nothing.
func TestCases(t *testing.T) {
	gatetest.RunWith(t, required.Gate, func(t *testing.T, r *gate.Rule, s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
		policy, err := gates.NewPolicy(s.Config, false, time.Date(2027, time.June, 30, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		class := ""
		if s.Before != nil {
			class = "minor"
		}
		result := gates.Run(s, policy, gates.Outside{Class: class})
		var found []finding.Finding
		for _, f := range result.Findings {
			if f.Rule == r.ID {
				found = append(found, f)
			}
		}
		var marked []finding.NotChecked
		for _, n := range result.NotChecked {
			if n.Required {
				marked = append(marked, n)
			}
		}
		return found, marked
	})
}

package gate_test

import (
	"testing"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// unproved returns what a run finds of NPR001 in a subject.
func unproved(t *testing.T, s *gate.Subject, strict bool) (found []finding.Finding, r gates.Result) {
	t.Helper()
	policy, err := gates.NewPolicy(s.Config, strict, time.Date(2027, time.June, 30, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	r = gates.Run(s, policy, gates.Outside{})
	for _, f := range r.Findings {
		if f.Rule == gate.NPR001.ID {
			found = append(found, f)
		}
	}
	return found, r
}

// What is not proved is found by the gates that prove.
func TestUnprovedCases(t *testing.T) {
	gatetest.RunWith(t, gate.Proof, func(t *testing.T, _ *gate.Rule, s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
		found, _ := unproved(t, s, false)
		return found, nil
	})
}

// A claim that is not proved is a finding of the gate that makes it, known by the
// rule that asks: a warning, or an error where it says so.
func TestNotProved(t *testing.T) {
	s := gatetest.Surroundings{}.Subject(gatetest.Support())
	g := &gate.Gate{ID: "schema"}
	seen := map[string]bool{}
	for _, id := range []string{"SCH998", "SCH999"} {
		p := gate.NewPass(s, g, &gate.Rule{ID: id})
		p.NotProved(gate.Claim{At: s.Pack.Node, What: "that a is b", Key: "k"})
		p.NotProved(gate.Claim{At: s.Pack.Node, What: "that b is c", Reason: "it is hard", Error: true})
		found, _ := p.Results()
		for i, want := range []struct {
			severity finding.Severity
			message  string
		}{{finding.Warning, "that a is b is not proved (" + id + "): it is undecided"}, {finding.Error, "that b is c is not proved (" + id + "): it is hard"}} {
			f := found[i]
			if f.Rule != "NPR001" || f.Gate != "schema" || f.Severity != want.severity || f.Message != want.message {
				t.Errorf("found %+v, want %+v", f, want)
			}
			if seen[f.Fingerprint()] {
				t.Errorf("two claims have the fingerprint of %q", f.Message)
			}
			seen[f.Fingerprint()] = true
		}
	}
}

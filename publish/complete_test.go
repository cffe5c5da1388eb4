package publish

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/statement"
)

// A version is complete where its signed statement says that all of every gate ran, and
// only there.
func TestComplete(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			name    string
			checks  []statement.Check
			refused string // what the reason says; "" for none
		}{
			{"all ran", []statement.Check{{Gate: "replay", Status: "pass"}, {Gate: "risk", Status: "warn"}}, ""},
			{"not applicable", []statement.Check{{Gate: "evaluation", Status: "pass", Without: []string{"scorecard"}}}, ""},
			{"of an earlier packgate", nil, "whether every check ran is not known: it was published by packgate 0.9.0"},
			{"partial", []statement.Check{{Gate: "replay", Status: "partial", NotRun: []string{"RPL008", "RPL006"}}}, "not every check ran: replay is partial (RPL006, RPL008)"},
			{"undecided", []statement.Check{{Gate: "risk", Status: "undecided"}}, "not every check ran: risk is undecided"},
			{"not run", []statement.Check{{Gate: "risk", Status: "not_run"}, {Gate: "schema", Status: "pass"}}, "risk is not run"},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := w.empty(t)
				one := candidate("1.0.0", c.name)
				one.Checks = c.checks
				w.publish(one)
				v := w.verify("1.0.0")
				if v.Status != Usable || has(v, ReasonIncomplete) {
					t.Fatalf("status %q, %+v: nobody asked whether it is complete", v.Status, v.Reasons)
				}
				switch v.Complete(); {
				case c.refused == "" && (v.Status != Usable || len(v.Reasons) > 0):
					t.Errorf("status %q, reasons %+v", v.Status, v.Reasons)
				case c.refused != "" && (v.Status != Untrusted || !has(v, ReasonIncomplete) || !strings.Contains(v.Reasons[0].Message, c.refused)):
					t.Errorf("status %q, reasons %+v, want %q", v.Status, v.Reasons, c.refused)
				}
			})
		}
	})
}

// What is not signed is not complete either, and a revocation is the last word.
func TestCompleteKeepsWhatIsWorse(t *testing.T) {
	v := (&Verdict{Reasons: []Reason{ReasonUnsigned.refuses("", "", "not signed")}}).Complete()
	if v.Status != Untrusted {
		t.Errorf("unsigned is %s", v.Status)
	}
	v = (&Verdict{Summary: &statement.Summary{}, States: []StateRecord{{State: statement.StateRevoked}}}).Complete()
	if v.Status != Revoked {
		t.Errorf("revoked is %s", v.Status)
	}
}

package waivers_test

import (
	"testing"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

// The cases are judged on the last day of June 2027, an hour before it is July
// in UTC.
var now = time.Date(2027, time.June, 30, 23, 0, 0, 0, time.UTC)

// The rules about waivers look at what all gates found.
func TestCases(t *testing.T) {
	gatetest.RunWith(t, waivers.Gate, func(t *testing.T, r *gate.Rule, s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
		policy, err := gates.NewPolicy(s.Config, false, now)
		if err != nil {
			t.Fatal(err)
		}
		var found []finding.Finding
		for _, f := range gates.Run(s, policy, gates.Outside{}).Findings {
			if f.Rule == r.ID {
				found = append(found, f)
			}
		}
		return found, nil
	})
}

func text(s string) pack.Text { return pack.Text{Value: s, OK: true} }

func TestCovers(t *testing.T) {
	f := finding.Finding{Rule: "SEC008", Name: "long-memory", Location: finding.Location{Path: "/memory_layer/tiers/a"}}
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"SEC008", "", true}, {"sec008", "", true}, {"long-memory", "", true}, {"Long-Memory", "/", true},
		{"SEC00", "", false}, {"SEC0081", "", false}, {"", "", false}, {"SEC009", "", false},
		{"SEC008", "/memory_layer/tiers/a", true}, {"SEC008", "/memory_layer/tiers/a/", true},
		{"SEC008", "/memory_layer/tiers", true}, {"SEC008", "/memory_layer", true}, {"SEC008", "/memory_layer/", true},
		{"SEC008", "/memory_layer/tier", false}, {"SEC008", "/memory", false}, {"SEC008", "memory_layer", false},
		{"SEC008", "/memory_layer/tiers/a/b", false}, {"SEC008", "/memory_layer/tiers/ab", false}, {"SEC008", "/Memory_layer", false},
	} {
		if got := waivers.Covers(&repo.Waiver{Rule: text(c.rule), Path: text(c.path)}, f); got != c.want {
			t.Errorf("%s at %q: %v", c.rule, c.path, got)
		}
	}
	root := finding.Finding{Rule: "SCH003"}
	if !waivers.Covers(&repo.Waiver{Rule: text("SCH003")}, root) || waivers.Covers(&repo.Waiver{Rule: text("SCH003"), Path: text("/a")}, root) {
		t.Error("a finding at the root is covered by a path below it, or not by none")
	}
}

func TestExpired(t *testing.T) {
	w := &repo.Waiver{Expires: text("2027-06-30")}
	for today, want := range map[string]bool{"2026-12-31": false, "2027-06-29": false, "2027-06-30": false, "2027-07-01": true, "2028-01-01": true} {
		if got := waivers.Expired(w, today); got != want {
			t.Errorf("on %s: %v", today, got)
		}
	}
}

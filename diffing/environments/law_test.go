package environments_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/proof"
)

// numbers are what random overlays set, and between what.
var numbers = []struct {
	path     string
	from, to int
}{
	{bound, 1000, 49000},
	{"/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/min", 2, 100},
	{"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", 100, 2900},
	{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1", 100, 2900},
}

// anyOverlays returns up to two overlays of an environment.
func anyOverlays(r *rand.Rand) (list edits) {
	for i := range 1 + r.IntN(2) {
		var set []string
		for _, n := range numbers {
			if r.IntN(2) == 0 {
				set = append(set, fmt.Sprintf(`{"path": %q, "value": %d}`, n.path, n.from+r.IntN(5)*(n.to-n.from)/4))
			}
		}
		list = append(list, [3]string{fmt.Sprintf("packs/support/overlays/o%d.json", i), "",
			fmt.Sprintf(`{"overlay_id": "o%d", "environment": "prod", "base": "ctxpack.support@1.0.0", "order": %d, "set": [%s]}`, i, r.IntN(9), strings.Join(set, ", "))})
	}
	return list
}

// Whatever overlays are changed to: where the comparison of an environment shows that more
// is permitted, or does not prove that no more is, OVL011 says so; and where OVL011 says
// that more is, the class is major.
func TestLooserIsReported(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	runs := 40
	if testing.Short() {
		runs = 10
	}
	looser, tighter := 0, 0
	for range runs {
		base, head := anyOverlays(r), anyOverlays(r)
		before, after := base.subject(t), head.subject(t)
		after.Before = before
		changes, whole := comparedSubjects(t, before, after)
		grew, class := false, whole.Class
		for _, e := range changes {
			if class = max(class, e.Class); e.Environment != "prod" {
				t.Fatalf("%s changed", e.Environment)
			}
			for _, effect := range e.Effects {
				grew = grew || effect.Verdict != proof.Equal && effect.Verdict != proof.Shrank
			}
		}
		p := gate.NewPass(after, overlays.Gate, overlays.OVL011)
		overlays.OVL011.Check(p)
		found, _ := p.Results()
		held := false
		for _, f := range found {
			held = held || strings.Contains(f.Message, "held more")
		}
		if grew && len(found) == 0 {
			t.Errorf("more is permitted, and nothing is reported:\n%q\n%q", base, head)
		}
		if held && class < diffing.Major {
			t.Errorf("more is held and the class is %s:\n%q\n%q", class, base, head)
		}
		if grew {
			looser++
		} else if len(found) == 0 {
			tighter++
		}
	}
	if looser == 0 || tighter == 0 {
		t.Errorf("of %d runs %d are looser and %d have nothing reported: the law was not tried", runs, looser, tighter)
	}
}

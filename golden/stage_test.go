package golden_test

import (
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

// The stage at which a snapshot begins to drift is the first whose output differs,
// whatever is changed in a pack; and where no stage differs, nothing drifts but the
// reference of the pack.
func TestDriftBeginsAtTheStageThatChanged(t *testing.T) {
	unit, environments, config := open(t, example)
	before := map[string]golden.Result{}
	for _, r := range golden.Run(unit, environments, config) {
		before[r.File] = r
	}
	drifted := map[string]int{}
	gatetest.MutantsOf(t, unit.Document.Source, func(src []byte) {
		changed := *unit
		changed.Document = gatetest.Read(unit.Document.File, src)
		if changed.Pack = pack.New(changed.Document); changed.Pack == nil {
			return
		}
		changed.Cases, changed.Files, changed.Overlays = nil, nil, nil
		for _, c := range unit.Cases {
			if name := c.Case.Value; name != "refund-high-value" && name != "read-only-session" {
				continue
			}
			changed.Cases, changed.Files = append(changed.Cases, c), append(changed.Files, c.SideFile)
		}
		for _, r := range golden.Run(&changed, environments, config) {
			was := before[r.File]
			if r.Outcome != compiler.Compiled || was.Outcome != compiler.Compiled {
				continue
			}
			want := ""
			for i, s := range r.Detail.Stages {
				if s.Hash != was.Detail.Stages[i].Hash {
					want = s.Name
					break
				}
			}
			if want == "" && r.Snapshot == golden.Drifted {
				want = "controls" // the ledger, which is no stage's output
			}
			// A bundle's name and the allow of a rule that decides nothing are no output
			// of a stage; in the snapshot they stand with the policy. The outcome that has
			// the allow bounds a tool as well.
			mentioned := r.Stage == "policy" && (want == "tools" || want == "assembly" || want == "controls")
			if r.Stage != want && !mentioned {
				t.Fatalf("%s drifts from %q, and the first stage that differs is %q: %v", r.File, r.Stage, want, r.Differences)
			}
			drifted[want]++
		}
	})
	for _, stage := range []string{"policy", "tools", "assembly", "controls", ""} {
		if drifted[stage] == 0 {
			t.Errorf("no change of the pack makes stage %q drift: %v", stage, drifted)
		}
	}
}

// Cover counts by names, in document order, and only what was compiled.
func TestCover(t *testing.T) {
	unit, environments, config := open(t, variant(t))
	results := golden.Run(unit, environments, config)
	all := golden.Cover(unit, results)
	if exercised, of := all.Count(); exercised != 4 || of != 4 || all.Percent() != 100 {
		t.Errorf("the example covers %d of %d, %d %%", exercised, of, all.Percent())
	}
	var small []golden.Result
	for _, r := range results {
		if r.File == smallCase || r.File == lostCase {
			small = append(small, r)
		}
	}
	some := golden.Cover(unit, small)
	if exercised, of := some.Count(); exercised != 1 || of != 4 || some.Percent() != 25 {
		t.Errorf("one refund covers %d of %d, %d %%", exercised, of, some.Percent())
	}
	first := some.Rules[0]
	if first.Name != "R_REFUND_REQUIRES_IDV" || !first.Exercised() || first.Cases[0] != "refund-small" || first.Node == nil {
		t.Errorf("the first rule is %+v", first)
	}
	if exercised, of := golden.Count(some.Else, some.Gates); exercised != 0 || of != 2 || some.Gates[0].Exercised() {
		t.Errorf("else branches and gates: %d of %d", exercised, of)
	}
	if nothing := golden.Cover(&repo.Unit{}, results); nothing.Percent() != 100 || len(nothing.Rules) > 0 {
		t.Errorf("a pack that cannot be read has coverage %+v", nothing)
	}
}

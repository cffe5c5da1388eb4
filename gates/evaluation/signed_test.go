package evaluation

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
)

// Where nobody can check signatures, none counts, and the gate does not pass.
func TestSignaturesThatNobodyChecks(t *testing.T) {
	s := gatetest.ExampleIn(t, func(dir string) {
		card := filepath.Join(dir, "packs", "support", "scorecards", "acme-evals-7.json")
		src, err := os.ReadFile(card)
		if err == nil {
			err = os.WriteFile(card+".sigstore.json", append([]byte("signed: "), src...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		config := filepath.Join(dir, ".packgate.yaml")
		if src, err = os.ReadFile(config); err == nil {
			err = os.WriteFile(config, append(src, "\nevaluator: {workflow: acme/evals/.github/workflows/measure.yml@refs/heads/main}\n"...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	byScorecard := func() bool {
		return slices.ContainsFunc(Measure(s), func(m Measurement) bool { return m.Value.OK && m.Source != BuiltIn })
	}
	_, unchecked := gatetest.Judge(Gate, s)
	if byScorecard() || !slices.ContainsFunc(unchecked, func(n finding.NotChecked) bool { return n.Rule == "EVL014" && n.Needs == finding.Input{} }) {
		t.Errorf("a signature that nobody checks counts, or is not said: %+v", unchecked)
	}
	s = gatetest.Signed(s)
	found, unchecked := gatetest.Judge(Gate, s)
	if !byScorecard() || slices.ContainsFunc(unchecked, func(n finding.NotChecked) bool { return n.Rule == "EVL014" }) {
		t.Errorf("the signature does not count: %+v, %+v", found, unchecked)
	}
}

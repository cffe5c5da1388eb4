package gates_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// emptyRules is the documented support pack whose bundle has so many empty rules.
func emptyRules(t *testing.T, count int) []byte {
	t.Helper()
	list := "[" + strings.TrimSuffix(strings.Repeat("{},", count), ",") + "]"
	src, err := edittest.Apply(gatetest.Support(), silent+"replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules "+list+"\n")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// listedOf counts what is listed of a rule, and returns the finding that stands for
// the rest.
func listedOf(r gates.Result, rule string) (count int, rest *finding.Finding) {
	for i, f := range r.Findings {
		switch {
		case f.Rule != rule:
		case f.IsRest():
			rest = &r.Findings[i]
		default:
			count++
		}
	}
	return count, rest
}

// What is found in a pack with a fault in every few bytes is bounded, and so is what
// it takes: each further byte of the pack costs no more than a bounded number of
// bytes, which are those of reading it and of telling that it is wrong.
func TestManyFaults(t *testing.T) {
	const few, many = 5_000, 20_000
	spent := func(count int) (float64, int, gates.Result) {
		src := emptyRules(t, count)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := gates.Run(subject(src), policy(t, "", false), gates.Outside{})
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc), len(src), r
	}
	one, short, _ := spent(few)
	four, long, r := spent(many)
	if each := (four - one) / float64(long-short); each > 1000 {
		t.Errorf("a byte of the pack takes %.0f bytes", each)
	}
	count, rest := listedOf(r, "SCH004")
	if count != gate.MostFindings || rest == nil || rest.Severity != finding.Error {
		t.Errorf("%d are listed, and for the rest %v", count, rest)
	}
	if most := 8 * (gate.MostFindings + 1); len(r.Findings) > most {
		t.Errorf("%d findings", len(r.Findings))
	}
	if r.Gates[0].Status != finding.Fail {
		t.Errorf("the schema gate is %s", r.Gates[0].Status)
	}
}

// A waiver hides the finding that stands for the rest only where it covers all of the
// rule in the pack. One that covers a part, or another rule, does not, and none is
// called unused where what it covers may not be listed.
func TestWaiversOfManyFaults(t *testing.T) {
	src := emptyRules(t, 2*gate.MostFindings)
	for _, c := range []struct {
		rule, path string
		waived     bool
	}{
		{"SCH004", "", true},
		{"SCH004", "/policy_layer", false},
		{"SCH004", "/pack_meta/none", false},
		{"RSK006", "", false},
	} {
		r := gates.Run(subject(src), policy(t, waiver(c.rule, c.path, "2099-01-01"), false), gates.Outside{})
		_, rest := listedOf(r, "SCH004")
		if rest == nil || (rest.Waived != nil) != c.waived {
			t.Errorf("a waiver of %s at %q: the rest is %+v", c.rule, c.path, rest)
		}
		for _, f := range r.Findings {
			if f.Rule == "WVR002" && c.rule == "SCH004" {
				t.Errorf("a waiver of %s at %q: %s", c.rule, c.path, f.Message)
			}
		}
		if r.Gates[0].Status != finding.Fail && !c.waived {
			t.Errorf("a waiver of %s at %q makes the schema gate %s", c.rule, c.path, r.Gates[0].Status)
		}
	}
}

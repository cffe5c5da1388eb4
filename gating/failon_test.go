package gating

import (
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/report/model"
)

// Whatever fails at one of two levels fails at the tightest of them.
func TestTightest(t *testing.T) {
	all := []model.Finding{
		{Severity: "error"}, {Severity: "warning"}, {Severity: "error", Old: true}, {Severity: "warning", Old: true},
		{Severity: "error", Waived: &finding.Waiver{}},
	}
	fails := func(level string) (list [5]bool) {
		r := testRun(level)
		for i, f := range all {
			list[i] = r.fails(f)
		}
		return list
	}
	for level, want := range map[string][5]bool{
		FailOnError: {0: true, 2: true}, FailOnWarning: {true, true, true, true},
		FailOnNew: {0: true}, FailOnNewWarning: {true, true}, "": {0: true, 2: true},
	} {
		if got := fails(level); got != want {
			t.Errorf("%s fails for %v, want %v", level, got, want)
		}
	}
	levels := append(FailOnLevels(), "")
	for _, asked := range levels {
		for _, config := range levels {
			if config == FailOnNever {
				continue // which no config can say
			}
			got := fails(Tightest(asked, config))
			for i := range got {
				want := fails(config)[i] || asked != "" && asked != FailOnNever && fails(asked)[i]
				if want && !got[i] || Tightest(config, config) == asked && want != got[i] {
					t.Errorf("%q over %q is %q, which fails %v for finding %d", asked, config, Tightest(asked, config), got[i], i)
				}
			}
		}
	}
}

package model_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// A report that says something better or something else than its packs come to is refused, of whichever
// version and whoever reads it.
func TestVerdictFollowsFromThePacks(t *testing.T) {
	failing, passing := reporttest.Failing(), reporttest.Other(reporttest.Clean(model.Passed), "b")
	for name, c := range map[string]struct {
		edit func(*model.Report)
		says string
	}{
		"a pass with a pack that fails":  {func(r *model.Report) { r.Result, r.ExitCode = model.Passed, 0 }, `it says "pass", but its packs come to "fail"`},
		"a reject without any":           {func(r *model.Report) { r.Result, r.ExitCode = model.Rejected, 4 }, `it says "reject", but its packs come to "fail"`},
		"a pack that is left out":        {func(r *model.Report) { r.Packs = withRows(failing) }, "but its packs come to"},
		"other counts":                   {func(r *model.Report) { r.Summary.Errors = 0 }, "but its packs come to"},
		"errors of the run":              {func(r *model.Report) { r.Errors = []model.Problem{{Message: "m"}} }, "1 error kept the run from being decided"},
		"a failure that exits as a pass": {func(r *model.Report) { r.Result, r.ExitCode = model.Broken, 0 }, "exit status 0"},
		"a pack that passes with an error": {func(r *model.Report) {
			p := failing
			p.Result = model.Passed
			r.Packs, r.Result, r.ExitCode = withRows(p, passing), model.Passed, 0
		}, "passes, although"},
		"a pass that exits otherwise": {func(r *model.Report) {
			r.Packs, r.Result = withRows(passing), model.Passed
			r.Summary = model.Summarise(r.Packs)
		}, "exit status 1"},
	} {
		for _, part := range []string{"", "1/2"} {
			r := shard(part, failing, passing)
			c.edit(r)
			src := reporttest.JsonOf(t, r)
			readers := map[string]func() (*model.Report, error){
				"whole":   func() (*model.Report, error) { return model.Read(strings.NewReader(src)) },
				"by file": stored(src, model.Tool{}).Read,
			}
			if name != "a pack that passes with an error" { // its row says so, and it is refused once it is looked at
				readers["by the program that wrote it"] = stored(src, r.Tool).Read
			}
			if part == "" {
				old := reporttest.Version1(t, src)
				readers["of version 1"] = func() (*model.Report, error) { return model.Read(strings.NewReader(old)) }
			}
			for _, how := range slices.Sorted(maps.Keys(readers)) {
				if _, err := readers[how](); !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, shard %q, %s: error %v, wanted %s", name, part, how, err, c.says)
				}
			}
		}
	}
}

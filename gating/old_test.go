package gating

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/test/gittest"
)

// olds gates the pack in a folder of a repository against its last commit, and returns the rules of
// its findings, those that are old as "old RULE".
func olds(t *testing.T, dir, name string) (list []string) {
	t.Helper()
	j, _ := sinceHead(t, dir, name)
	for _, f := range j.result.Findings {
		if f.Old {
			f.Rule = "old " + f.Rule
		}
		list = append(list, f.Rule)
	}
	return list
}

// A bad change does not hide behind an old finding: one is old only if nothing of it has changed.
func TestOld(t *testing.T) {
	const unknown, ungated, hidden = "SCH005", "RSK006", "SEC011"
	var pack string
	edit := func(old, now string) { gittest.Edit(t, pack, old, now) }
	dir := gittest.Committed(t, func(dir string) {
		pack = filepath.Join(dir, "packs", "support", "pack.json")
		edit(`"pack_meta": {`, `"pack_meta": { "x_team": "support", `)
		edit(`"cite policy",`, `"cite\u200b policy", "cite\u200b policy",`)
	})
	widened := func() {
		edit(`"==": [
                  {
                    "var": "request.context.identity_verified"`, `"!=": [
                  {
                    "var": "request.context.identity_verified"`)
	}
	for _, c := range []struct {
		name      string
		change    func()
		old, anew []string // rules of which a finding is, and of which one is not
		folder    string
	}{
		{"nothing", func() {}, []string{unknown, ungated, hidden}, nil, ""},
		{"another line", func() { edit(`"contract_meta"`, "\n\n\"contract_meta\"") }, []string{unknown, ungated, hidden}, nil, ""},
		{"another value of the member", func() { edit(`"x_team": "support"`, `"x_team": "all"`) }, []string{ungated, hidden}, []string{unknown}, ""},
		{"another member besides", func() { edit(`"x_team"`, `"a_team": 1, "x_team"`) }, []string{unknown, ungated}, []string{unknown}, ""},
		{"one more of the same", func() { edit(`"cite\u200b policy"`, `"cite\u200b policy", "cite\u200b policy"`) }, []string{hidden, unknown}, []string{hidden}, ""},
		{"the ungated tool for more requests", widened, []string{unknown, hidden}, []string{"RSK002"}, ""},
		{"the ungated tool for more requests, in the same words", func() {
			edit(`"==": [
                  {
                    "var": "request.context.identity_verified"
                  },
                  true
                ]`, `"in": [{"var": "request.context.identity_verified"}, [true, "yes"]]`)
		}, []string{unknown, hidden}, []string{ungated}, ""},
		{"a new id", func() { edit(`"pack_id": "ctxpack.support"`, `"pack_id": "ctxpack.other"`) }, []string{unknown}, nil, ""},
		{"another folder", func() { gittest.Git(t, dir, "mv", "packs/support", "packs/moved") }, []string{unknown, ungated, hidden}, nil, "moved"},
	} {
		c.change()
		name := "support"
		if c.folder != "" {
			name = c.folder
		}
		got := olds(t, dir, name)
		for _, rule := range c.old {
			if !slices.Contains(got, "old "+rule) {
				t.Errorf("%s: %s is not old: %q", c.name, rule, got)
			}
		}
		for _, rule := range c.anew {
			if !slices.Contains(got, rule) {
				t.Errorf("%s: no %s is new: %q", c.name, rule, got)
			}
		}
		gittest.Git(t, dir, "reset", "-q", "--hard")
	}
}

// What nobody has looked at in the base is old while agents can do no more: a pack without golden
// cases that cannot be compiled may be worded otherwise, and nothing else of it.
func TestOldOfWhatIsMissing(t *testing.T) {
	const noCase, noMeasure, noApprover = "RPL006", "EVL013", "POL002"
	var pack string
	edit := func(old, now string) { gittest.Edit(t, pack, old, now) }
	dir := gittest.Committed(t, func(dir string) {
		folder := filepath.Join(dir, "packs", "support")
		pack = filepath.Join(folder, "pack.json")
		for _, name := range []string{"golden", "replay", "scorecards", "overlays"} {
			if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		edit(`"capability": "eval",`, `"capability": "judge",`)
		edit(`"finance_lead"`, `""`)
	})
	raise := func() { edit(`"pack_version": "1.0.0"`, `"pack_version": "1.1.0"`) }
	reword := func() { edit(`"cite policy"`, `"cite the policy"`) }
	all := []string{noCase, noMeasure, noApprover}
	for _, c := range []struct {
		name   string
		change []func()
		old    bool
	}{
		{"nothing", nil, true},
		{"other words in a new version", []func(){raise, reword}, true},
		{"a condition too", []func(){raise, reword, func() { edit(`3000`, `4000`) }}, false},
		{"a version that made it unfit", []func(){reword, func() { edit(`"pack_version": "1.0.0"`, `"pack_version": "1.1"`) }}, false},
		{"compiled again", []func(){raise, func() { edit(`"capability": "judge",`, `"capability": "eval",`) }}, false},
	} {
		for _, do := range c.change {
			do()
		}
		got := olds(t, dir, "support")
		for _, rule := range all {
			if old := slices.Contains(got, "old "+rule); old != c.old {
				t.Errorf("%s: %s is old: %t, want %t: %q", c.name, rule, old, c.old, got)
			}
		}
		gittest.Git(t, dir, "reset", "-q", "--hard")
	}
}

package gating

import (
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

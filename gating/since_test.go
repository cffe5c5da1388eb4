package gating

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gittest"
)

// sinceHead gates the pack in a folder of a repository against its last commit.
func sinceHead(t *testing.T, dir, name string) (*judged, *Baseline) {
	t.Helper()
	w, unit, err := OpenPack(t.Context(), filepath.Join(dir, "packs", name), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	base := headOf(t, w)
	p, err := newPipeline(testRun(FailOnError), Inputs{Workspace: w, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	j, err := p.judge(t.Context(), unit.Name)
	if err != nil {
		t.Fatal(err)
	}
	return j, base
}

// standing gates the pack in a folder of a repository against its last commit, and
// returns its findings as "state RULE path", those that are fixed included, and what
// was not checked of the version.
func standing(t *testing.T, dir, name string) (states []string, unchecked string) {
	t.Helper()
	j, base := sinceHead(t, dir, name)
	for _, f := range j.result.Findings {
		states = append(states, string(f.State)+" "+f.Rule+" "+f.Location.Path)
	}
	for _, f := range j.fixed {
		if f.Location.Revision != base.Tree.SHA() {
			t.Errorf("the place of a fixed finding is in %q", f.Location.Revision)
		}
		states = append(states, "fixed "+f.Rule+" "+f.Location.Path)
	}
	for _, n := range j.result.NotChecked {
		if strings.HasPrefix(n.Reason, "which findings") {
			unchecked += n.Reason
		}
	}
	return states, unchecked
}

// Findings are new, existing or fixed by what they are about, wherever they stand.
func TestSinceBaseline(t *testing.T) {
	var pack string
	dir := gittest.Committed(t, func(dir string) {
		pack = filepath.Join(dir, "packs", "support", "pack.json")
		gittest.Edit(t, pack, `"data_classification": "INTERNAL"`, `"data_classification": "internal"`)
	})
	states, unchecked := standing(t, dir, "support")
	for _, s := range states {
		if !strings.HasPrefix(s, "existing ") {
			t.Errorf("nothing changed, and there is: %s", s)
		}
	}
	if len(states) == 0 || unchecked != "" {
		t.Fatalf("%q, not checked %q", states, unchecked)
	}

	// One is fixed, another comes, and those that stay move to other lines.
	gittest.Edit(t, pack, `"data_classification": "internal"`, `"data_classification": "INTERNAL"`)
	gittest.Edit(t, pack, `"pack_meta": {`, "\"pack_meta\": {\n\n")
	gittest.Edit(t, pack, `"rationale":`, `"rationalle":`)
	after, _ := standing(t, dir, "support")
	count := map[string]int{}
	for _, s := range after {
		state, _, _ := strings.Cut(s, " ")
		count[state]++
	}
	if count[string(finding.New)] == 0 || count[string(finding.Existing)] == 0 || count["fixed"] == 0 {
		t.Errorf("was %q, is %q", states, after)
	}

	// Without the pack in the base every finding is new.
	gittest.Edit(t, pack, `"pack_id": "ctxpack.support"`, `"pack_id": "ctxpack.other"`)
	if err := os.Rename(filepath.Join(dir, "packs", "support"), filepath.Join(dir, "packs", "other")); err != nil {
		t.Fatal(err)
	}
	fresh, _ := standing(t, dir, "other")
	for _, s := range fresh {
		if !strings.HasPrefix(s, "new ") {
			t.Errorf("the pack is new, and there is: %s", s)
		}
	}
}

// A base that cannot be read leaves the states open, which is said.
func TestSinceUnreadableBase(t *testing.T) {
	var golden string
	dir := gittest.Committed(t, func(dir string) {
		golden = filepath.Join(dir, "packs", "support", "golden", "refund-small.case.json")
		if err := os.Rename(golden, golden+".moved"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../../../../elsewhere.json", golden); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.Rename(golden+".moved", golden); err != nil {
		t.Fatal(err)
	}
	states, unchecked := standing(t, dir, "support")
	for _, s := range states {
		if !strings.HasPrefix(s, " ") {
			t.Errorf("the base cannot be read, and there is: %s", s)
		}
	}
	if want := "which findings are new is not known, for the base could not be read"; !strings.HasPrefix(unchecked, want) || len(states) == 0 {
		t.Errorf("%q, not checked %q", states, unchecked)
	}
}

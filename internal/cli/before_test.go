package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
)

// committed returns the example repository as a git repository with one commit.
func committed(t *testing.T, edit func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	edit(dir)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}

// edit replaces a text in a file, which has to hold it.
func edit(t *testing.T, name, old, now string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(src, []byte(old)) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	if err := os.WriteFile(name, bytes.Replace(src, []byte(old), []byte(now), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

// standing gates the pack in a folder of a repository against its last commit, and
// returns its findings as "state RULE path", those that are fixed included, and what
// was not checked of the version.
func standing(t *testing.T, dir, name string) (states []string, unchecked string) {
	t.Helper()
	w, err := openWorkspace(filepath.Join(dir, "packs", name), settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.files.Close()
	base, err := openBaseline(w, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	e := env(os.Stdout)
	policy, err := gates.NewPolicy(w.config, false, e.Now())
	if err != nil {
		t.Fatal(err)
	}
	unit, err := w.one(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, from, _, err := base.compare(t.Context(), w, unit, nil)
	if err != nil {
		t.Fatal(err)
	}
	head := gate.NewSubject(unit, w.environments, w.config)
	result := gates.Run(head, policy)
	fixed, _, err := base.since(t.Context(), w, from, policy, head, &result)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		states = append(states, string(f.State)+" "+f.Rule+" "+f.Location.Path)
	}
	for _, f := range fixed {
		if f.Location.Revision != base.tree.SHA() {
			t.Errorf("the place of a fixed finding is in %q", f.Location.Revision)
		}
		states = append(states, "fixed "+f.Rule+" "+f.Location.Path)
	}
	for _, n := range result.NotChecked {
		if n.Gate == "version" {
			unchecked += n.Reason
		}
	}
	return states, unchecked
}

// Findings are new, existing or fixed by what they are about, wherever they stand.
func TestSinceBaseline(t *testing.T) {
	var pack string
	dir := committed(t, func(dir string) {
		pack = filepath.Join(dir, "packs", "support", "pack.json")
		edit(t, pack, `"data_classification": "INTERNAL"`, `"data_classification": "internal"`)
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

	// One is mended, another comes, and those that stay move to other lines.
	edit(t, pack, `"data_classification": "internal"`, `"data_classification": "INTERNAL"`)
	edit(t, pack, `"pack_meta": {`, "\"pack_meta\": {\n\n")
	edit(t, pack, `"rationale":`, `"rationalle":`)
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
	edit(t, pack, `"pack_id": "ctxpack.support"`, `"pack_id": "ctxpack.other"`)
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
	dir := committed(t, func(dir string) {
		golden = filepath.Join(dir, "packs", "support", "golden", "refund-small.case.json")
		if err := os.Rename(golden, golden+".moved"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("refund-small.case.json.moved", golden); err != nil {
			t.Fatal(err)
		}
	})
	states, unchecked := standing(t, dir, "support")
	for _, s := range states {
		if !strings.HasPrefix(s, " ") {
			t.Errorf("the base cannot be read, and there is: %s", s)
		}
	}
	if want := "which findings are new is not known, for the base could not be read: "; !strings.HasPrefix(unchecked, want) || len(states) == 0 {
		t.Errorf("%q, not checked %q", states, unchecked)
	}
}

package gating

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/gittest"
)

// headOf opens the last commit of a workspace, until the test ends.
func headOf(t *testing.T, w *Workspace) *Baseline {
	t.Helper()
	t.Cleanup(func() { w.Close() })
	base, err := OpenBaseline(w, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	return base
}

// asked reports what unchanged says of the finops pack of a repository against its last
// commit, and whether every file that rules look at is the same, which is what it says
// where it is certain.
func asked(t *testing.T, dir string) (unchanged, equal bool) {
	t.Helper()
	w, unit, err := OpenPack(t.Context(), filepath.Join(dir, "packs", "finops"), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	base := headOf(t, w)
	head := w.Subject(unit)
	if unchanged, err = base.unchanged(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	was, _, err := base.subject(base.Commit, unit.Name)
	if err != nil {
		t.Fatal(err)
	}
	return unchanged, sameFiles(was, head)
}

// A pack is unchanged as long as every file of it is there, no other one is, and the
// catalogs are what they were: each is edited, removed and added in turn.
func TestUnchanged(t *testing.T) {
	dir := gittest.Committed(t, func(string) {})
	if unchanged, equal := asked(t, dir); !unchanged || !equal {
		t.Fatalf("nothing changed, and unchanged is %t, equal %t", unchanged, equal)
	}
	change := func(name string, now func(name string, was []byte) error) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		was, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := now(file, was); err != nil {
			t.Fatal(err)
		}
		if unchanged, equal := asked(t, dir); unchanged {
			t.Errorf("%s: unchanged is true, and equal %t", name, equal)
		}
		if was == nil {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, was, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	for _, top := range []string{"packs/finops", "environments"} {
		err := fs.WalkDir(os.DirFS(dir), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".json") {
				return err
			}
			files++
			change(name, func(file string, was []byte) error { return os.WriteFile(file, append([]byte(" "), was...), 0o644) })
			if name != "packs/finops/pack.json" { // without which there is no pack to ask about
				change(name, func(file string, _ []byte) error { return os.Remove(file) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 15 {
		t.Errorf("only %d files were changed", files)
	}
	for _, name := range []string{
		"packs/finops/golden/another.case.json", "packs/finops/scorecards/another.json", "packs/finops/overlays/another.json",
		"packs/finops/replay/another.packet.json", "environments/another.json",
	} {
		change(name, func(file string, _ []byte) error {
			return os.WriteFile(file, []byte(`{"environment": "another"}`), 0o644)
		})
	}
	if unchanged, equal := asked(t, dir); !unchanged || !equal {
		t.Errorf("all is as it was, and unchanged is %t, equal %t", unchanged, equal)
	}
}

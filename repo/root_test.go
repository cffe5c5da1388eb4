package repo

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// writeTo writes a file below a folder.
func writeTo(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A folder that stays open gives what the way from the root gives: for a file that a link in it
// leads to elsewhere in the repository, for one that a link leads out to, for a file that comes
// and goes, for a folder that is removed and made again, and for what is in all of these folders.
func TestOpenFoldersHideNothing(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	writeTo(t, outside, "secret.json", `"outside"`)
	writeTo(t, dir, "common/a.json", `"common"`)
	writeTo(t, dir, "p/golden/a.json", `"a"`)
	for name, target := range map[string]string{"linked": "../common", "golden/in.json": "../../common/a.json", "golden/out.json": filepath.Join(outside, "secret.json"), "golden/up.json": "../../../x.json"} {
		if err := os.Symlink(target, filepath.Join(dir, "p", filepath.FromSlash(name))); err != nil {
			t.Skip(err)
		}
	}
	files, err := OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		folder, isFolder := strings.CutSuffix(name, "/")
		if !isFolder {
			src, _, err := files.read(name, 100)
			if err != nil {
				return "refused"
			}
			return string(src)
		}
		entries, err := fs.ReadDir(files.tree, folder)
		if err != nil {
			return "refused"
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	check := func(when string, want map[string]string) {
		t.Helper()
		for name, text := range want {
			if got := read(name); got != text {
				t.Errorf("%s, %s is %s, want %s", when, name, got, text)
			}
		}
	}
	check("at first", map[string]string{"p/golden/a.json": `"a"`, "p/golden/in.json": `"common"`, "p/golden/out.json": "refused", "p/golden/up.json": "refused", "p/golden/b.json": "refused",
		"p/golden/": "a.json in.json out.json up.json", "p/linked/a.json": `"common"`, "p/linked/": "a.json", "p/": "golden linked", "q/": "refused", "p/golden/a.json/": "refused"})
	writeTo(t, dir, "p/golden/b.json", `"b"`)
	check("with another file", map[string]string{"p/golden/b.json": `"b"`, "p/golden/": "a.json b.json in.json out.json up.json"})
	if err := os.RemoveAll(filepath.Join(dir, "p")); err != nil {
		t.Fatal(err)
	}
	check("without the folder", map[string]string{"p/golden/a.json": "refused", "p/golden/": "refused", "p/": "refused"})
	writeTo(t, dir, "p/golden/a.json", `"new"`)
	check("with a new folder", map[string]string{"p/golden/a.json": `"new"`, "p/golden/": "a.json", "p/": "golden"})
	for i := range 3 * mostFolders() {
		name := fmt.Sprintf("many/%d/x.json", i)
		writeTo(t, dir, name, name)
		check("of many", map[string]string{name: name, "p/golden/a.json": `"new"`})
	}
	if open := len(files.tree.(*rootFS).folders); open > mostFolders() {
		t.Errorf("%d folders are open, want at most %d", open, mostFolders())
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
	check("once closed", map[string]string{"p/golden/a.json": "refused", "common/a.json": "refused", "common/": "refused"})
}

// What was read of a file that looks like no pack is noted; of a file that does, that was not
// read, or that is too large, nothing is known.
func TestNoPack(t *testing.T) {
	dir := t.TempDir()
	of := func(layers int) string {
		text := "{"
		for _, layer := range pack.Layers()[len(pack.Layers())-layers:] {
			text += fmt.Sprintf("%q: {}, ", layer)
		}
		return text + `"x": "` + fmt.Sprintf("%0200d", 0) + `"}`
	}
	for name, text := range map[string]string{"a/pack.json": of(10), "a/three.json": of(3), "a/two.json": of(2), "a/none.json": of(0), "a/unread.json": of(0), "a/large.json": of(0), "a/text.txt": of(0)} {
		writeTo(t, dir, name, text)
	}
	files, err := OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	noting := files.Noting()
	for name, most := range map[string]int64{"a/pack.json": 1000, "a/three.json": 1000, "a/../a/two.json": 1000, "a/none.json": 1000, "a/large.json": 100, "a/absent.json": 100, "a/text.txt": 1000} {
		if _, _, err := noting.read(name, most); err != nil && name != "a/absent.json" {
			t.Error(err)
		}
	}
	for name, want := range map[string]bool{"a/pack.json": false, "a/three.json": false, "a/two.json": true, "a/none.json": true, "a/unread.json": false, "a/large.json": false, "a/absent.json": false, "a/text.txt": false} {
		if noting.NoPack(name) != want {
			t.Errorf("%s is known to be no pack: %v, want %v", name, !want, want)
		}
		if files.NoPack(name) {
			t.Errorf("%s is noted by files that note nothing", name)
		}
	}
}

// listings counts how often each folder of a tree is listed.
type listings struct {
	fs.FS
	of map[string]int
}

func (l listings) ReadDir(name string) ([]fs.DirEntry, error) {
	l.of[name]++
	return fs.ReadDir(l.FS, name)
}

// For one pack, each folder is listed once.
func TestUnitListsFoldersOnce(t *testing.T) {
	l := listings{os.DirFS("../examples/acme-support"), map[string]int{}}
	if _, err := FilesOf(l, ".", "").Unit("packs/support/pack.json", DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"packs/support": 1, "packs/support/golden": 1, "packs/support/overlays": 1, "packs/support/replay": 1, "packs/support/scorecards": 1}
	if !maps.Equal(l.of, want) {
		t.Errorf("folders were listed %v times, want %v", l.of, want)
	}
}

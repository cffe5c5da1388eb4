package github

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// The tree of a commit is a file system as any other, and fstest knows its laws.
func TestTreeFS(t *testing.T) {
	h := newHistory(t)
	first := h.commit(files{"packs/a.json": `{"a":1}`, "packs/café/日本.json": "ü", "packs-x/b": "b", "packs.x": "c", "empty": ""})
	second := h.commit(files{"packs/a.json": `{"a":2}`, "link": "-> packs/a.json", "folder": "-> packs"}, first)
	tree, err := open(t, h.dir).Tree(first)
	must(t, err)
	if err := fstest.TestFS(tree.FS(), "packs/a.json", "packs/café/日本.json", "packs-x/b", "packs.x", "empty"); err != nil {
		t.Error(err)
	}

	// Another commit has other content, and its links are followed.
	tree, err = open(t, h.dir).Tree(second)
	must(t, err)
	files := tree.FS()
	if src, err := fs.ReadFile(files, "packs/a.json"); err != nil || string(src) != `{"a":2}` {
		t.Errorf("read %q, %v", src, err)
	}
	for name, kind := range map[string]fs.FileMode{"link": 0, "folder": fs.ModeDir} {
		if info, err := fs.Stat(files, name); err != nil || info.Mode().Type() != kind {
			t.Errorf("%s leads to %v, %v", name, info, err)
		}
		if info, err := fs.Lstat(files, name); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s is %v, %v", name, info, err)
		}
	}
	if src, err := fs.ReadFile(files, "folder/a.json"); err != nil || string(src) != `{"a":2}` {
		t.Errorf("read %q, %v", src, err)
	}
	for _, name := range []string{"packs/café/日本.json", "folder/b.json", "link/a", "packs/a.json/a", "none"} {
		if _, err := files.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "/packs", "../a", "packs/", "packs/../link"} {
		if _, err := files.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if to, err := fs.ReadLink(files, "link"); err != nil || to != "packs/a.json" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if _, err := fs.ReadFile(files, "packs"); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder is read: %v", err)
	}
}

package github

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestTreeReadFile(t *testing.T) {
	h := newHistory(t)
	sha := h.commit(files{
		"packs/a.json": `{"a":1}`, "packs/café/日本.json": "ü", "packs-x/b": "b", "packs.x": "c", "empty": "",
		"link": "-> packs/a.json", "folder": "-> packs", "up": "-> packs/../folder/a.json",
		"out": "-> ../a.json", "far": "-> /etc", "ring": "-> ring", "none": "-> nothing",
	})
	tree, err := open(t, h.dir).Tree(sha)
	must(t, err)
	for name, want := range map[string]string{
		"packs/a.json": `{"a":1}`, "./packs//a.json": `{"a":1}`, "packs/café/日本.json": "ü", "packs-x/b": "b", "packs.x": "c", "empty": "",
		"link": `{"a":1}`, "folder/a.json": `{"a":1}`, "up": `{"a":1}`,
	} {
		got, err := tree.ReadFile(name, 7)
		if err != nil || string(got) != want {
			t.Errorf("ReadFile(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := tree.ReadFile("packs/a.json", 6); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "has 7 bytes") {
		t.Errorf("above the limit: got %v", err)
	}
	for _, name := range []string{"absent", "packs/absent", "absent/a", "packs.x/a", "packs/a.json/a", "PACKS/a.json", ".", "none", "link/a"} {
		if _, err := tree.ReadFile(name, 100); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrBaseUnreadable) {
			t.Errorf("ReadFile(%q): got %v, wanted fs.ErrNotExist", name, err)
		}
	}
	for name, want := range map[string]NotFileError{
		"packs":      {Path: "packs", At: "packs", Kind: KindDirectory},
		"packs/café": {Path: "packs/café", At: "packs/café", Kind: KindDirectory},
		"folder":     {Path: "folder", At: "folder", Kind: KindDirectory},
		"far/a.json": {Path: "far/a.json", At: "far", Kind: KindSymlink},
		"ring":       {Path: "ring", At: "ring", Kind: KindSymlink},
	} {
		_, err := tree.ReadFile(name, 100)
		var got *NotFileError
		if !errors.As(err, &got) || *got != want || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q): got %v, wanted %v", name, err, &want)
		}
	}
	if _, err := tree.ReadFile("far/a.json", 100); err.Error() != `"far" is a symbolic link, wanted a regular file for "far/a.json"` {
		t.Errorf("got message %q", err)
	}
	if _, err := tree.ReadFile("out", 100); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("over a link that leads out: %v", err)
	}
	for _, name := range []string{"", "/packs/a.json", "../a", "packs/../packs/a.json", ".."} {
		if _, err := tree.ReadFile(name, 100); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q): got %v, wanted a refused path", name, err)
		}
	}
}

func TestTreeList(t *testing.T) {
	h := newHistory(t)
	h.commit(files{"packs/a.json": "1", "packs/b/c.json": "1", "packs-x/d.json": "2", "packs.json": "3", "link": "-> packs", "tool": "x",
		"packs/b/back": "-> ..", "one": "-> packs.json", "out": "-> ../x"})
	linked := strings.Repeat("ab", 20)
	gitIn(t, h.dir, "update-index", "--add", "--cacheinfo", "160000,"+linked+",vendor/sub")
	gitIn(t, h.dir, "update-index", "--chmod=+x", "tool")
	gitIn(t, h.dir, "commit", "--quiet", "--message=x")
	r := open(t, h.dir)
	sha, err := r.Resolve("main")
	must(t, err)
	tree, err := r.Tree(sha)
	must(t, err)
	all, err := tree.List(t.Context(), nil)
	must(t, err)
	var got []string
	for _, e := range all {
		got = append(got, e.Path+" "+string(e.Kind))
	}
	want := []string{"link/a.json file", "link/b/back symbolic link", "link/b/c.json file", "one file", "out symbolic link",
		"packs-x/d.json file", "packs.json file", "packs/a.json file", "packs/b/back symbolic link", "packs/b/c.json file", "tool file", "vendor/sub submodule"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if all[7].ID != all[9].ID || all[7].ID == all[5].ID || all[0].ID != all[7].ID || all[0].Real != "packs/a.json" || all[11].ID != linked {
		t.Errorf("IDs do not follow the content: %+v", all)
	}
	some, err := tree.List(t.Context(), func(path string) bool { return strings.HasPrefix(path, "packs/") })
	must(t, err)
	if !slices.Equal(some, all[7:10]) {
		t.Errorf("matched %+v, want %+v", some, all[7:10])
	}
	var notFile *NotFileError
	if _, err := tree.ReadFile("vendor/sub/x", 100); !errors.As(err, &notFile) || notFile.Kind != KindSubmodule {
		t.Errorf("below a submodule: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.List(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// Objects that a commit names and the store lacks are never "not there".
func TestTreeAbsentObjects(t *testing.T) {
	for _, lost := range []string{"HEAD:packs/a.json", "HEAD:packs", "HEAD^{tree}", "HEAD"} {
		t.Run(lost, func(t *testing.T) {
			h := newHistory(t)
			base := h.commit(files{"packs/a.json": "1", "b": "1"})
			other := h.commit(files{"b": "1"}, base)
			sha := h.commit(files{"packs/a.json": "2", "b": "2"}, other)
			id := gitIn(t, h.dir, "rev-parse", lost)
			must(t, os.Remove(filepath.Join(h.dir, ".git", "objects", id[:2], id[2:])))
			r := open(t, h.dir)
			tree, err := r.Tree(sha)
			if err == nil {
				_, err = tree.ReadFile("packs/a.json", 100)
			}
			if !errors.Is(err, ErrBaseUnreadable) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ReadFile: got %v, wanted ErrBaseUnreadable", err)
			}
			if tree == nil || lost == "HEAD:packs/a.json" {
				return
			}
			if _, err := tree.List(t.Context(), nil); !errors.Is(err, ErrBaseUnreadable) {
				t.Errorf("List: got %v, wanted ErrBaseUnreadable", err)
			}
			for _, from := range []string{base, other} {
				tree, err := r.Tree(from)
				must(t, err)
				if got, err := r.Changed(t.Context(), tree); !errors.Is(err, ErrBaseUnreadable) {
					t.Errorf("Changed since %s: got %v, %v, wanted ErrBaseUnreadable", from, got, err)
				}
			}
		})
	}
}

func TestTreeDamagedObject(t *testing.T) {
	h := newHistory(t)
	sha := h.commit(files{"a": "1"})
	id := gitIn(t, h.dir, "rev-parse", "HEAD:a")
	file := filepath.Join(h.dir, ".git", "objects", id[:2], id[2:])
	must(t, os.Chmod(file, 0o644))
	must(t, os.WriteFile(file, []byte("not zlib"), 0o644))
	tree, err := open(t, h.dir).Tree(sha)
	must(t, err)
	if _, err := tree.ReadFile("a", 100); !errors.Is(err, ErrBaseUnreadable) {
		t.Errorf("got %v, wanted ErrBaseUnreadable", err)
	}
}

func TestTreeUnknown(t *testing.T) {
	h := newHistory(t)
	h.commit(files{"a": "1"})
	if _, err := open(t, h.dir).Tree("main"); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("got %v, wanted ErrUnknownRevision", err)
	}
}

// Names that mean a place outside of the tree cannot be made with git; a
// hostile client can still write them.
func TestTreeHostileName(t *testing.T) {
	h := newHistory(t)
	h.commit(files{"a": "1"})
	blob := gitIn(t, h.dir, "rev-parse", "HEAD:a")
	file := filepath.Join(t.TempDir(), "tree")
	must(t, os.WriteFile(file, append([]byte("100644 ..\x00"), hexBytes(t, blob)...), 0o644))
	root := gitIn(t, h.dir, "hash-object", "-t", "tree", "-w", "--literally", file)
	sha := gitIn(t, h.dir, "commit-tree", "-m", "x", root)
	tree, err := open(t, h.dir).Tree(sha)
	if err == nil {
		_, err = tree.List(t.Context(), nil)
	}
	if !errors.Is(err, ErrBaseUnreadable) {
		t.Errorf("got %v, wanted ErrBaseUnreadable", err)
	}
}

func TestChanged(t *testing.T) {
	h := newHistory(t)
	base := h.commit(files{
		"same": "1", "changed": "1", "gone": "1", "moved/old": "moved content", "café/日本": "1",
		"file": "1", "folder/in": "1", "points": "-> same", "becomes": "1",
	})
	h.commit(files{
		"same": "1", "changed": "2", "moved/new": "moved content", "café/日本": "2", "new": "1",
		"file/in": "1", "folder": "1", "points": "-> changed", "becomes": "-> same",
	}, base)
	gitIn(t, h.dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",sub")
	gitIn(t, h.dir, "update-index", "--chmod=+x", "same")
	gitIn(t, h.dir, "commit", "--quiet", "--amend", "--message=x")
	r := open(t, h.dir)
	tree, err := r.Tree(base)
	must(t, err)
	got, err := r.Changed(t.Context(), tree)
	must(t, err)
	want := []Change{
		{"becomes", Modified}, {"café/日本", Modified}, {"changed", Modified}, {"file", Deleted}, {"file/in", Added},
		{"folder", Added}, {"folder/in", Deleted}, {"gone", Deleted}, {"moved/new", Added}, {"moved/old", Deleted},
		{"new", Added}, {"points", Modified}, {"same", Modified}, {"sub", Added},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	head, err := r.Resolve("HEAD")
	must(t, err)
	if tree, err = r.Tree(head); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Changed(t.Context(), tree); err != nil || len(got) != 0 {
		t.Errorf("HEAD against itself: got %v, %v", got, err)
	}
	if _, err := r.Changed(t.Context(), nil); err == nil {
		t.Error("no base was taken for an empty one")
	}
}

// Packs are read by several goroutines at once.
func TestTreeConcurrent(t *testing.T) {
	p := newProposal(t)
	r := open(t, p.checkout(t, p.merge, "1"))
	base, err := r.Base(t.Context(), p.event(), "")
	must(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				if _, err := base.Tree.ReadFile("packs/a.json", 100); err != nil {
					t.Error(err)
				}
				if _, err := r.Changed(t.Context(), base.Tree); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

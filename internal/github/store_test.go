package github

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// descriptors returns how many files the process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		list, err = os.ReadDir("/dev/fd")
	}
	must(t, err)
	return len(list)
}

// Reading files that each have an object of their own keeps none of them open.
func TestLooseObjectsAreClosed(t *testing.T) {
	const count = 300
	h := newHistory(t)
	content := files{}
	for i := range count {
		content[fmt.Sprintf("packs/p%d/pack.json", i)] = fmt.Sprint("content ", i)
	}
	sha := h.commit(content)
	r := open(t, h.dir)
	tree, err := r.Tree(sha)
	must(t, err)
	before := descriptors(t)
	for name, want := range content {
		if got, err := fs.ReadFile(tree.FS(), name); err != nil || string(got) != want {
			t.Fatalf("%s is %q, %v", name, got, err)
		}
		if got, err := tree.ReadFile(name, 100); err != nil || string(got) != want {
			t.Fatalf("%s is %q, %v", name, got, err)
		}
	}
	// A few may be opened by whatever else the process does.
	if after := descriptors(t); after > before+count/10 {
		t.Errorf("%d files are open after reading %d, and were %d before", after, count, before)
	}
}

// The size of an object is what its content has, wherever it is kept; that of a
// damaged one is an error and not its absence.
func TestObjectSizes(t *testing.T) {
	h := newHistory(t)
	h.commit(files{"a": "packed", "b": ""})
	gitIn(t, h.dir, "repack", "-a", "-d")
	must(t, os.WriteFile(filepath.Join(h.dir, "c"), []byte("loose"), 0o644))
	id := gitIn(t, h.dir, "hash-object", "-w", "c")
	s := open(t, h.dir).store
	for _, c := range []struct{ id, content string }{
		{gitIn(t, h.dir, "rev-parse", "HEAD:a"), "packed"}, {gitIn(t, h.dir, "rev-parse", "HEAD:b"), ""}, {id, "loose"},
	} {
		if size, err := s.EncodedObjectSize(plumbing.NewHash(c.id)); err != nil || size != int64(len(c.content)) {
			t.Errorf("%q has %d bytes, %v", c.content, size, err)
		}
	}
	if _, err := s.EncodedObjectSize(plumbing.NewHash("1234567890123456789012345678901234567890")); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("the size of nothing: %v", err)
	}
	file := filepath.Join(h.dir, ".git", "objects", id[:2], id[2:])
	must(t, os.Chmod(file, 0o644))
	for _, damaged := range []string{"", "not zlib"} {
		must(t, os.WriteFile(file, []byte(damaged), 0o644))
		before := descriptors(t)
		for range 50 {
			if _, err := s.EncodedObjectSize(plumbing.NewHash(id)); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
				t.Fatalf("the size of a damaged object: %v", err)
			}
		}
		if after := descriptors(t); after > before+25 {
			t.Errorf("%d files are open after a damaged object, and were %d before", after, before)
		}
	}
}

// An index that cannot be read makes nothing absent: not at first, nor afterwards.
func TestDamagedIndex(t *testing.T) {
	h := newHistory(t)
	sha := h.commit(files{"a": "packed"})
	gitIn(t, h.dir, "repack", "-a", "-d")
	indexes, err := filepath.Glob(filepath.Join(h.dir, ".git", "objects", "pack", "*.idx"))
	if err != nil || len(indexes) != 1 {
		t.Fatalf("the indexes are %v, %v", indexes, err)
	}
	whole, err := os.ReadFile(indexes[0])
	must(t, err)
	must(t, os.Chmod(indexes[0], 0o644))
	must(t, os.WriteFile(indexes[0], whole[:len(whole)/2], 0o644))
	r := open(t, h.dir)
	hash := plumbing.NewHash(sha)
	ways := map[string]func() error{
		"object": func() error { _, err := object.GetCommit(r.store, hash); return err },
		"size":   func() error { _, err := r.store.EncodedObjectSize(hash); return err },
		"prefix": func() error { _, err := r.store.HashesWithPrefix(hash[:4]); return err },
		"tree":   func() error { _, err := r.Tree(sha); return err },
	}
	for range 3 {
		for name, read := range ways {
			if err := read(); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
				t.Errorf("%s: %v, want what is wrong with the index", name, err)
			}
		}
	}
	must(t, os.WriteFile(indexes[0], whole, 0o644))
	for name, read := range ways {
		if err := read(); err != nil {
			t.Errorf("%s, once the index is there: %v", name, err)
		}
	}
}

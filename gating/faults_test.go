package gating

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gittest"
)

// failing is a tree of files of which one operation fails, counted from 1. It counts
// what is done where none does.
type failing struct {
	fs.FS
	at    int64
	err   error
	count atomic.Int64
}

func (f *failing) next(op, name string) error {
	if f.count.Add(1) == f.at {
		return &fs.PathError{Op: op, Path: name, Err: f.err}
	}
	return nil
}

func (f *failing) Open(name string) (fs.File, error) {
	if err := f.next("open", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	return &failingFile{file, f, name}, err
}

func (f *failing) Stat(name string) (fs.FileInfo, error) {
	if err := f.next("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(f.FS, name)
}

func (f *failing) Lstat(name string) (fs.FileInfo, error) {
	if err := f.next("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(f.FS, name)
}

func (f *failing) ReadLink(name string) (string, error) {
	if err := f.next("readlink", name); err != nil {
		return "", err
	}
	return fs.ReadLink(f.FS, name)
}

func (f *failing) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.next("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(f.FS, name)
}

type failingFile struct {
	fs.File
	tree *failing
	name string
}

func (f *failingFile) Stat() (fs.FileInfo, error) {
	if err := f.tree.next("stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *failingFile) Read(p []byte) (int, error) {
	if err := f.tree.next("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// gatedTree gates every pack of a tree, and returns the exit code and the report.
func gatedTree(t *testing.T, tree fs.FS) (code int, text string) {
	t.Helper()
	r := testRun(FailOnWarning)
	w := &Workspace{Dir: ".", Files: repo.FilesOf(tree, ".", "")}
	err := w.load(Place{Root: ".", Scope: "."}, Settings{})
	if err == nil {
		err = r.All(t.Context(), Inputs{Workspace: w})
	}
	if err != nil {
		r.Fail(err)
	}
	r.Settle()
	src, err := json.Marshal(r.Report)
	if err != nil {
		t.Fatal(err)
	}
	return r.Report.ExitCode, string(src)
}

// Whatever operation on a file fails, a run ends in an error that says so, or as it
// would have without: a file that could not be looked at is never an absent one.
func TestEveryFailingOperation(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(gittest.Example())); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "packs", "finops")); err != nil {
		t.Fatal(err)
	}
	// One file is reached over a link, and one folder.
	snapshot := filepath.Join(dir, "packs", "support", "golden", "refund-small.compiled.json")
	overlays := filepath.Join(dir, "packs", "support", "overlays")
	if err := errors.Join(
		os.Rename(snapshot, filepath.Join(dir, "kept.txt")), os.Symlink("../../../kept.txt", snapshot),
		os.Rename(overlays, filepath.Join(dir, "kept")), os.Symlink("../../kept", overlays),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	calm := &failing{FS: root.FS()}
	wantCode, want := gatedTree(t, calm)
	if wantCode != ExitFindings || !strings.Contains(want, "RSK006") {
		t.Fatalf("exit status %d\n%s", wantCode, want)
	}
	operations := calm.count.Load()
	if operations < 100 {
		t.Fatalf("%d operations are too few to be all", operations)
	}
	// Packs are gated side by side, so the nth operation is not the same one each time;
	// the law is about any.
	for i, cause := range []error{syscall.EMFILE, syscall.EIO, syscall.EACCES} {
		for n := int64(1 + i); n <= operations; n += 3 {
			code, text := gatedTree(t, &failing{FS: root.FS(), at: n, err: cause})
			if code == wantCode && text == want {
				continue
			}
			if code != ExitFailure || !strings.Contains(text, cause.Error()) {
				t.Errorf("operation %d of %d fails with %q: exit status %d; wanted %d with that reason\n%s", n, operations, cause, code, ExitFailure, text)
			}
		}
	}
}

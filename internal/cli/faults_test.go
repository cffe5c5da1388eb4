package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
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
	e := env(nil)
	r := newRun(&e, "check", failOnWarning)
	w := &workspace{dir: ".", files: repo.FilesOf(tree, ".", "")}
	err := w.load(place{root: ".", scope: "."}, "", settings{})
	if err == nil {
		err = errors.Join(r.gate(t.Context(), w, nil, nil, nil), r.strayWaivers(w))
	}
	if err != nil {
		r.fail(err)
	}
	r.settle()
	src, err := json.Marshal(r.report)
	if err != nil {
		t.Fatal(err)
	}
	return r.report.ExitCode, string(src)
}

// Whatever operation on a file fails, a run ends in an error that says so, or as it
// would have without: a file that could not be looked at is never an absent one.
func TestEveryFailingOperation(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "acme-support"))); err != nil {
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

// An event that cannot be read is a failure of the machine.
func TestUnreadableEvent(t *testing.T) {
	variables := map[string]string{
		"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": "event.json", "GITHUB_REPOSITORY": "acme/packs", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_RUN_ID": "1", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_SHA": strings.Repeat("1", 40), "GITHUB_WORKSPACE": ".",
	}
	for _, cause := range []error{syscall.EMFILE, syscall.EIO, syscall.EACCES} {
		_, err := github.ReadEvent(func(name string) string { return variables[name] }, func(name string) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: cause}
		})
		if exitCode(err) != ExitFailure || len(problemsOf(err)) != 1 || problemsOf(err)[0].Hint == "" {
			t.Errorf("%v: exit status %d, %v; wanted %d and what to do", cause, exitCode(err), problemsOf(err), ExitFailure)
		}
	}
}

// A clock that is far off changes what depends on the day alone, and breaks nothing.
func TestClockFarOff(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, repo.ConfigName)
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	waiver := "waivers: [{rule: RSK006, pack: ctxpack.support, path: /, reason: known, owner: me, expires: 2099-12-31}]\n"
	if err := os.WriteFile(name, append(src, waiver...), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now  time.Time
		code int
	}{
		{time.Unix(0, 0), ExitPass},
		{time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC), ExitPass},
		{time.Date(2100, 1, 2, 0, 0, 0, 0, time.UTC), ExitFindings},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), ExitFindings},
		{time.Time{}, ExitPass},
	} {
		var out, problems bytes.Buffer
		e := env(&out, "check", dir, "--fail-on", "warning")
		e.Now, e.Stderr = func() time.Time { return c.now }, &problems
		code := Main(t.Context(), e)
		if code != c.code || strings.Contains(out.String(), "  waived RSK006 ") != (c.code == ExitPass) {
			t.Errorf("%v: exit status %d, wanted %d\n%s%s", c.now, code, c.code, &out, &problems)
		}
	}
}

// What was joined is said one by one, and each with what to do.
func TestParts(t *testing.T) {
	full := fmt.Errorf("write a: %w", syscall.ENOSPC)
	for _, c := range []struct {
		err  error
		want int
	}{
		{full, 1}, {errors.Join(full, full), 2}, {errors.Join(errors.Join(full), full, full), 3}, {fmt.Errorf("%w and %w", full, full), 1},
	} {
		problems := problemsOf(c.err)
		if len(problems) != c.want {
			t.Errorf("%v: %d problems, wanted %d", c.err, len(problems), c.want)
		}
		for _, p := range problems {
			if p.Hint == "" || strings.Contains(p.Message, "\n") {
				t.Errorf("%v: %+v", c.err, p)
			}
		}
	}
}

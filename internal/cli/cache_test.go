package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/test/gittest"
)

// household is a user with folders for what packgate keeps, who runs it.
type household struct {
	home    string
	version string
	now     time.Time
	vars    map[string]string
}

func newHousehold(t *testing.T) *household {
	return &household{home: t.TempDir(), version: "v1.2.3", now: time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)}
}

func (h *household) settings() string { return filepath.Join(h.home, "settings") }
func (h *household) entries() string  { return filepath.Join(h.home, "cache", "packgate") }

// env is the world of the household.
func (h *household) env(out *bytes.Buffer, args ...string) Env {
	e := env(out, args...)
	e.Version, e.Now = h.version, func() time.Time { return h.now }
	e.Getenv = func(name string) string { return h.vars[name] }
	e.CacheDir = func() (string, error) { return filepath.Join(h.home, "cache"), nil }
	e.ConfigDir = func() (string, error) { return h.settings(), nil }
	return e
}

// prints runs a command and returns what it prints, with its exit status in the end.
func (h *household) prints(t *testing.T, args ...string) string {
	t.Helper()
	return h.printsIn(t, func(*Env) {}, args...)
}

// printsIn is prints in a world that a function changes.
func (h *household) printsIn(t *testing.T, change func(*Env), args ...string) string {
	t.Helper()
	var out bytes.Buffer
	e := h.env(&out, args...)
	e.Stderr = &out
	change(&e)
	code := Main(t.Context(), e)
	return fmt.Sprintf("%s\nexit status %d\n", out.String(), code)
}

// kept returns the entries in a folder. An entry that was written again is another file.
func kept(t *testing.T, folder string) map[string]fs.FileInfo {
	t.Helper()
	entries := map[string]fs.FileInfo{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == folder {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		entries[name], err = d.Info()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// written returns how many entries are new, or were written again.
func written(before, after map[string]fs.FileInfo) (n int) {
	for name, info := range after {
		if was := before[name]; was == nil || !os.SameFile(was, info) {
			n++
		}
	}
	return n
}

// writes runs check and returns what it prints, and how many packs it gated and kept.
func (h *household) writes(t *testing.T, args ...string) (string, int) {
	t.Helper()
	before := kept(t, h.entries())
	out := h.prints(t, append([]string{"check"}, args...)...)
	return out, written(before, kept(t, h.entries()))
}

// generated makes the current folder a repository of small generated packs.
func generated(t *testing.T, packs int) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := generate.Write(".", seedOfShards, packs); err != nil {
		t.Fatal(err)
	}
}

// same compares what two runs print.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: the runs print\n%s\nand\n%s", what, got, want)
	}
}

// A run that gates nothing prints what the run printed that gated everything, in every
// format, with a base and without.
func TestCachedIsTheSame(t *testing.T) {
	dir := gittest.Committed(t, func(string) {})
	t.Chdir(dir)
	gittest.Edit(t, "packs/support/pack.json", `"contract_meta"`, ` "contract_meta"`)
	if err := os.Rename("packs/finops", "packs/moved"); err != nil {
		t.Fatal(err)
	}
	h := newHousehold(t)
	for _, base := range [][]string{nil, {"--base", "HEAD"}} {
		if _, n := h.writes(t, base...); n != 2 {
			t.Errorf("%q: the first run keeps %d packs, wanted 2", base, n)
		}
		for _, format := range reportFormats() {
			args := append([]string{"--format", format}, base...)
			warm, n := h.writes(t, args...)
			if n != 0 {
				t.Errorf("%q: the second run gates %d packs", args, n)
			}
			same(t, strings.Join(args, " "), warm, h.prints(t, append([]string{"check", "--no-cache"}, args...)...))
		}
	}
	out, _ := h.writes(t, "--base", "HEAD")
	if !strings.Contains(out, "packs/moved/pack.json is compared with packs/finops/pack.json of the base") {
		t.Errorf("nothing is said of the pack that was moved:\n%s", out)
	}
}

// Other flags judge what was kept by themselves.
func TestCachedIsJudgedAnew(t *testing.T) {
	generated(t, 2)
	h := newHousehold(t)
	first, n := h.writes(t)
	if n != 2 || !strings.HasSuffix(first, "exit status 0\n") {
		t.Fatalf("%d packs are kept:\n%s", n, first)
	}
	out, n := h.writes(t, "--fail-on", "warning")
	if n != 0 || !strings.HasSuffix(out, "exit status 1\n") {
		t.Errorf("with --fail-on warning %d packs are gated again, and the run ends with\n%s", n, out[max(0, len(out)-200):])
	}
	if _, n := h.writes(t, "--shard", "1/2"); n != 0 {
		t.Errorf("a shard gates %d packs again", n)
	}
	if _, n := h.writes(t, "packs"); n != 0 {
		t.Errorf("a path below gates %d packs again", n)
	}
}

// Entries that were changed, cut, swapped or made with another key change nothing that
// is printed, and are written anew.
func TestSpoiledEntries(t *testing.T) {
	generated(t, 2)
	h := newHousehold(t)
	want, _ := h.writes(t)
	for name, spoil := range map[string]func(names []string) error{
		"changed": func(names []string) error {
			src, err := os.ReadFile(names[0])
			if err != nil {
				return err
			}
			src[len(src)/2] ^= 4
			return os.WriteFile(names[0], src, 0o600)
		},
		"cut": func(names []string) error { return os.Truncate(names[0], 100) },
		"swapped": func(names []string) error {
			spare := filepath.Join(h.home, "spare")
			return errors.Join(os.Rename(names[0], spare), os.Rename(names[1], names[0]), os.Rename(spare, names[1]))
		},
		"of another user": func([]string) error { return os.RemoveAll(h.settings()) },
	} {
		var names []string
		for name := range kept(t, h.entries()) {
			names = append(names, name)
		}
		if err := spoil(names); err != nil {
			t.Fatal(err)
		}
		out, n := h.writes(t)
		same(t, name, out, want)
		if n == 0 {
			t.Errorf("%s: nothing is written anew", name)
		}
		if out, n = h.writes(t); n != 0 || out != want {
			t.Errorf("%s: the run after that gates %d packs, and prints\n%s", name, n, out)
		}
	}
}

// What could not be done is not kept, and said each time.
func TestErrorsAreNotKept(t *testing.T) {
	generated(t, 2)
	breakPack(t, 0)
	h := newHousehold(t)
	want, n := h.writes(t)
	if n != 1 || !strings.Contains(want, "symbolic link points to nothing") {
		t.Errorf("%d packs are kept of one that can be read:\n%s", n, want)
	}
	out, n := h.writes(t)
	same(t, "again", out, want)
	if n != 0 {
		t.Errorf("%d packs are kept", n)
	}
}

// Two runs at a time print what one prints.
func TestCachedAtOnce(t *testing.T) {
	generated(t, 3)
	h := newHousehold(t)
	want := h.prints(t, "check", "--no-cache")
	for range 2 {
		outs := make(chan string)
		for range 3 {
			go func() {
				outs <- h.prints(t, "check")
			}()
		}
		for range 3 {
			same(t, "at once", <-outs, want)
		}
	}
	if out, n := h.writes(t); n != 0 || out != want {
		t.Errorf("the run after that gates %d packs, and prints\n%s", n, out)
	}
}

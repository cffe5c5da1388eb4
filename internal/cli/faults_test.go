package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

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
		if exitCode(err) != gating.ExitFailure || len(problemsOf(err)) != 1 || problemsOf(err)[0].Hint == "" {
			t.Errorf("%v: exit status %d, %v; wanted %d and what to do", cause, exitCode(err), problemsOf(err), gating.ExitFailure)
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
		now    time.Time
		waived bool
		long   bool // until the waiver ends
	}{
		{time.Unix(0, 0), true, true},
		{time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC), true, false},
		{time.Date(2100, 1, 2, 0, 0, 0, 0, time.UTC), false, false},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), false, false},
		{time.Time{}, true, true},
	} {
		var out, problems bytes.Buffer
		e := env(&out, "check", dir, "--fail-on", "warning")
		e.Now, e.Stderr = func() time.Time { return c.now }, &problems
		code := Main(t.Context(), e)
		passes, has := c.waived && !c.long, func(s string) bool { return strings.Contains(out.String(), s) }
		if (code == gating.ExitPass) != passes || has(" waived RSK006 ") != c.waived || has(" WVR003 ") != c.long {
			t.Errorf("%v: exit status %d\n%s%s", c.now, code, &out, &problems)
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

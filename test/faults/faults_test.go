//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/hang"
	"github.com/contextosai/packgate/test/program"
)

// What the machine refuses is never a verdict: no space, no more files, no right.
// These tests run the program as a process whose limits are lowered.

// drill is a place to run the program in: a folder with the example repository.
type drill struct {
	dir, program string
	stdout       *os.File // nil to keep what is printed
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	d := &drill{dir: t.TempDir(), program: program.Link(t, t.TempDir())}
	if err := os.CopyFS(d.dir, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	return d
}

// command returns the program with arguments, after what a shell does first, such as
// lowering a limit.
func (d *drill) command(ctx context.Context, first string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", first + `exec "$@"`, "sh", d.program}, args...)...)
	c.Dir, c.Env = d.dir, []string{"NO_COLOR=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH")}
	c.WaitDelay = time.Minute
	return c
}

// run runs the program to its end.
func (d *drill) run(t *testing.T, first string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang.Limit)
	defer cancel()
	var out, problems bytes.Buffer
	c := d.command(ctx, first, args...)
	c.Stdout, c.Stderr = &out, &problems
	if d.stdout != nil {
		c.Stdout = d.stdout
	}
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), problems.String()
}

// files returns the content of every file below the folder, by name.
func (d *drill) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(name)
		all[name] = string(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *drill) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *drill) replace(t *testing.T, name, old, now string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	d.write(t, name, strings.Replace(string(src), old, now, 1))
}

// commit makes the folder a git repository with one commit.
func (d *drill) commit(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		c.Dir, c.Env = d.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

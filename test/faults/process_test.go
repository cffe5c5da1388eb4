package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/hang"
	"github.com/contextosai/packgate/test/program"
)

// What a transcript cannot do: run the program as another user, and send it a
// signal at a certain moment.

// openFolder returns a folder that every user may look into, unlike those of
// t.TempDir.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "packgate-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What may not be read is a failure with the name of the file, never a pass and
// never a repository without it.
func TestUnreadable(t *testing.T) {
	dir := openFolder(t)
	program, acme := program.Copy(t, dir), filepath.Join(dir, "acme")
	if err := os.CopyFS(acme, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T) (code int, stdout, stderr string) {
		ctx, cancel := context.WithTimeout(t.Context(), hang.Limit)
		defer cancel()
		var out, problems bytes.Buffer
		c := exec.CommandContext(ctx, program, "check", "acme")
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, []string{"NO_COLOR=1", "GORACE=atexit_sleep_ms=0"}, &out, &problems
		if os.Geteuid() == 0 { // root may read everything
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		err := c.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), out.String(), problems.String()
	}
	if code, out, problems := check(t); code != 0 {
		t.Fatalf("exit status %d before anything is closed; wanted 0\n%s%s", code, out, problems)
	}
	for _, c := range []struct{ closed, named string }{
		{".", "acme"},
		{".packgate.yaml", "acme/.packgate.yaml"},
		{"environments", "environments/*.json in acme"},
		{"environments/prod.json", "acme/environments/prod.json"},
		{"packs", "packs/*/pack.json in acme"},
		{"packs/support/pack.json", "acme/packs/support/pack.json"},
		{"packs/support/tool-surface.json", "acme/packs/support/tool-surface.json"},
		{"packs/support/golden", "packs/support/golden/*.case.json in acme"},
		{"packs/support/golden/refund-small.case.json", "acme/packs/support/golden/refund-small.case.json"},
		{"packs/support/golden/refund-small.compiled.json", "acme/packs/support/golden/refund-small.compiled.json"},
	} {
		t.Run(c.closed, func(t *testing.T) {
			name := filepath.Join(acme, c.closed)
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(name, info.Mode().Perm()) // the next case fails otherwise
			code, out, problems := check(t)
			if code != 3 || !strings.Contains(problems, c.named) || !strings.Contains(problems, "permission denied") {
				t.Errorf("exit status %d; wanted 3 and an error that names %s\n%s%s", code, c.named, out, problems)
			}
			if strings.Contains(out, "✓ pass:") {
				t.Errorf("a pass\n%s", out)
			}
		})
	}
}

// pushed makes the example a git repository whose origin is at an address, and
// returns the runner's variables for a push onto a commit that only origin has.
func pushed(t *testing.T, dir, origin string) (variables []string) {
	t.Helper()
	git := func(args ...string) string {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "head")
	git("remote", "add", "origin", origin)
	head := git("rev-parse", "HEAD")
	payload := filepath.Join(t.TempDir(), "event.json")
	text := fmt.Sprintf(`{"ref": "refs/heads/main", "before": "%s", "after": "%s"}`, strings.Repeat("1", 40), head)
	if err := os.WriteFile(payload, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{
		"GITHUB_EVENT_NAME=push", "GITHUB_EVENT_PATH=" + payload, "GITHUB_REPOSITORY=acme/packs", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_RUN_ID=1", "GITHUB_SERVER_URL=https://github.com", "GITHUB_SHA=" + head, "GITHUB_WORKSPACE=" + dir,
	}
}

// A job that is cancelled ends at once, delivers what it has, and decides nothing.
func TestSignal(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done() // a server that never answers
	}))
	defer server.Close()

	dir := t.TempDir()
	var out bytes.Buffer
	c := exec.Command(program.Copy(t, t.TempDir()), "action")
	c.Stdout, c.Stderr, c.Env = &out, &out, pushed(t, dir, server.URL+"/packs.git")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("ended (%v) before it asked for the base\n%s", err, out.String())
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(hang.Limit):
		t.Error(c.Process.Kill())
		<-ended
		t.Fatalf("still running long after the signal\n%s", out.String())
	}
	if code := c.ProcessState.ExitCode(); code != 3 || !strings.Contains(out.String(), "terminated signal received") {
		t.Errorf("exit status %d; wanted 3 and the reason\n%s", code, &out)
	}
	if _, err := os.Stat(filepath.Join(dir, "packgate-report", "report.json")); err != nil {
		t.Error(err)
	}
}

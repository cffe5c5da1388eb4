// Package gittest makes git repositories of the example packs, for tests.
package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example is the folder of the example repository, above the folder in which the tests were
// started: where the sources are a binary need not know.
var example = above(filepath.Join("examples", "acme-support"))

func above(name string) string {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, name)); missing == nil {
			return filepath.Join(dir, name)
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return name
}

// Example returns the folder of the example repository.
func Example() string { return example }

// Committed returns the example repository as a git repository with one commit. Change
// changes the files before they are committed.
func Committed(t *testing.T, change func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(Example())); err != nil {
		t.Fatal(err)
	}
	change(dir)
	Git(t, dir, "init", "-q", "-b", "main")
	Commit(t, dir, "base")
	return dir
}

// Commit commits all files as they are and returns the commit, which is the same in every run.
func Commit(t *testing.T, dir, message string) string {
	t.Helper()
	Git(t, dir, "add", "--all", ".")
	Git(t, dir, "commit", "-q", "-m", message)
	return Git(t, dir, "rev-parse", "HEAD")
}

// Git runs git in a repository and returns what it prints.
func Git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2026-01-02T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-02T00:00:00Z")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Edit replaces a text in a file, which has to hold it.
func Edit(t *testing.T, name, old, now string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(src, []byte(old)) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	if err := os.WriteFile(name, bytes.Replace(src, []byte(old), []byte(now), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

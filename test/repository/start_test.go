package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced     = regexp.MustCompile("(?sm)(?:<!-- exit status ([0-9]) -->\n)?^( *)```(\\w*)\n(.*?)```")
	installing = "go install github.com/contextosai/packgate@v0\n"
)

// The five minutes of docs/start.md run as they are there, one block after the other,
// and each block of output is what they print. This test binary is the program, in place of
// the installed one, and an empty repository in a folder is in place of the one on GitHub.
// What init is said to write is there.
func TestStartRuns(t *testing.T) {
	dir := t.TempDir()
	origin := filepath.Join(dir, "origin.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", origin).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	script, shown := startScript(t)
	c := exec.Command("sh", "-euc", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "NO_COLOR=1", "GITHUB_ACTIONS=", "GORACE=atexit_sleep_ms=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url."+origin+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/acme/packs.git")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range shown {
		if !strings.Contains(string(out), want) {
			t.Errorf("docs/start.md shows\n%s\nand the commands print\n%s", want, out)
		}
	}
	if left, err := exec.Command("git", "-C", filepath.Join(dir, "acme-packs"), "status", "--porcelain").CombinedOutput(); err != nil || len(left) > 0 {
		t.Errorf("changes are left that nothing on the page commits (%v):\n%s", err, left)
	}
}

// startScript returns the commands of docs/start.md and what it shows of their output.
func startScript(t *testing.T) (script string, shown []string) {
	t.Helper()
	script, shown = pageScript(read(t, filepath.Join("docs", "start.md")))
	if !strings.Contains(script, "packgate init") || !strings.Contains(script, "test -e") || len(shown) == 0 {
		t.Fatalf("docs/start.md has no commands, no list of files, or shows no output:\n%s", script)
	}
	return script, shown
}

// pageScript returns the commands of a page and what it shows of their output, without the
// indent of lists. A list of files becomes commands that look for them.
func pageScript(page string) (script string, shown []string) {
	for _, m := range fenced.FindAllStringSubmatch(page, -1) {
		status, indent, language, text := m[1], m[2], m[3], ""
		for line := range strings.Lines(m[4]) {
			text += strings.TrimPrefix(line, indent)
		}
		switch {
		case status != "":
			script += "status=0; {\n" + text + "} || status=$?\ntest $status = " + status + "\n"
		case language == "sh":
			script += strings.Replace(text, installing, "", 1)
		case strings.HasPrefix(text, ".packgate.yaml "):
			for line := range strings.Lines(text) {
				names, _, _ := strings.Cut(line, "   ")
				for name := range strings.SplitSeq(names, ", ") {
					script += "test -e " + strings.TrimSpace(name) + "\n"
				}
			}
		default:
			shown = append(shown, strings.TrimSuffix(text, "\n"))
		}
	}
	return script, shown
}

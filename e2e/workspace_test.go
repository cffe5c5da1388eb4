package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workspace is a checkout of a pull request as actions/checkout leaves it: HEAD is
// the merge of the head into the base, and no branch is checked out.
type workspace struct {
	dir               string
	base, head, merge string // commits
	payload           string // of the pull_request event
}

// newWorkspace makes a repository with two commits, each of which an edit of the
// folder makes, and merges the second into the first.
func newWorkspace(t *testing.T, base, head func(dir string)) workspace {
	t.Helper()
	w := workspace{dir: scratchDir(t)}
	git(t, w.dir, "init", "-q", "-b", "main")
	base(w.dir)
	w.base = commit(t, w.dir, "base")
	git(t, w.dir, "checkout", "-q", "-b", "change")
	head(w.dir)
	w.head = commit(t, w.dir, "head")
	git(t, w.dir, "checkout", "-q", "--detach", w.base)
	git(t, w.dir, "merge", "-q", "--no-ff", "-m", "merge", w.head)
	w.merge = git(t, w.dir, "rev-parse", "HEAD")
	w.payload = pullRequestPayload(t, w)
	return w
}

func commit(t *testing.T, dir, message string) string {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return git(t, dir, "rev-parse", "HEAD")
}

// git runs git with nothing of this machine's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=octo", "GIT_AUTHOR_EMAIL=octo@example.com",
		"GIT_COMMITTER_NAME=octo", "GIT_COMMITTER_EMAIL=octo@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// pullRequestPayload is GitHub's payload with the members that say which commits
// and which repositories the pull request is about.
func pullRequestPayload(t *testing.T, w workspace) string {
	t.Helper()
	type object = map[string]any
	repository := object{
		"full_name": "octo/packs", "name": "packs", "fork": false,
		"owner": object{"login": "octo"}, "default_branch": "main",
		"html_url": "https://github.com/octo/packs",
	}
	payload, err := json.Marshal(object{
		"action": "synchronize", "number": 7,
		"pull_request": object{
			"number": 7, "draft": false, "state": "open",
			"html_url":         "https://github.com/octo/packs/pull/7",
			"merge_commit_sha": w.merge,
			"user":             object{"login": "octo"},
			"base":             object{"ref": "main", "sha": w.base, "repo": repository},
			"head":             object{"ref": "change", "sha": w.head, "repo": repository},
		},
		"repository": repository,
		"sender":     object{"login": "octo"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(payload)
}

// copyExample puts the pack repository that users copy into dir.
func copyExample(t *testing.T, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS("../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
}

// edit replaces the first occurrence of old in the one file that the glob names.
func edit(t *testing.T, dir, glob, old, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, glob))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s names %d files (%v); wanted one", glob, len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not contain %q", files[0], old)
	}
	write(t, files[0], strings.Replace(string(data), old, text, 1))
}

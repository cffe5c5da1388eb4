package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command line is tested by transcripts in testdata/script, which run the
// real main as a process of its own. UPDATE=1 rewrites what they compare with.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"packgate": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars,
				"NO_COLOR=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-05-09T00:00:00Z",
				"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-05-09T00:00:00Z",
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			)
			return os.CopyFS(filepath.Join(e.WorkDir, "acme"), os.DirFS(filepath.Join("examples", "acme-support")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"replace":   replace,
			"bump":      bump,
			"generate":  generate,
			"git-merge": gitMerge,
		},
	})
}

// status runs packgate and checks its exit status: status CODE ARGS…
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("packgate", args[1:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("packgate: %v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit status %d, want %s", code, args[0])
	}
}

// replace replaces a text in a file, which has to hold it: replace FILE OLD NEW
func replace(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	src, err := os.ReadFile(name)
	ts.Check(err)
	if !strings.Contains(string(src), args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, []byte(strings.Replace(string(src), args[1], args[2], 1)), 0o644))
}

// bump replaces a text in every file of a folder that holds it: bump DIR OLD NEW
func bump(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.case.json"))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no golden case in %s", args[0])
	}
	for _, name := range files {
		replace(ts, false, []string{name, args[1], args[2]})
	}
}

// generate writes a file that is too large or too odd for a transcript:
// generate FILE TEXT COUNT writes the text so often.
func generate(ts *testscript.TestScript, _ bool, args []string) {
	var count int
	_, err := fmt.Sscan(args[2], &count)
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	ts.Check(os.WriteFile(name, []byte(strings.Repeat(args[1], count)), 0o644))
}

// gitMerge puts the repository in the current folder into the state in which the
// runner finds it for a pull request from branch HEAD into branch BASE, and sets
// the runner's variables: git-merge BASE HEAD [VAR=VALUE…]
func gitMerge(ts *testscript.TestScript, _ bool, args []string) {
	git := func(args ...string) string {
		ts.Check(ts.Exec("git", args...))
		return strings.TrimSpace(ts.ReadFile("stdout"))
	}
	base, head := git("rev-parse", args[0]), git("rev-parse", args[1])
	git("checkout", "-q", "--detach", base)
	git("merge", "-q", "--no-ff", "-m", "merge", head)
	event := map[string]any{
		"action": "synchronize", "number": 7,
		"pull_request": map[string]any{
			"number": 7,
			"base":   map[string]any{"sha": base, "ref": args[0], "repo": map[string]any{"full_name": "acme/packs"}},
			"head":   map[string]any{"sha": head, "ref": args[1], "repo": map[string]any{"full_name": "acme/packs"}},
		},
		"repository": map[string]any{"full_name": "acme/packs", "default_branch": "main"},
	}
	payload, err := json.Marshal(event)
	ts.Check(err)
	dir := ts.MkAbs(ts.Getenv("WORK") + "/runner")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "event.json"), payload, 0o644))
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"),
		"GITHUB_SHA": git("rev-parse", "HEAD"), "GITHUB_REF": "refs/pull/7/merge",
		"GITHUB_REPOSITORY": "acme/packs", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com",
		"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_ACTOR": "ada",
		"GITHUB_WORKSPACE": ts.MkAbs("."), "GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"),
	} {
		ts.Setenv(name, value)
	}
	for _, v := range args[2:] {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
}

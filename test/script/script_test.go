package script_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The command line is tested by transcripts in testdata/script, which run the
// real main as a process of its own. UPDATE=1 rewrites what they compare with.

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Values[standins{}] = &standinHolder{}
			e.Values[digests{}] = &seenDigests{}
			e.Vars = append(e.Vars,
				"NO_COLOR=1",
				"SOON="+time.Now().UTC().AddDate(0, 0, 30).Format(time.DateOnly), // a day on which a waiver may end
				"GORACE=atexit_sleep_ms=0", // a second for each process otherwise
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-05-09T00:00:00Z",
				"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-05-09T00:00:00Z",
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			)
			return os.CopyFS(filepath.Join(e.WorkDir, "acme"), os.DirFS(filepath.Join("examples", "acme-support")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"plain":     plain,
			"status":    status,
			"replace":   replace,
			"drop":      drop,
			"put":       put,
			"measure":   measure,
			"rerecord":  rerecord,
			"bump":      bump,
			"generate":  generate,
			"join":      join,
			"fits":      fits,
			"rev":       rev,
			"event":     event,
			"evaluator": evaluator,
			"git-merge": gitMerge,
			"standin":   standin(t),
			"keygen":    keygen,
			"oci":       oci,
			"said":      said,
			"sigstore":  sigstore,
		},
	})
}

// plain leaves of the example repository its support pack with its golden cases
// alone, requires no more than that, and lets packs that a script adds be without any:
// plain DIR
func plain(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range []string{
		"packs/finops", "environments/staging.json",
		"packs/support/overlays", "packs/support/replay", "packs/support/scorecards",
		"packs/support/golden/refund-in-staging.case.json", "packs/support/golden/refund-in-staging.compiled.json",
	} {
		file := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(name))
		if _, err := os.Stat(file); err != nil {
			ts.Fatalf("the example has changed: %v", err)
		}
		ts.Check(os.RemoveAll(file))
	}
	config := filepath.Join(ts.MkAbs(args[0]), ".packgate.yaml")
	src, err := os.ReadFile(config)
	ts.Check(err)
	before, after, found := strings.Cut(string(src), "\nrequire:\n")
	_, after, ended := strings.Cut(after, "\n\n")
	if !found || !ended {
		ts.Fatalf("the example requires nothing any more")
	}
	before, rest, said := strings.Cut(before+"\n\n"+after, "\narguments:\n")
	_, after, ended = strings.Cut(rest, "\n\n")
	if !said || !ended {
		ts.Fatalf("the example says nothing of arguments any more")
	}
	src = []byte(before + "\n\n" + after)
	ts.Check(os.WriteFile(config, append(src, "severity: {RPL006: warning, EVL013: warning}\n"...), 0o644))
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

// join writes files one behind the other: join FILE PART…
func join(ts *testscript.TestScript, _ bool, args []string) {
	whole := ""
	for _, part := range args[1:] {
		whole += ts.ReadFile(part)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(whole), 0o644))
}

// fits checks a JSON file against a schema as the program prints it, with nothing
// but that text at hand: fits FILE SCHEMA, where FILE may be stdout
func fits(ts *testscript.TestScript, _ bool, args []string) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(ts.Exec("packgate", "schema", args[1]))
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	ts.Check(c.AddResource("schema.json", schema))
	compiled, err := c.Compile("schema.json")
	ts.Check(err)
	ts.Check(compiled.Validate(doc))
}

// git runs git in the current folder and returns what it printed.
func git(ts *testscript.TestScript, args ...string) string {
	ts.Check(ts.Exec("git", args...))
	return strings.TrimSpace(ts.ReadFile("stdout"))
}

// rev sets a variable to the commit that a revision names: rev VAR REVISION
func rev(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], git(ts, "rev-parse", args[1]))
}

// event puts the runner's variables and files as they are for an event in the
// repository of the current folder. The payload's $NAMEs stand for variables:
// event NAME PAYLOAD [VAR=VALUE…]
func event(ts *testscript.TestScript, _ bool, args []string) {
	setVariables(ts, args[2:])
	setRunner(ts, args[0], os.Expand(ts.ReadFile(args[1]), ts.Getenv))
	setVariables(ts, args[2:]) // what is given wins over what is usual
}

// setRunner writes the runner's files anew and sets its variables.
func setRunner(ts *testscript.TestScript, name, payload string) {
	dir := ts.MkAbs(ts.Getenv("WORK") + "/runner")
	ts.Check(os.MkdirAll(dir, 0o755))
	for file, text := range map[string]string{"event.json": payload, "output": "", "summary.md": ""} {
		ts.Check(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"),
		"GITHUB_SHA": git(ts, "rev-parse", "HEAD"), "GITHUB_REF": "refs/pull/7/merge",
		"GITHUB_REPOSITORY": "acme/packs", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com",
		"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_ACTOR": "ada",
		"GITHUB_WORKSPACE": ts.MkAbs("."), "GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"),
	} {
		ts.Setenv(name, value)
	}
}

func setVariables(ts *testscript.TestScript, variables []string) {
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
}

// gitMerge puts the repository in the current folder into the state in which the
// runner finds it for a pull request from branch HEAD into branch BASE, and sets
// the runner's variables: git-merge BASE HEAD [VAR=VALUE…]
func gitMerge(ts *testscript.TestScript, _ bool, args []string) {
	base, head := git(ts, "rev-parse", args[0]), git(ts, "rev-parse", args[1])
	git(ts, "checkout", "-q", "--detach", base)
	git(ts, "merge", "-q", "--no-ff", "-m", "merge", head)
	payload, err := json.Marshal(map[string]any{
		"action": "synchronize", "number": 7,
		"pull_request": map[string]any{
			"number": 7,
			"user":   map[string]any{"login": "mona"},
			"base":   map[string]any{"sha": base, "ref": args[0], "repo": map[string]any{"full_name": "acme/packs"}},
			"head":   map[string]any{"sha": head, "ref": args[1], "repo": map[string]any{"full_name": "acme/packs"}},
		},
		"repository": map[string]any{"full_name": "acme/packs", "default_branch": "main"},
	})
	ts.Check(err)
	setRunner(ts, "pull_request", string(payload))
	setVariables(ts, args[2:])
}

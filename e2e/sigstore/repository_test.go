package sigstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/test/githubtest"
)

// The pack that the tests publish, and where the example repository has it.
const (
	packID   = "ctxpack.support"
	version  = "1.0.0"
	packFile = "packs/support/pack.json"
)

// The workflow that the tests trust, as a config names it and as a certificate does.
const (
	workflow    = "acme/packs/.github/workflows/packs.yml@refs/heads/main"
	workflowURI = "https://github.com/" + workflow
)

// publishConfig is what a repository's configuration says about publishing.
const publishConfig = `
publish:
  registry: %q
  identity:
    issuer: %q
    workflow: %q
  signing_config: signing_config.json
  trusted_root: trusted_root.json
`

// repository is a checkout of a repository of packs, and what its configuration says.
type repository struct {
	dir      string
	registry string // of its packs, such as 127.0.0.1:5000/acme/packs
	run      stack.Run
	github   *githubtest.GitHub // where it is
}

// newRepository makes a repository with one pack, which is configured to be published
// to the registry by the workflow of the run.
func newRepository(t *testing.T, registry string, run stack.Run) *repository {
	t.Helper()
	if run.Issuer == nil {
		run.Issuer = services.GitHub
	}
	r := &repository{dir: t.TempDir(), registry: registry, run: run, github: githubtest.New(t)}
	if err := os.CopyFS(r.dir, os.DirFS("../../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "packs", "finops")); err != nil {
		t.Fatal(err)
	}
	git(t, r.dir, "init", "-q", "-b", "main")
	r.run.Before = commit(t, r.dir, "before")
	config := r.read(t, ".packgate.yaml") + fmt.Sprintf(publishConfig, registry, run.Issuer.Name, run.JobWorkflow())
	r.write(t, ".packgate.yaml", config)
	for name, file := range map[string]string{"signing_config.json": services.SigningConfig, "trusted_root.json": services.TrustedRoot} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r.write(t, name, string(text))
	}
	r.run.SHA = commit(t, r.dir, "publish")
	return r
}

// edit replaces the one occurrence of a text in a file and commits that.
func (r *repository) edit(t *testing.T, file, old, text string) {
	t.Helper()
	before := r.read(t, file)
	if strings.Count(before, old) != 1 {
		t.Fatalf("%s contains %q %d times; wanted once", file, old, strings.Count(before, old))
	}
	r.write(t, file, strings.Replace(before, old, text, 1))
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "edit")
}

// sign makes the repository sign with these services.
func (r *repository) sign(t *testing.T, with stack.Services) {
	t.Helper()
	config, err := stack.SigningConfig(with)
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, "signing_config.json", string(config))
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "services")
}

func (r *repository) read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *repository) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// job returns packgate as a step of a job of the repository runs it, and the folder
// of the step's files.
func (r *repository) job(t *testing.T, inputs map[string]string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	run := r.run
	run.API = r.github.URL
	dir := t.TempDir()
	env, err := run.Env(dir, r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		env = append(env, "INPUT_"+strings.ToUpper(name)+"="+inputs[name])
	}
	cmd := exec.CommandContext(t.Context(), program(t, stack.Packgate), args...)
	cmd.Dir, cmd.Env = r.dir, append(env, "INPUT_TOKEN="+r.github.Token)
	return cmd, dir
}

// action runs the action with that command.
func (r *repository) action(t *testing.T, command string, inputs map[string]string) outcome {
	t.Helper()
	with := map[string]string{"command": command}
	maps.Copy(with, inputs)
	cmd, files := r.job(t, with, "action")
	o := run(t, cmd)
	o.outputs = readOutputs(t, filepath.Join(files, "output"))
	return o
}

// packgate runs a command in a job of the repository.
func (r *repository) packgate(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd, _ := r.job(t, nil, args...)
	return run(t, cmd)
}

// consumer runs packgate for somebody who has nothing of the repository: an empty
// folder, no runner, and on the command line whom to trust.
func consumer(t *testing.T, args ...string) outcome {
	t.Helper()
	return run(t, consuming(t, stack.Packgate, args...))
}

// consuming returns the command of a consumer.
func consuming(t *testing.T, tool stack.Tool, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	cmd := command(t, tool, append(args,
		"--trusted-root", services.TrustedRoot, "--issuer", stack.GitHubIssuer, "--workflow", workflow)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// outcome is what a program leaves behind.
type outcome struct {
	status         int
	stdout, stderr string
	outputs        map[string]string // of an action
}

func run(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s%s", cmd, err, &stdout, &stderr)
	}
	return outcome{status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// want holds that the program ended with the status, and said each of the words.
func (o outcome) want(t *testing.T, status int, words ...string) {
	t.Helper()
	said := o.stdout + o.stderr
	if o.status != status {
		t.Errorf("ended with status %d; wanted %d\n%s", o.status, status, said)
		return
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("does not say %q:\n%s", w, said)
		}
	}
}

// published is one entry of the action's output of that name.
type published struct{ Ref, Digest string }

func (o outcome) published(t *testing.T) []published {
	t.Helper()
	var list []published
	if err := json.Unmarshal([]byte(o.outputs["published"]), &list); err != nil {
		t.Fatalf("the output published is %q: %v\n%s%s", o.outputs["published"], err, o.stdout, o.stderr)
	}
	return list
}

// readOutputs reads what a step wrote to the file of its outputs: NAME=value, or
// NAME<<END, lines, END.
func readOutputs(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for rest := string(text); rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if name, end, ok := strings.Cut(line, "<<"); ok && !strings.Contains(name, "=") {
			value, after, found := strings.Cut("\n"+rest, "\n"+end+"\n")
			if !found {
				t.Fatalf("the output %s has no closing line %q", name, end)
			}
			outputs[name], rest = strings.TrimPrefix(value, "\n"), after
		} else if name, value, ok := strings.Cut(line, "="); ok {
			outputs[name] = value
		}
	}
	return outputs
}

func commit(t *testing.T, dir, message string) string {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return git(t, dir, "rev-parse", "HEAD")
}

// committed is the time of all commits, so that two clones have the same ones, whenever they are
// made.
var committed = time.Now().UTC().Format(time.RFC3339)

// git runs git with nothing of this machine's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=octo", "GIT_AUTHOR_EMAIL=octo@example.com", "GIT_AUTHOR_DATE="+committed,
		"GIT_COMMITTER_NAME=octo", "GIT_COMMITTER_EMAIL=octo@example.com", "GIT_COMMITTER_DATE="+committed)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

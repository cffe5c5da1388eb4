package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/hang"
	"github.com/goccy/go-yaml"
)

// actPrograms are what every run needs: act itself at the version in act/tools.mod,
// and packgate from this tree.
type actPrograms struct{ act, packgate string }

// buildActPrograms builds both. Go's build cache makes all but the first time short.
func buildActPrograms(t *testing.T) actPrograms {
	t.Helper()
	dir := t.TempDir()
	p := actPrograms{act: filepath.Join(dir, "act"), packgate: filepath.Join(dir, "packgate")}
	build := exec.Command("go", "build", "-modfile=act/tools.mod", "-o", p.act, "github.com/nektos/act")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("act is not here, which runs the workflows: %v; it is a Go module, fetched from the Go module proxy\n%s", err, out)
	}
	gate := exec.Command("go", "build", "-o", p.packgate, ".")
	gate.Dir = ".." // the product is a module of its own
	must(t, gate)
	return p
}

// actRun is one run of one workflow of the example repository.
type actRun struct {
	programs actPrograms
	standIn  *githubtest.GitHub
	dir      string // of the repository
	workflow string // file name
	event    string
	payload  string
}

// actOutcome is what a run leaves behind.
type actOutcome struct {
	outcome
	packgate int               // its exit status, -1 where it did not start
	jobs     map[string]string // how each job ended
	reports  string            // the report folder, as it was when packgate ended
	uploaded string            // what was uploaded as an artifact
}

// run lets act read the workflow and run it on this machine, without a container
// and without any network but the stand-in's. Everything that a workflow of the
// example uses is replaced by a folder, under the very name that the workflow says.
func (r actRun) run(t *testing.T) actOutcome {
	t.Helper()
	home := scratchDir(t)
	o := actOutcome{reports: filepath.Join(home, "reports"), uploaded: filepath.Join(home, "uploaded")}
	write(t, filepath.Join(home, "event.json"), r.payload)
	write(t, filepath.Join(home, "packgate", "action.yml"), compositeAction(t, r.programs.packgate, o.reports))
	write(t, filepath.Join(home, "upload", "action.yml"), uploadAction(o.uploaded, r.standIn.Repository))

	workflow := filepath.Join(r.dir, ".github", "workflows", r.workflow)
	args := []string{
		r.event, "-C", r.dir, "-W", workflow, "-e", filepath.Join(home, "event.json"), "--json",
		"-P", "ubuntu-24.04=-self-hosted", "--no-cache-server", "--action-offline-mode",
		"--env", "GITHUB_API_URL=" + r.standIn.URL, "--env", "GITHUB_RUN_ID=5", "--env", "GITHUB_RUN_ATTEMPT=1",
		"-s", "GITHUB_TOKEN=" + r.standIn.Token,
	}
	for _, action := range usedActions(t, workflow) {
		name, _, _ := strings.Cut(action, "@")
		switch name {
		case "contextosai/packgate":
			args = append(args, "--local-repository", action+"="+filepath.Join(home, "packgate"))
		case "actions/upload-artifact":
			args = append(args, "--local-repository", action+"="+filepath.Join(home, "upload"))
		case "actions/checkout": // act replaces it by a copy of the repository
		default:
			t.Fatalf("%s uses %s, for which there is no stand-in here", workflow, action)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.programs.act, args...)
	cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "PATH=" + os.Getenv("PATH")}
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("act did not end within %v: %v\n%s%s", hang.Limit, err, &stdout, &stderr)
	}
	o.status = cmd.ProcessState.ExitCode()
	o.packgate = -1
	if text, err := os.ReadFile(o.reports + ".status"); err == nil {
		if o.packgate, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			t.Fatal(err)
		}
	}
	o.read(t, &stdout)
	o.log += stderr.String()
	return o
}

// read takes log, outputs, summary and the ends of the jobs from what act prints,
// one JSON object a line.
func (o *actOutcome) read(t *testing.T, printed *bytes.Buffer) {
	t.Helper()
	o.outputs, o.jobs = map[string]string{}, map[string]string{}
	lines := bufio.NewScanner(printed)
	lines.Buffer(nil, printed.Len()+1)
	for lines.Scan() {
		var line struct {
			Command, Name, Arg, Content string
			Message                     string `json:"msg"`
			Job                         string `json:"jobID"`
			JobResult                   string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("act printed %q, which is not JSON: %v", lines.Text(), err)
		}
		o.log += strings.TrimSuffix(line.Message, "\n") + "\n"
		switch {
		case line.Command == "set-output":
			if line.Arg != "" || o.outputs[line.Name] == "" { // a later step of the stand-in sets none
				o.outputs[line.Name] = line.Arg
			}
		case line.Command == "summary":
			o.summary += line.Content
		case line.JobResult != "":
			o.jobs[line.Job] = line.JobResult
		}
	}
}

var usesAction = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(\S+)`)

// usedActions are the actions that a workflow names, as owner/name@ref.
func usedActions(t *testing.T, workflow string) []string {
	t.Helper()
	text, err := os.ReadFile(workflow)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, m := range usesAction.FindAllSubmatch(text, -1) {
		actions = append(actions, string(m[1]))
	}
	if len(actions) == 0 {
		t.Fatalf("%s uses no action", workflow)
	}
	return actions
}

// compositeAction is action.yml with its inputs, their defaults and its outputs,
// but with a step that runs the program where the real one starts the image, which
// has a test of its own. The step keeps its exit status and a copy of the report
// folder, since the workspace is gone when the job has ended.
func compositeAction(t *testing.T, program, reports string) string {
	t.Helper()
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	var action struct {
		Name, Description string
		Inputs            map[string]object
		Outputs           map[string]object
		Runs              object
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatalf("reading action.yml: %v", err)
	}
	env := object{"PROGRAM": program, "REPORTS": reports}
	for name := range action.Inputs {
		env["INPUT_"+strings.ToUpper(name)] = "${{ inputs." + name + " }}"
	}
	for name, output := range action.Outputs {
		output["value"] = "${{ steps.run.outputs." + name + " }}"
	}
	script := "status=0\n\"$PROGRAM\" action || status=$?\nif [ -e \"$REPORTS.status\" ]; then exit $status; fi\n" + // another step of the run
		"echo $status >\"$REPORTS.status\"\nif [ -d packgate-report ]; then cp -r packgate-report \"$REPORTS\"; fi\nexit $status\n"
	action.Runs = object{"using": "composite", "steps": []object{{"id": "run", "shell": "bash", "env": env, "run": script}}}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(object{
		"name": action.Name, "description": action.Description, "inputs": action.Inputs, "outputs": action.Outputs, "runs": action.Runs,
	}); err != nil {
		t.Fatal(err)
	}
	return out.String() // JSON is YAML
}

// uploadAction stands for actions/upload-artifact: it copies the file into a folder
// of the artifact's name, which is the file's where it is not archived.
func uploadAction(folder, repository string) string {
	return `name: upload
description: Keeps what would be uploaded.
inputs:
  name: { description: Name of the artifact., default: artifact }
  path: { description: The file., required: true }
  archive: { description: Whether it is zipped., default: "true" }
  overwrite: { description: Whether it replaces one., default: "false" }
  if-no-files-found: { description: What to do without it., default: warn }
outputs:
  artifact-url: { description: Its address., value: "${{ steps.keep.outputs.artifact-url }}" }
runs:
  using: composite
  steps:
    - id: keep
      shell: bash
      env:
        FILE: ${{ inputs.path }}
        NAME: ${{ inputs.name }}
        ARCHIVE: ${{ inputs.archive }}
        FOLDER: ` + folder + `
      run: |
        if [ ! -e "$FILE" ]; then exit 0; fi
        if [ "$ARCHIVE" = false ]; then NAME=$(basename "$FILE"); fi
        mkdir -p "$FOLDER/$NAME" && cp -r "$FILE" "$FOLDER/$NAME/"
        echo "artifact-url=https://github.com/` + repository + `/actions/runs/5/artifacts/11" >>"$GITHUB_OUTPUT"
`
}

package e2e

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// GitHub runs a docker action as root on a workspace that belongs to this user,
// which is what programs that check a repository's owner stumble over.
const runnerUser = 1001

// outcome is what a step leaves behind.
type outcome struct {
	status  int
	log     string
	outputs map[string]string
	summary string
}

// runAction runs the image on the workspace as GitHub's runner runs a docker
// action for a pull request: its mounts, its variables, every declared input (an
// input that the workflow leaves out is there and empty).
func runAction(t *testing.T, e engine, tag string, img image, w workspace) outcome {
	t.Helper()
	host := scratchDir(t)
	write(t, filepath.Join(host, "workflow", "event.json"), w.payload)
	for _, name := range []string{"home", "temp"} {
		if err := os.MkdirAll(filepath.Join(host, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	outputs := filepath.Join(host, "commands", "set_output_1")
	summary := filepath.Join(host, "commands", "step_summary_1")
	for _, name := range []string{"set_output_1", "step_summary_1", "set_env_1", "add_path_1", "save_state_1"} {
		write(t, filepath.Join(host, "commands", name), "")
	}
	belongToRunner(t, w.dir)
	belongToRunner(t, host)

	c := container{image: img, workdir: "/github/workspace", mounts: []mount{
		{filepath.Join(host, "temp"), "/github/runner_temp"},
		{filepath.Join(host, "home"), "/github/home"},
		{filepath.Join(host, "workflow"), "/github/workflow"},
		{filepath.Join(host, "commands"), "/github/file_commands"},
		{w.dir, "/github/workspace"},
	}}
	c.env = append(runnerEnv(w), inputEnv(t)...)
	var o outcome
	o.status, o.log = e.run(t, tag, c)
	o.outputs = readOutputs(t, outputs)
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	o.summary = string(text)
	return o
}

// runnerEnv is what the runner tells a container about itself and the event.
func runnerEnv(w workspace) []string {
	return []string{
		"CI=true",
		"GITHUB_ACTION=packgate",
		"GITHUB_ACTIONS=true",
		"GITHUB_ACTOR=octo",
		"GITHUB_API_URL=https://api.github.com",
		"GITHUB_BASE_REF=main",
		"GITHUB_ENV=/github/file_commands/set_env_1",
		"GITHUB_EVENT_NAME=pull_request",
		"GITHUB_EVENT_PATH=/github/workflow/event.json",
		"GITHUB_HEAD_REF=change",
		"GITHUB_JOB=gate",
		"GITHUB_OUTPUT=/github/file_commands/set_output_1",
		"GITHUB_PATH=/github/file_commands/add_path_1",
		"GITHUB_REF=refs/pull/7/merge",
		"GITHUB_REF_NAME=7/merge",
		"GITHUB_REPOSITORY=octo/packs",
		"GITHUB_REPOSITORY_OWNER=octo",
		"GITHUB_RUN_ATTEMPT=1",
		"GITHUB_RUN_ID=100",
		"GITHUB_RUN_NUMBER=1",
		"GITHUB_SERVER_URL=https://github.com",
		"GITHUB_SHA=" + w.merge,
		"GITHUB_STATE=/github/file_commands/save_state_1",
		"GITHUB_STEP_SUMMARY=/github/file_commands/step_summary_1",
		"GITHUB_WORKFLOW=packs",
		"GITHUB_WORKSPACE=/github/workspace",
		"HOME=/github/home",
		"RUNNER_ARCH=X64",
		"RUNNER_OS=Linux",
		"RUNNER_TEMP=/github/runner_temp",
	}
}

// inputEnv is a variable for each input that action.yml declares, with its
// default, named as the runner names it: upper case, hyphens kept.
func inputEnv(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatalf("reading action.yml: %v", err)
	}
	if len(action.Inputs) == 0 {
		t.Fatal("action.yml declares no inputs; wanted at least one")
	}
	var env []string
	for name, input := range action.Inputs {
		env = append(env, "INPUT_"+strings.ToUpper(name)+"="+input.Default)
	}
	return env
}

// readOutputs reads the file behind GITHUB_OUTPUT in both of its forms: NAME=value
// and NAME<<DELIMITER, lines, DELIMITER.
func readOutputs(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	outputs := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if name, delimiter, ok := strings.Cut(line, "<<"); ok && !strings.Contains(name, "=") {
			outputs[name] = readUntil(t, lines, delimiter)
		} else if name, value, ok := strings.Cut(line, "="); ok {
			outputs[name] = value
		} else if line != "" {
			t.Fatalf("GITHUB_OUTPUT has the line %s; wanted NAME=value or NAME<<DELIMITER", strconv.Quote(line))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return outputs
}

// readUntil returns the lines before the delimiter.
func readUntil(t *testing.T, lines *bufio.Scanner, delimiter string) string {
	t.Helper()
	var value []string
	for lines.Scan() {
		if lines.Text() == delimiter {
			return strings.Join(value, "\n")
		}
		value = append(value, lines.Text())
	}
	t.Fatalf("GITHUB_OUTPUT has no closing line %q", delimiter)
	return ""
}

// belongToRunner gives everything in dir to the runner's user. Only root can; who
// is not root has files of another owner than the container's root anyway.
func belongToRunner(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, runnerUser, runnerUser)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// scratchDir is a temporary folder that the container's root may leave files in.
// t.TempDir would fail the test where they cannot be removed afterwards.
func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "packgate-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("left behind: %v", err)
		}
	})
	return dir
}

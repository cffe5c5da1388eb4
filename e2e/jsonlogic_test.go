package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// The reference implementation of JsonLogic, by the version whose answers the
// product's own corpus holds too.
const (
	jsonLogicName    = "json-logic-js"
	jsonLogicVersion = "2.0.5"
)

// jsonLogicCase is a rule over data with the answer of the reference.
type jsonLogicCase struct {
	Rule    json.RawMessage `json:"rule"`
	Data    any             `json:"data"` // where it is left out, that of the case before
	Result  any             `json:"result"`
	Special string          `json:"special"` // in place of a result that JSON cannot hold
	Truthy  *bool           `json:"truthy"`  // nil where the reference throws
}

// The product evaluates policy with an evaluator of its own, because a policy
// must not rest on JavaScript's coercions. Where it gives a definite answer, it
// is that of the reference implementation: for rules as policies are written, and
// for rules and data that nobody would write.
func TestPolicyAgreesWithJSONLogic(t *testing.T) {
	const (
		seed        = "20260821"
		typed       = "50000"
		adversarial = "50000"
		least       = 100_000
	)
	cases, definite, decided, differences := 0, 0, 0, 0
	answerWithJSONLogic(t, []string{seed, typed, adversarial}, func(c jsonLogicCase) {
		cases++
		got := evaluate(t, c)
		if got.Cause == nil {
			definite++
		}
		if got.Truth != jsonlogic.Unknown {
			decided++
		}
		if problem := differs(c, got); problem != "" {
			if differences++; differences <= 10 {
				data, _ := json.Marshal(c.Data)
				t.Errorf("%s over %s: %s", c.Rule, data, problem)
			}
		}
	})
	t.Logf("%d rules, %d with a definite value, %d with a definite truth, %d differences", cases, definite, decided, differences)
	if cases < least {
		t.Errorf("%d rules, want at least %d", cases, least)
	}
	if definite < cases*4/10 || decided < definite {
		t.Error("too little is definite, and the test proves little")
	}
}

func evaluate(t *testing.T, c jsonLogicCase) jsonlogic.Result {
	t.Helper()
	doc, faults := pack.Read("rule", c.Rule, pack.DefaultLimits())
	if doc.Root == nil || len(faults) > 0 {
		t.Fatalf("%s: %v", c.Rule, faults)
	}
	x, problems := jsonlogic.Compile(doc.Root)
	if x == nil {
		t.Fatalf("%s: %v", c.Rule, problems)
	}
	return x.Eval(c.Data)
}

// differs says in what a definite result is not that of the reference, "" if in
// nothing.
func differs(want jsonLogicCase, got jsonlogic.Result) string {
	value, _ := json.Marshal(got.Value)
	reference, _ := json.Marshal(want.Result)
	switch {
	case got.Cause == nil && want.Special != "":
		return "got " + string(value) + ", the reference gives " + want.Special
	case got.Cause == nil && !reflect.DeepEqual(got.Value, want.Result):
		return "got " + string(value) + ", the reference gives " + string(reference)
	case got.Truth != jsonlogic.Unknown && want.Truthy == nil:
		return got.Truth.String() + ", and the reference throws"
	case got.Truth != jsonlogic.Unknown && (got.Truth == jsonlogic.True) != *want.Truthy:
		return got.Truth.String() + ", and the reference says otherwise"
	}
	return ""
}

// answerWithJSONLogic runs the corpus's generator with these arguments, lets one
// process of the reference answer all of it, and hands over the cases.
func answerWithJSONLogic(t *testing.T, arguments []string, each func(jsonLogicCase)) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"generate.mjs", "answer.mjs"} {
		source, err := os.ReadFile(filepath.Join("..", "jsonlogic", "testdata", "reference", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(source))
	}
	if err := os.Symlink(jsonLogicModules(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	generate := exec.CommandContext(t.Context(), "node", append([]string{"generate.mjs"}, arguments...)...)
	answer := exec.CommandContext(t.Context(), "node", "answer.mjs")
	var said bytes.Buffer
	generate.Dir, generate.Stderr = dir, &said
	answer.Dir, answer.Stderr = dir, &said
	rules, answers := pipeOf(t, generate), pipeOf(t, answer)
	answer.Stdin = rules
	for _, program := range []*exec.Cmd{generate, answer} {
		if err := program.Start(); err != nil {
			t.Fatalf("node, which the reference implementation of JsonLogic needs: %v", err)
		}
	}
	readCases(t, answers, each)
	for _, program := range []*exec.Cmd{answer, generate} {
		if err := program.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, &said)
		}
	}
}

func pipeOf(t *testing.T, program *exec.Cmd) io.ReadCloser {
	t.Helper()
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readCases(t *testing.T, from io.Reader, each func(jsonLogicCase)) {
	t.Helper()
	var data any
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		c := jsonLogicCase{Data: data}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		data = c.Data
		each(c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// jsonLogicModules returns the folder with the reference implementation, and has
// npm fetch it where it is not there.
func jsonLogicModules(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(here, "node_modules")
	if jsonLogicInstalled(modules) == jsonLogicVersion {
		return modules
	}
	wanted := jsonLogicName + "@" + jsonLogicVersion
	t.Logf("npm fetches %s", wanted)
	npm := exec.CommandContext(t.Context(), "npm", "install", "--prefix", here, "--no-save", "--no-package-lock",
		"--ignore-scripts", "--no-audit", "--no-fund", wanted)
	npm.Dir = here
	if said, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm, which fetches %s: %v\n%s", wanted, err, strings.TrimSpace(string(said)))
	}
	if got := jsonLogicInstalled(modules); got != jsonLogicVersion {
		t.Fatalf("%s has version %q, wanted %s", jsonLogicName, got, jsonLogicVersion)
	}
	return modules
}

// jsonLogicInstalled returns the version that is there, "" if none is.
func jsonLogicInstalled(modules string) string {
	manifest, err := os.ReadFile(filepath.Join(modules, jsonLogicName, "package.json"))
	if err != nil {
		return ""
	}
	var about struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(manifest, &about) != nil {
		return ""
	}
	return about.Version
}

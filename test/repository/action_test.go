package repository_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/internal/github"
	"github.com/goccy/go-yaml"
)

// actionFile is action.yml as GitHub documents the metadata of a docker action.
// It is read strictly: GitHub ignores a member it does not know, so a misspelt one
// would do nothing, silently.
type actionFile struct {
	Name        string
	Description string
	Author      string
	Branding    struct{ Icon, Color string }
	Inputs      map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description string }
	Runs    struct {
		Using      string
		Image      string
		Args       []string
		Entrypoint string
		Env        map[string]string
	}
}

func readAction(t *testing.T) (actionFile, string) {
	t.Helper()
	text := read(t, "action.yml")
	var a actionFile
	if err := yaml.UnmarshalWithOptions([]byte(text), &a, yaml.Strict()); err != nil {
		t.Fatalf("reading action.yml: %v", err)
	}
	return a, text
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What action.yml declares is what the program reads and writes: an input that does
// nothing and an output that is never set would both be lies.
func TestActionDeclaresWhatTheProgramKnows(t *testing.T) {
	a, _ := readAction(t)
	if got, want := slices.Sorted(maps.Keys(a.Inputs)), github.ActionInputs(); !slices.Equal(got, want) {
		t.Errorf("action.yml declares the inputs %q; the program reads %q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(a.Outputs)), github.ActionOutputs(); !slices.Equal(got, want) {
		t.Errorf("action.yml declares the outputs %q; the program writes %q", got, want)
	}
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("the input %q has no description", name)
		}
		want := ""
		if name == "token" {
			want = "${{ github.token }}" // which no configuration can name
		}
		if input.Default != want {
			t.Errorf("the input %q has the default %q; wanted %q, since a default would win over .packgate.yaml", name, input.Default, want)
		}
	}
	for name, output := range a.Outputs {
		if output.Description == "" {
			t.Errorf("the output %q has no description", name)
		}
	}
}

// The documentation has a row for each input and each output, and for nothing else.
func TestActionIsDocumented(t *testing.T) {
	a, _ := readAction(t)
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(read(t, filepath.Join("docs", "action.md")), -1) {
		rows = append(rows, m[1])
	}
	declared := slices.Concat(slices.Collect(maps.Keys(a.Inputs)), slices.Collect(maps.Keys(a.Outputs)))
	slices.Sort(rows)
	slices.Sort(declared)
	if !slices.Equal(rows, declared) {
		t.Errorf("docs/action.md has rows for %q; action.yml declares %q", rows, declared)
	}
}

var usedInput = regexp.MustCompile(`\$\{\{[^}]*\binputs\.([A-Za-z0-9_-]+)`)

func TestActionUsesDeclaredInputs(t *testing.T) {
	a, text := readAction(t)
	for _, use := range usedInput.FindAllStringSubmatch(text, -1) {
		if _, ok := a.Inputs[use[1]]; !ok {
			t.Errorf("action.yml uses inputs.%s, which it does not declare", use[1])
		}
	}
}

var pinnedImage = regexp.MustCompile(`^docker://ghcr\.io/contextosai/packgate@sha256:[0-9a-f]{64}$`)

// GitHub's rules for docker actions: the runner sets the user and the working
// directory, and finds the program by an absolute path.
func TestActionImage(t *testing.T) {
	a, _ := readAction(t)
	if a.Runs.Using != "docker" {
		t.Errorf("the action runs using %q; wanted docker", a.Runs.Using)
	}
	if len(a.Runs.Args) > 0 || a.Runs.Entrypoint != "" {
		t.Error("action.yml overrides the image's command; wanted the image to decide")
	}
	// At a release the image is one that is built already.
	if a.Runs.Image != "Dockerfile" && !pinnedImage.MatchString(a.Runs.Image) {
		t.Errorf("action.yml runs the image %q; wanted Dockerfile, or the released image by its digest", a.Runs.Image)
	}
	file := read(t, "Dockerfile")
	if m := regexp.MustCompile(`(?mi)^\s*(USER|WORKDIR)\b.*`).FindString(file); m != "" {
		t.Errorf("the Dockerfile says %q; wanted no USER and no WORKDIR", m)
	}
	for _, line := range []string{`ENTRYPOINT ["/packgate"]`, `CMD ["action"]`, "FROM scratch"} {
		if !strings.Contains(file, "\n"+line+"\n") {
			t.Errorf("the Dockerfile has no line %s", line)
		}
	}
}

// workflows returns the workflows below a folder, by file.
func workflows(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, ".github", "workflows", "*.y*ml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows found in %s (%v); wanted at least one", len(files), dir, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		texts[file] = read(t, file)
	}
	return texts
}

var (
	usesLine   = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(.+)$`)
	pinnedUses = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// A tag can be moved to other code; a commit cannot.
func TestWorkflowsPinActions(t *testing.T) {
	ownAction := false
	for file, text := range workflows(t, ".") {
		for _, uses := range usesLine.FindAllStringSubmatch(text, -1) {
			what := strings.TrimSpace(uses[1])
			if what == "./" {
				ownAction = true
			} else if what == "./setup" {
				continue // tried before each release
			} else if !pinnedUses.MatchString(what) {
				t.Errorf("%s uses %q; wanted a full commit SHA and a comment with the version", file, what)
			}
		}
		if !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s grants permissions to every job; wanted permissions: {} at the top", file)
		}
	}
	if !ownAction {
		t.Error("no workflow uses ./; actionlint reads action.yml only through one")
	}
}

// The workflows that users copy are as careful as our own. packgate itself is named
// by its version there: its commit is that of the release, and not known before.
func TestExampleWorkflows(t *testing.T) {
	for file, text := range workflows(t, filepath.Join("examples", "acme-support")) {
		for _, uses := range usesLine.FindAllStringSubmatch(text, -1) {
			if what := strings.TrimSpace(uses[1]); what != "contextosai/packgate@v0" && !pinnedUses.MatchString(what) {
				t.Errorf("%s uses %q; wanted a full commit SHA and a comment with the version", file, what)
			}
		}
		if !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s grants permissions to every job; wanted permissions: {} at the top", file)
		}
		if n := strings.Count(text, "actions/checkout@"); n != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s checks out %d times, and not always without credentials", file, n)
		}
	}
}

// What an image is built from is named by its digest, which nobody can move.
func TestBaseImagesAreByDigest(t *testing.T) {
	count := 0
	for _, file := range files(t) {
		if filepath.Base(file) != "Dockerfile" {
			continue
		}
		stages := []string{"scratch"}
		for _, m := range regexp.MustCompile(`(?mi)^FROM (?:--\S+ +)*(\S+)(?: +AS +(\S+))?$`).FindAllStringSubmatch(read(t, file), -1) {
			count++
			if !slices.Contains(stages, m[1]) && !regexp.MustCompile(`^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$`).MatchString(m[1]) {
				t.Errorf("%s builds from %q; wanted NAME:TAG@sha256:DIGEST", file, m[1])
			}
			stages = append(stages, m[2])
		}
	}
	if count != 2 {
		t.Errorf("%d FROM lines were read, wanted 2", count)
	}
}

// The image and the tests are built with one Go version.
func TestOneGoVersion(t *testing.T) {
	from := regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM golang:([\d.]+)-\S+@sha256:\S+ AS build$`).FindStringSubmatch(read(t, "Dockerfile"))
	if from == nil {
		t.Fatal("the Dockerfile has no line FROM --platform=$BUILDPLATFORM golang:VERSION-DISTRIBUTION@sha256:DIGEST AS build")
	}
	setups := 0
	for file, text := range workflows(t, ".") {
		for _, m := range regexp.MustCompile(`go-version: "([^"]+)"`).FindAllStringSubmatch(text, -1) {
			setups++
			if m[1] != from[1] {
				t.Errorf("%s sets up Go %s, the Dockerfile builds with %s", file, m[1], from[1])
			}
		}
	}
	if setups == 0 {
		t.Error("no workflow names a Go version")
	}
}

package scaffold

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
	"github.com/goccy/go-yaml"
)

// variants are options that differ in every way that the files can.
func variants() map[string]Options {
	return map[string]Options{
		"nothing":    {},
		"pack":       {PackID: "ctxpack.support", Workflows: true},
		"workflows":  {Workflows: true, Branch: "release/1.x"},
		"everything": {PackID: "ctxpack.billing", Tenant: "tenant:acme.1", Folder: `a b/it's "#1"`, Owner: "@acme/packs", Workflows: true, Matrix: true, Timestamp: TimestampFile},
	}
}

func filesOf(t *testing.T, o Options) map[string]File {
	t.Helper()
	list, err := Files(o)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]File{}
	for _, f := range list {
		files[f.Name] = f
	}
	if len(files) != len(list) {
		t.Errorf("%d files have %d names; wanted one each", len(list), len(files))
	}
	return files
}

// The workflows run the release that wrote them: by its commit where that is known, else by its
// exact tag. What is no release runs the newest one, and nothing but the release differs.
func TestWorkflowsNameTheRelease(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	const pin = " # packgate doctor says how to pin its commit"
	for _, c := range []struct{ version, commit, uses, install string }{
		{"1.2.3", sha, "contextosai/packgate@" + sha + " # v1.2.3", "v1.2.3"},
		{"1.2.3", "", "contextosai/packgate@v1.2.3" + pin, "v1.2.3"},
		{"1.2.3", sha[:39], "contextosai/packgate@v1.2.3" + pin, "v1.2.3"},
		{"1.2.3", sha + "0", "contextosai/packgate@v1.2.3" + pin, "v1.2.3"},
		{"devel", sha, "contextosai/packgate@v0", "v0"},
		{"", "", "contextosai/packgate@v0", "v0"},
		{"1.2.3+dirty", sha, "contextosai/packgate@v0", "v0"},
		{"1.2.3-SNAPSHOT-0a0a", sha, "contextosai/packgate@v0", "v0"},
		{"0.0.0-20260301120000-0a0a0a0a0a0a", sha, "contextosai/packgate@v0", "v0"},
		{"1.2", "", "contextosai/packgate@v0", "v0"},
		{"01.2.3", "", "contextosai/packgate@v0", "v0"},
		{"1.2.3\n", sha, "contextosai/packgate@v0", "v0"},
	} {
		for name, o := range variants() {
			before := filesOf(t, o)
			o.Version, o.Commit = c.version, c.commit
			seen := 0
			for file, f := range filesOf(t, o) {
				was := before[file]
				if !f.SameButRelease(was.Content) || !was.SameButRelease(f.Content) {
					t.Errorf("%s, %s of %q: more than the release differs", name, file, c.version)
				}
				for line := range strings.Lines(string(f.Content)) {
					if line = strings.TrimSpace(line); !strings.Contains(line, "contextosai/packgate@") {
						continue
					}
					seen++
					if !strings.HasSuffix(line, "uses: "+c.uses) && line != "- run: go install github.com/contextosai/packgate@"+c.install {
						t.Errorf("%s, %s of %q: %q", name, file, c.version, line)
					}
				}
			}
			if o.Workflows && seen < 6 {
				t.Errorf("%s: %d lines name packgate", name, seen)
			}
		}
	}
	changed := File{Content: []byte("a: contextosai/packgate@v0\nb: 1\n")}
	if changed.SameButRelease([]byte("a: contextosai/packgate@v1.0.0\nb: 2\n")) || changed.SameButRelease([]byte("a: contextosai/other@v0\nb: 1\n")) {
		t.Error("what differs in something else is the same")
	}
}

// The same options give the same bytes, in the order of the names, and no template
// leaves anything behind.
func TestFilesDependOnOptionsAlone(t *testing.T) {
	for name, o := range variants() {
		first, err := Files(o)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Files(o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s: two calls gave different files", name)
		}
		if !slices.IsSortedFunc(first, func(a, b File) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: the files are not sorted by name", name)
		}
		for _, f := range first {
			if bytes.Contains(f.Content, []byte("<<")) || bytes.Contains(f.Content, []byte("<no value>")) {
				t.Errorf("%s: %s holds what is left of a template:\n%s", name, f.Name, f.Content)
			}
			if !bytes.HasSuffix(f.Content, []byte("\n")) || bytes.HasSuffix(f.Content, []byte("\n\n")) || bytes.Contains(f.Content, []byte(" \n")) {
				t.Errorf("%s: %s does not end in one line break, or a line of it ends in a space", name, f.Name)
			}
		}
	}
}

// JSON is in the form that packgate writes, and YAML is what another reader takes.
func TestFilesAreWellFormed(t *testing.T) {
	for name, o := range variants() {
		for _, f := range filesOf(t, o) {
			switch path.Ext(f.Name) {
			case ".json":
				var out bytes.Buffer
				if err := json.Indent(&out, f.Content, "", "  "); err != nil {
					t.Errorf("%s: %s: %v", name, f.Name, err)
				} else if out.String() != string(f.Content)+"\n" && out.String() != string(f.Content) {
					t.Errorf("%s: %s is not indented as packgate writes JSON", name, f.Name)
				}
			case ".yml", ".yaml":
				var v map[string]any
				if err := yaml.UnmarshalWithOptions(f.Content, &v, yaml.Strict()); err != nil {
					t.Errorf("%s: %s: %v", name, f.Name, err)
				}
			}
		}
	}
}

// Every JSON file is what its schema wants, and so is the config.
func TestFilesFitTheirSchemas(t *testing.T) {
	named := regexp.MustCompile(`\$schema"?: "?https://contextosai\.com/schemas/packgate/([a-z-]+)\.v1\.schema\.json`)
	for _, o := range variants() {
		for _, f := range filesOf(t, o) {
			schema := ""
			switch base := path.Base(f.Name); {
			case base == "pack.json":
				schema = "context-pack"
			case strings.HasSuffix(base, ".compiled.json"):
				schema = "compiled-context"
			case base == repo.ConfigName || path.Ext(base) == ".json":
				m := named.FindSubmatch(f.Content)
				if m == nil {
					t.Errorf("%s names no schema", f.Name)
					continue
				}
				schema = string(m[1])
			default:
				continue
			}
			src, err := yaml.YAMLToJSON(f.Content)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(src, &doc); err != nil {
				t.Fatal(err)
			}
			if violations, err := schemas.Validate(schema, doc); err != nil || len(violations) > 0 {
				t.Errorf("%s does not fit the schema %s (%v): %+v", f.Name, schema, err, violations)
			}
		}
	}
}

// What a name becomes in YAML reads as that name again.
func TestYAMLText(t *testing.T) {
	for _, text := range []string{"main", "on", "Off", "NULL", "1.0", "0x1f", "release/1.x", ".nan", "-a", "a: b", "a #b", `"`, "it's", "é", "\\", "~", "y"} {
		var v struct{ At any }
		if err := yaml.Unmarshal([]byte("at: "+yamlText(text)+"\n"), &v); err != nil || v.At != text {
			t.Errorf("%q reads as %#v (%v); wanted the text itself", text, v.At, err)
		}
	}
}

// The folder of the pack repository gets into every file that has to name it.
func TestFolder(t *testing.T) {
	o := variants()["everything"]
	files := filesOf(t, o)
	config := path.Join(o.Folder, repo.ConfigName)
	type step struct {
		Env, With map[string]string
	}
	var gate struct {
		Jobs map[string]struct{ Steps []step }
	}
	unmarshal(t, files[".github/workflows/packs.yml"].Content, &gate)
	var named []string
	for _, job := range []string{"plan", "shard"} {
		for _, s := range gate.Jobs[job].Steps {
			named = append(named, s.Env["CONFIG"]+s.With["config"])
		}
	}
	named = slices.DeleteFunc(named, func(s string) bool { return s == "" })
	if want := []string{config, config}; !slices.Equal(named, want) {
		t.Errorf("the workflow names the configs %q, wanted %q", named, want)
	}
	var hooks struct {
		Repos []struct {
			Hooks []struct {
				Args  []string
				Files string
			}
		}
	}
	unmarshal(t, files[".pre-commit-config.yaml"].Content, &hooks)
	hook := hooks.Repos[0].Hooks[0]
	if want := []string{"check", "./" + o.Folder}; !slices.Equal(hook.Args, want) {
		t.Errorf("the hook runs packgate %q, wanted %q", hook.Args, want)
	}
	wanted := regexp.MustCompile(hook.Files)
	for name, want := range map[string]bool{config: true, path.Join(o.Folder, PackFile(o.PackID)): true, "other/pack.json": false, repo.ConfigName: false} {
		if got := wanted.MatchString(name); got != want {
			t.Errorf("the hook runs for %s: %t, wanted %t", name, got, want)
		}
	}
	if want := `/a\ b/it's\ "\#1"/packs/billing/ @acme/packs`; !slices.Contains(strings.Split(string(files[".github/CODEOWNERS"].Content), "\n"), want) {
		t.Errorf("CODEOWNERS lacks %q:\n%s", want, files[".github/CODEOWNERS"].Content)
	}
}

func unmarshal(t *testing.T, src []byte, v any) {
	t.Helper()
	if err := yaml.Unmarshal(src, v); err != nil {
		t.Fatal(err)
	}
}

// The workflows are those that the documentation and the example show: what is fixed
// in one has to be fixed in the other.
func TestWorkflowsAreThoseThatAreShown(t *testing.T) {
	read := func(name string) string {
		src, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	m := regexp.MustCompile("(?s)<!-- matrix -->\n```yaml\n(.*?)```").FindStringSubmatch(read("docs/action.md"))
	if m == nil {
		t.Fatal("docs/action.md shows no matrix")
	}
	matrix := filesOf(t, Options{Workflows: true, Matrix: true})
	if got := string(matrix[".github/workflows/packs.yml"].Content); got != m[1] {
		t.Errorf("the matrix is\n%s\nand docs/action.md shows\n%s", got, m[1])
	}
	files := filesOf(t, Options{Workflows: true, Timestamp: TimestampFile})
	example := "examples/acme-support/"
	if got := string(files[".github/workflows/packs-comment.yml"].Content); got != read(example+".github/workflows/packs-comment.yml") {
		t.Errorf("packs-comment.yml is not that of the example:\n%s", got)
	}
	// What differs here is what is said in comments, an id that nothing uses, and when a
	// job runs.
	for _, name := range []string{".github/workflows/packs.yml", ".github/workflows/publish.yml", ".github/workflows/packs-audit.yml", ".github/workflows/packs-notify.yml", TimestampFile} {
		var ours, theirs map[string]any
		unmarshal(t, files[name].Content, &ours)
		unmarshal(t, []byte(read(example+name)), &theirs)
		for _, w := range []map[string]any{ours, theirs} {
			for _, job := range w["jobs"].(map[string]any) {
				if name != ".github/workflows/packs.yml" {
					delete(job.(map[string]any), "if")
				}
				for _, s := range job.(map[string]any)["steps"].([]any) {
					delete(s.(map[string]any), "id")
				}
			}
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s does other things than that of the example:\n%v\n%v", name, ours, theirs)
		}
	}
}

// A file that others write into lacks exactly the lines that it does not hold.
func TestMissing(t *testing.T) {
	for _, o := range variants() {
		for name, f := range filesOf(t, o) {
			if !f.Shared {
				continue
			}
			if missing := f.Missing(f.Content); missing != nil {
				t.Errorf("%s lacks %q of itself", name, missing)
			}
			if missing := f.Missing(nil); len(missing) == 0 && path.Base(name) != repo.ConfigName {
				t.Errorf("%s lacks nothing where it is empty", name)
			}
		}
	}
	files := filesOf(t, Options{PackID: "ctxpack.support"})
	for name, c := range map[string]struct {
		there string
		want  []string
	}{
		".gitattributes":          {"*.json binary\n", nil},
		".gitignore":              {"/registry/\n# *.key\r\n", []string{"/.packgate/", "/packgate-report/"}},
		".packgate.yaml":          {"version: 1\n", nil},
		".pre-commit-config.yaml": {"repos:\n  - id: packgate\n", nil},
		".github/CODEOWNERS":      {"/.packgate.yaml @me\n# /environments/ @me\n", []string{"/pins/ @OWNER", "/packs/support/ @OWNER", "/.github/ @OWNER"}},
	} {
		f := files[name]
		if got := f.Missing([]byte(c.there)); !slices.Equal(got, c.want) {
			t.Errorf("%s lacks %q, wanted %q", name, got, c.want)
		}
	}
	f := files[".pre-commit-config.yaml"]
	if missing := f.Missing([]byte("repos: []\n")); len(missing) == 0 || missing[0] != "  - repo: local" {
		t.Errorf("the hooks that are missing are %q; wanted them from the item on", missing)
	}
}

// The second stage is given the config of the first, by which it finds its comment.
func TestBothStagesNameTheConfig(t *testing.T) {
	list, err := Files(Options{Folder: "a b", Workflows: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Name == ".github/workflows/packs.yml" || f.Name == ".github/workflows/packs-comment.yml" {
			if !strings.Contains(string(f.Content), `config: "a b/.packgate.yaml"`) {
				t.Errorf("%s does not name the config:\n%s", f.Name, f.Content)
			}
		}
	}
}

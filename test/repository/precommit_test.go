package repository_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/cli"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// hook is what pre-commit reads of a hook that a repository offers.
type hook struct {
	ID          string `yaml:"id"`
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Entry       string `yaml:"entry"`
	Language    string `yaml:"language"`
	Files       string `yaml:"files"`
	Filenames   *bool  `yaml:"pass_filenames"`
	Serial      bool   `yaml:"require_serial"`
}

// The hook is one that pre-commit takes, is run for the files that a pack has, and its
// command passes over the example and fails over a broken copy of it.
func TestPreCommitHook(t *testing.T) {
	var hooks []hook
	if err := yaml.UnmarshalWithOptions([]byte(read(t, ".pre-commit-hooks.yaml")), &hooks, yaml.DisallowUnknownField()); err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 1 {
		t.Fatalf("%d hooks", len(hooks))
	}
	h := hooks[0]
	if h.ID != "packgate" || h.Name == "" || h.Description == "" || h.Language != "golang" || h.Filenames == nil || *h.Filenames || !h.Serial {
		t.Errorf("the hook is %+v", h)
	}
	files := regexp.MustCompile(h.Files)
	for name, want := range map[string]bool{
		".packgate.yaml": true, "a/.packgate.yaml": true, "packs/support/pack.json": true, "environments/prod.json": true,
		"packs/support/golden/a.compiled.json": true, "README.md": false, "x.packgate.yaml": false, "a.json.txt": false,
	} {
		if files.MatchString(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	program, args, _ := strings.Cut(h.Entry, " ")
	if program != "packgate" {
		t.Errorf("the program is %q", program)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	run := func() (int, string) {
		var out, said bytes.Buffer
		code := cli.Main(t.Context(), cli.Env{Args: strings.Fields(args), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(0, 0) }, Version: "test"})
		return code, out.String() + said.String()
	}
	if code, said := run(); code != gating.ExitPass || !strings.Contains(said, "pass: 2 packs") {
		t.Errorf("status %d\n%s", code, said)
	}
	if err := os.WriteFile(filepath.Join("packs", "support", "pack.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, said := run(); code != gating.ExitFindings || !strings.Contains(said, "SCH001") {
		t.Errorf("status %d\n%s", code, said)
	}
}

// The settings that the page about editors shows name schemas that there are, for files
// that a pack repository has.
func TestEditorSettings(t *testing.T) {
	page := read(t, filepath.Join("docs", "editors.md"))
	block := regexp.MustCompile("(?s)<!-- settings -->\n```json\n(.*?)```").FindStringSubmatch(page)
	if block == nil {
		t.Fatal("the page has no settings")
	}
	var settings struct {
		Schemas []struct {
			FileMatch []string `json:"fileMatch"`
			URL       string   `json:"url"`
		} `json:"json.schemas"`
	}
	if err := json.Unmarshal([]byte(block[1]), &settings); err != nil {
		t.Fatal(err)
	}
	for _, s := range settings.Schemas {
		name, ok := strings.CutPrefix(strings.TrimSuffix(s.URL, ".json"), "./.vscode/packgate/")
		if _, err := schemas.Source(name); err != nil || !ok || !strings.Contains(page, " "+name) {
			t.Errorf("%s: %v", s.URL, err)
		}
		found := 0
		for _, pattern := range s.FileMatch {
			for _, root := range []string{"examples/acme-support/", "examples/acme-support/packs/*/"} {
				names, err := filepath.Glob(root + pattern)
				if err != nil {
					t.Fatal(err)
				}
				found += len(names)
			}
		}
		if slices.Equal(s.FileMatch, []string{repo.PinsPattern}) {
			continue // the example has its pins in the catalogs
		}
		if found == 0 {
			t.Errorf("no file of the example is one of %q", s.FileMatch)
		}
	}
}

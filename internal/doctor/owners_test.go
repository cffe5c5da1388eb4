package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// The last line counts that matches, as GitHub documents its patterns.
func TestOwners(t *testing.T) {
	for _, c := range []struct {
		text, file string
		want       bool
	}{
		{"* @a", "a/b/c.json", true}, {"*", "a", false}, {"", "a", false}, {"# * @a", "a", false}, {"* @a # all", "a", true}, {"a#b @a", "a#b", true},
		{"*.json @a", "a/b.json", true}, {"*.json @a", "a/b.yml", false},
		{"/.github/ @a", ".github/workflows/x.yml", true}, {"/.github/ @a", "x/.github/y", false}, {".github/ @a", "x/.github/y", true},
		{"/.github @a", ".github/CODEOWNERS", true}, {"docs/* @a", "docs/a.md", true}, {"docs/* @a", "docs/a/b.md", false}, {"/* @a", ".packgate.yaml", true}, {"/* @a", "a/b", false},
		{"pins/ @a", "pins/prod.json", true}, {"/pins/*.json @a", "pins/prod.json", true}, {"**/pins/ @a", "x/y/pins/prod.json", true}, {"a/**/b @a", "a/b", true}, {"a/**/b @a", "a/x/y/b/c", true},
		{"/a\\ b/ @a", "a b/c", true}, {"/A/ @a", "a/b", false}, {"pins/ @org/team x@acme.example", "pins/a", true}, {"p?ns @a", "pins", true}, {"p?ns @a", "p/ns", false},
		{"* @a\n/pins/", "pins/prod.json", false}, {"/pins/\n* @a", "pins/prod.json", true}, {"* @a\r\n", "x", true},
		{"!pins @a", "pins", false}, {"pin[s] @a", "pins", false}, {"pins nobody", "pins", false}, {"* @a\npins/ nobody", "pins/x", true}, {"* @a--b", "x", false}, {"* @org/", "x", false},
	} {
		o, _ := parseOwners(c.text)
		if got := o.own(c.file); got != c.want {
			t.Errorf("%q owns %s: %t, wanted %t", c.text, c.file, got, c.want)
		}
	}
	if _, skipped := parseOwners("* @a\n!x @a\n\n# no\n[a] @b\npins who\n"); !slices.Equal(skipped, []int{2, 5, 6}) {
		t.Errorf("the lines %v are skipped, wanted 2, 5 and 6", skipped)
	}
}

// What decides and has no owner is named, by the file that GitHub reads.
func TestDoctorOwners(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // in the messages
	}{
		{"no file", nil, []string{".github/workflows/a.yml, .packgate.yaml, environments/prod.json, packs/x/overlays/eu.json, pins/prod.json"}},
		{"all", map[string]string{"CODEOWNERS": "* @acme/packs"}, nil},
		{"the first place counts", map[string]string{".github/CODEOWNERS": "/x @a", "CODEOWNERS": "* @a"}, []string{".github/CODEOWNERS, .github/workflows/a.yml, .packgate.yaml"}},
		{"in docs", map[string]string{"docs/CODEOWNERS": "* @a\n/pins/\n"}, []string{"which packgate relies on: pins/prod.json"}},
		{"not of itself", map[string]string{".github/CODEOWNERS": "* @a\n/.github/CODEOWNERS"}, []string{"which packgate relies on: .github/CODEOWNERS"}},
		{"too large", map[string]string{"CODEOWNERS": "* @a\n" + strings.Repeat("# no\n", mostOwners/5)}, []string{"GitHub does not load a file of"}},
		{"lines that are skipped", map[string]string{"CODEOWNERS": "* @a\npins/ someone"}, []string{"GitHub skips this line"}},
		{"an empty file", map[string]string{"CODEOWNERS": ""}, []string{"no code owner has to review these files"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			files := map[string]string{
				".packgate.yaml": "version: 1\n", ".github/workflows/a.yml": publisher, "environments/prod.json": `{"environment": "prod"}`,
				"packs/x/pack.json": "{}", "packs/x/overlays/eu.json": "{}",
			}
			for name, text := range c.files {
				files[name] = text
			}
			for name, text := range files {
				file := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Examine(t.Context(), root, func(err error) []model.Problem { return []model.Problem{{Message: err.Error()}} })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range d.Symptoms {
				if s.Check == "no-owner" {
					got = append(got, s.Message)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %q, wanted %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got %q, wanted %q", got[i], want)
				}
			}
			if len(d.NotSeen) == 0 {
				t.Error("it is not said what cannot be seen")
			}
		})
	}
}

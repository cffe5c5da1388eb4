package repository_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// issueForm is a form as GitHub documents it in "Syntax for issue forms" and "Syntax for
// GitHub's form schema". It is read strictly: GitHub shows a form with a member it does
// not know to nobody.
type issueForm struct {
	Name, Description, Title string
	Labels, Assignees        []string
	Projects, Type           any
	Body                     []formElement
}

type formElement struct {
	Type, ID   string
	Attributes struct {
		Label, Description, Placeholder, Value, Render string

		Multiple bool
		Default  *int
		Options  []any
	}
	Validations struct{ Required bool }
}

// formAttributes are the attributes that each kind of element may have.
var formAttributes = map[string][]string{
	"markdown":   {"value"},
	"textarea":   {"label", "description", "placeholder", "value", "render"},
	"input":      {"label", "description", "placeholder", "value"},
	"dropdown":   {"label", "description", "multiple", "options", "default"},
	"checkboxes": {"label", "description", "options"},
}

func TestIssueForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(".github", "ISSUE_TEMPLATE", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range files {
		if filepath.Base(file) == "config.yml" {
			continue
		}
		text := read(t, file)
		var form issueForm
		if err := yaml.UnmarshalWithOptions([]byte(text), &form, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if form.Name == "" || form.Description == "" {
			t.Errorf("%s has the name %q and the description %q; GitHub wants both", file, form.Name, form.Description)
		}
		if other, taken := names[form.Name]; taken {
			t.Errorf("%s and %s have one name, %q", other, file, form.Name)
		}
		names[form.Name] = file
		var raw struct {
			Body []struct{ Attributes map[string]any }
		}
		if err := yaml.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		checkForm(t, file, form)
		for i, e := range form.Body {
			for attribute := range raw.Body[i].Attributes {
				if !slices.Contains(formAttributes[e.Type], attribute) {
					t.Errorf("%s: a %s has no attribute %q", file, e.Type, attribute)
				}
			}
		}
	}
	if len(names) < 3 {
		t.Errorf("there are the forms %v; wanted one each for a false positive, a false negative and a bug", names)
	}
}

var formID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkForm holds what GitHub demands of the elements of a form.
func checkForm(t *testing.T, file string, form issueForm) {
	t.Helper()
	fields, ids, labels := 0, map[string]bool{}, map[string]bool{}
	for _, e := range form.Body {
		if _, known := formAttributes[e.Type]; !known {
			t.Errorf("%s has an element of the kind %q", file, e.Type)
		}
		a := e.Attributes
		if e.Type == "markdown" {
			if e.ID != "" || strings.TrimSpace(a.Value) == "" {
				t.Errorf("%s: a markdown element has an id or no text", file)
			}
			continue
		}
		fields++
		if !formID.MatchString(e.ID) || ids[e.ID] {
			t.Errorf("%s: the id %q is not one, or stands twice", file, e.ID)
		}
		if strings.TrimSpace(a.Label) == "" || labels[a.Label] {
			t.Errorf("%s: the label %q is empty or stands twice", file, a.Label)
		}
		ids[e.ID], labels[a.Label] = true, true
		if choice := e.Type == "dropdown" || e.Type == "checkboxes"; choice && len(a.Options) == 0 {
			t.Errorf("%s: %q has no options", file, a.Label)
		}
		seen := map[any]bool{}
		for _, o := range a.Options {
			if text, ok := o.(string); e.Type == "dropdown" && (!ok || text == "" || strings.EqualFold(text, "none") || seen[text]) {
				t.Errorf("%s: %q has the option %v, which is no text, empty, reserved, or stands twice", file, a.Label, o)
			} else if ok {
				seen[text] = true
			}
		}
	}
	if fields == 0 {
		t.Errorf("%s asks nothing; GitHub wants at least one field", file)
	}
}

// Every module, image and workflow of the repository is kept up to date.
func TestDependabotKnowsEveryModule(t *testing.T) {
	var config struct {
		Version int
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
			Schedule    struct{ Interval string }
			Cooldown    struct {
				Days int `yaml:"default-days"`
			}
			Groups map[string]struct{ Patterns []string }
		}
	}
	text := read(t, filepath.Join(".github", "dependabot.yml"))
	if err := yaml.UnmarshalWithOptions([]byte(text), &config, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, u := range config.Updates {
		for _, dir := range append(u.Directories, u.Directory) {
			if dir != "" {
				known = append(known, u.Ecosystem+" "+dir)
			}
		}
		if u.Schedule.Interval == "" {
			t.Errorf("the updates of %s have no interval", u.Ecosystem)
		}
	}
	slices.Sort(known)
	want := append(manifests(t), "github-actions /", "github-actions /setup", "github-actions /examples/acme-support/.github/workflows")
	slices.Sort(want)
	if config.Version != 2 || !slices.Equal(known, want) {
		t.Errorf("dependabot.yml, of version %d, updates\n%s\nthe repository has\n%s", config.Version, strings.Join(known, "\n"), strings.Join(want, "\n"))
	}
}

// manifests are the folders of the repository with a manifest, each after the name that
// Dependabot has for its kind.
func manifests(t *testing.T) (found []string) {
	t.Helper()
	kinds := map[string]string{"go.mod": "gomod", "package.json": "npm", "Dockerfile": "docker"}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "dist") {
			return filepath.SkipDir
		}
		if kind, ok := kinds[d.Name()]; ok && !d.IsDir() {
			found = append(found, kind+" "+path.Join("/", path.Dir(filepath.ToSlash(file))))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A pattern that fits no file would leave files without an owner, silently.
func TestCodeOwnersNameFiles(t *testing.T) {
	lines := 0
	for line := range strings.Lines(read(t, filepath.Join(".github", "CODEOWNERS"))) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		lines++
		if len(fields) < 2 {
			t.Errorf("CODEOWNERS names no owner of %s", fields[0])
		}
		for _, owner := range fields[1:] {
			if !regexp.MustCompile(`^@contextosai/[a-z-]+$`).MatchString(owner) {
				t.Errorf("CODEOWNERS names %q as the owner of %s; wanted a team", owner, fields[0])
			}
		}
		if fields[0] == "*" {
			continue
		}
		if _, err := os.Stat(strings.Trim(fields[0], "/")); err != nil || !strings.HasPrefix(fields[0], "/") {
			t.Errorf("CODEOWNERS has the pattern %q, which names nothing from the root: %v", fields[0], err)
		}
	}
	if lines == 0 {
		t.Error("CODEOWNERS names nothing")
	}
}

package scaffold

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

//go:embed files
var files embed.FS

// packFolder is the folder of the embedded files that are those of the pack.
const packFolder = "files/pack"

// Files returns the files of a repository, sorted by name. The error is a *Refused
// where an option cannot be taken.
func Files(o Options) ([]File, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	v := newValues(o)
	list, err := v.packFiles()
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Name = path.Join(o.Folder, list[i].Name)
	}
	others, err := v.otherFiles()
	if err != nil {
		return nil, err
	}
	list = append(list, others...)
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// values are what the templates put in.
type values struct {
	Options
	// Config is the config relative to the root of the git repository, empty where it
	// is found without being named.
	Config string
	// Owned are patterns of what somebody is to own, in the form of CODEOWNERS.
	Owned []string
	// HookFiles finds what a commit has to change for the hook to run.
	HookFiles string
}

func newValues(o Options) *values {
	o.Branch = cmp.Or(o.Branch, "main")
	if o.PackID != "" {
		o.Tenant = cmp.Or(o.Tenant, DefaultTenant(o.PackID))
	}
	v := &values{Options: o}
	base := "/"
	if o.Folder != "" {
		base += o.Folder + "/"
		v.Config = path.Join(o.Folder, repo.ConfigName)
	}
	owned := []string{base + repo.ConfigName, base + "environments/"}
	if o.PackID != "" {
		owned = append(owned, base+path.Dir(PackFile(o.PackID))+"/")
	}
	for _, pattern := range append(owned, "/.github/") {
		v.Owned = append(v.Owned, strings.NewReplacer(`\`, `\\`, " ", `\ `, "#", `\#`).Replace(pattern))
	}
	v.HookFiles = "^" + regexp.QuoteMeta(strings.TrimPrefix(base, "/")) + `(.*\.json|\.packgate\.yaml)$`
	return v
}

// Ref returns the reference to the first version of the pack.
func (v *values) Ref() string { return v.PackID + "@1.0.0" }

// WorkflowFiles returns the names of the workflows, relative to the root of the git
// repository: the gate, its second stage for forks, and what publishes and audits.
func WorkflowFiles() []string {
	const folder = ".github/workflows/"
	return []string{folder + "packs.yml", folder + "packs-comment.yml", folder + "publish.yml"}
}

// otherFiles returns the files that are not the pack repository's own.
func (v *values) otherFiles() ([]File, error) {
	type source struct {
		file File
		from string
	}
	list := []source{
		{File{Name: path.Join(v.Folder, ".gitattributes"), Shared: true}, "gitattributes"},
		{File{Name: path.Join(v.Folder, ".gitignore"), Shared: true}, "gitignore"},
		{File{Name: ".github/CODEOWNERS", Shared: true, Elsewhere: []string{"CODEOWNERS", "docs/CODEOWNERS"}}, "codeowners.tmpl"},
		{File{Name: ".pre-commit-config.yaml", Shared: true, mark: "packgate"}, "pre-commit.yaml.tmpl"},
	}
	if v.Workflows {
		gate := "packs.yml.tmpl"
		if v.Matrix {
			gate = "packs-matrix.yml.tmpl"
		}
		for n, from := range []string{gate, "packs-comment.yml.tmpl", "publish.yml.tmpl"} {
			list = append(list, source{File{Name: WorkflowFiles()[n]}, "workflows/" + from})
		}
	}
	var out []File
	for _, s := range list {
		content, err := v.fill(s.from)
		if err != nil {
			return nil, err
		}
		s.file.Content = content
		out = append(out, s.file)
	}
	return out, nil
}

// fill returns an embedded file, with the values put in where it is a template.
func (v *values) fill(name string) ([]byte, error) {
	src, err := files.ReadFile(path.Join("files", name))
	if err != nil || !strings.HasSuffix(name, ".tmpl") {
		return src, err
	}
	// GitHub's expressions have the usual delimiters.
	t, err := template.New(name).Delims("<<", ">>").Option("missingkey=error").
		Funcs(template.FuncMap{"json": pack.CompactJSON, "yaml": yamlText}).Parse(string(src))
	if err != nil {
		return nil, fmt.Errorf("read the template %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("fill the template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// plainYAML finds texts that mean themselves in YAML without quotes.
var plainYAML = regexp.MustCompile(`^[A-Za-z.][A-Za-z0-9._/-]*$`)

// yamlText returns a text as one scalar of YAML: plain where nothing speaks against
// it, else in the double quotes that YAML shares with JSON.
func yamlText(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf"}
	if plainYAML.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return pack.CompactJSON(s)
}

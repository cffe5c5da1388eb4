// Package scaffold makes the files of a new pack repository: the config, an
// environment catalog, a pack with its golden cases and their snapshots, the
// workflows, and the few lines that git, GitHub and pre-commit want to have.
//
// The files stand below files/ as they are read, with a template where a name goes
// in. The pack is the smallest that has every part: one workflow, one decision, a
// tool that reads and one that writes behind an approval gate, one policy bundle, one
// evaluation target. Its snapshots are compiled when the files are made, so that they
// are always those of this version of packgate.
//
// The package does no I/O, and its result depends on its arguments alone.
package scaffold

import (
	"archive/zip"
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/template"
)

//go:embed files
var files embed.FS

// packFolder is the folder of the embedded files that are those of the pack.
const packFolder = "files/pack"

// Files returns the files of a repository, sorted by name. The error is a *repo.Problem
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
	list = append(list, o.Catalogs...)
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
	Config    string   // the config relative to the root of the git repository, empty where it is found without being named
	Owned     []string // patterns of what somebody is to own, in the form of CODEOWNERS
	HookFiles string   // finds what a commit has to change for the hook to run
	// Ref is the reference to the first version of the pack. The others are what the methods
	// of Options return, which templates do not call.
	Ref, Tag, Action, Cron string
}

func newValues(o Options) *values {
	o.Branch = cmp.Or(o.Branch, "main")
	if o.PackID != "" {
		o.Tenant = cmp.Or(o.Tenant, DefaultTenant(o.PackID))
	}
	v := &values{Options: o, Ref: o.PackID + "@1.0.0", Tag: o.Tag(), Action: o.Action(), Cron: o.Cron()}
	base := "/"
	if o.Folder != "" {
		base += o.Folder + "/"
		v.Config = path.Join(o.Folder, repo.ConfigName)
	}
	owned := []string{base + repo.ConfigName, base + "environments/", base + "pins/"}
	if o.PackID != "" {
		owned = append(owned, base+path.Dir(PackFile(o.PackID))+"/")
	}
	if len(o.Packs) > 0 {
		owned = append(owned, base+repo.AcceptedName)
	}
	for _, pattern := range append(owned, "/.github/") {
		v.Owned = append(v.Owned, strings.NewReplacer(`\`, `\\`, " ", `\ `, "#", `\#`).Replace(pattern))
	}
	v.HookFiles = "^" + regexp.QuoteMeta(strings.TrimPrefix(base, "/")) + `(.*\.json|\.packgate\.yaml)$`
	return v
}

// WorkflowFiles returns the names of the workflows, relative to the root of the git
// repository: the gate, its second stage for forks, what publishes, what audits, what
// tells people of it, and what signs timestamps.
func WorkflowFiles() []string {
	return []string{workflowFolder + "packs.yml", workflowFolder + "packs-comment.yml", workflowFolder + "publish.yml", workflowFolder + "packs-audit.yml", workflowFolder + "packs-notify.yml", TimestampFile}
}

const workflowFolder = ".github/workflows/"

// TimestampFile is the workflow that signs timestamps, where no config names another.
const TimestampFile = workflowFolder + "packs-timestamp.yml"

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
		for n, from := range []string{gate, "packs-comment.yml.tmpl", "publish.yml.tmpl", "packs-audit.yml.tmpl", "packs-notify.yml.tmpl"} {
			list = append(list, source{File{Name: WorkflowFiles()[n]}, "workflows/" + from})
		}
	}
	if v.Timestamp != "" {
		list = append(list, source{File{Name: v.Timestamp}, "workflows/packs-timestamp.yml.tmpl"})
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
	set, err := template.Parse(map[string]string{name: string(src)}, template.Options{Left: "<<", Right: ">>", Funcs: map[string]template.Func{
		"json": func(args []any) (any, error) { return pack.CompactJSON(fmt.Sprint(args...)), nil },
		"yaml": func(args []any) (any, error) { return yamlText(fmt.Sprint(args...)), nil },
	}})
	if err != nil {
		return nil, fmt.Errorf("read the template %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := set.Execute(&b, name, v); err != nil {
		return nil, fmt.Errorf("fill the template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// plainYAML finds texts that mean themselves in YAML without quotes.
var plainYAML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z.][A-Za-z0-9._/-]*$`) })

// yamlText returns a text as one scalar of YAML: plain where nothing speaks against
// it, else in the double quotes that YAML shares with JSON.
func yamlText(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf"}
	if plainYAML().MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return pack.CompactJSON(s)
}

// File is one file of the repository.
type File struct {
	Name      string // relative to the root of the git repository, with forward slashes
	Content   []byte
	Shared    bool     // says that people and other programs write into a file of this name too, so that one that is there is never overwritten
	Elsewhere []string // other names under which such a file counts

	mark  string // what a list of pre-commit's hooks holds that needs no more of them
	whole bool   // a file that is there needs no more lines, whatever it holds
}

// released finds which release of packgate a workflow runs.
var released = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(contextosai/packgate@)[^\s"']+( # v[0-9.]+| # packgate doctor says [a-z ]+)?`)
})

// SameButRelease reports whether what is there differs from the file in nothing but the release of
// packgate that it runs, as after an update.
func (f *File) SameButRelease(there []byte) bool {
	return bytes.Equal(released().ReplaceAll(there, []byte("$1")), released().ReplaceAll(f.Content, []byte("$1")))
}

// Missing returns the lines of a shared file that a file of its name lacks, without
// comments. A line is there where one has the same first word, be it as a comment: a
// line that somebody switched off was seen.
func (f *File) Missing(there []byte) []string {
	switch {
	case f.whole, f.mark != "" && strings.Contains(string(there), f.mark):
		return nil
	case f.mark != "":
		_, items, _ := strings.Cut(string(f.Content), "\nrepos:\n")
		return strings.Split(strings.TrimRight(items, "\n"), "\n")
	}
	have := map[string]bool{}
	for _, line := range strings.Split(string(there), "\n") {
		have[firstWord(line)] = true
	}
	var missing []string
	for _, line := range strings.Split(string(f.Content), "\n") {
		wanted := strings.TrimPrefix(line, "# ")
		if isRule(line) && !have[firstWord(wanted)] {
			missing = append(missing, wanted)
		}
	}
	return missing
}

// isRule reports whether a line says something to a program: it is no comment, or one
// that is a rule when the # in front is taken away.
func isRule(line string) bool {
	return line != "" && (!strings.HasPrefix(line, "#") || strings.HasPrefix(line, "# /"))
}

func firstWord(line string) string {
	if words := strings.Fields(strings.TrimLeft(line, "# ")); len(words) > 0 {
		return words[0]
	}
	return ""
}

// packFiles returns the config and, where a pack is asked for, its environment catalog,
// the pack and what is beside it, named from the folder of the pack repository.
func (v *values) packFiles() ([]File, error) {
	config, err := v.fill("config.yaml.tmpl")
	if err != nil {
		return nil, err
	}
	list := []File{{Name: repo.ConfigName, Content: config, Shared: true, whole: true}}
	if v.PackID == "" {
		return list, nil
	}
	catalog, err := v.fill("environment.json.tmpl")
	if err != nil {
		return nil, err
	}
	list = append(list, File{Name: "environments/prod.json", Content: catalog})
	to := path.Dir(PackFile(v.PackID))
	err = fs.WalkDir(files, packFolder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := v.fill(strings.TrimPrefix(name, "files/"))
		within := strings.TrimSuffix(strings.TrimPrefix(name, packFolder+"/"), ".tmpl")
		list = append(list, File{Name: path.Join(to, within), Content: content})
		return err
	})
	if err != nil {
		return nil, err
	}
	snapshots, err := compiled(list, PackFile(v.PackID))
	return append(list, snapshots...), err
}

// compiled returns the snapshots of the golden cases of a pack, compiled as they are
// where the files stand in a repository.
func compiled(list []File, packFile string) ([]File, error) {
	tree, err := treeOf(list)
	if err != nil {
		return nil, err
	}
	in := repo.FilesOf(tree, "", "")
	config, err := in.Config("")
	if err != nil {
		return nil, err
	}
	environments, err := in.Environments(config)
	if err != nil {
		return nil, err
	}
	unit, err := in.Unit(packFile, config)
	if err != nil {
		return nil, err
	}
	var snapshots []File
	for _, r := range golden.Run(unit, environments, config) {
		if r.Status == golden.Fail || r.Detail == nil {
			return nil, fmt.Errorf("the golden case %q of the first pack does not hold: this is a fault of packgate", r.Case)
		}
		if r.Compiled != nil {
			snapshots = append(snapshots, File{Name: r.SnapshotName, Content: r.Compiled})
		}
	}
	return snapshots, nil
}

// treeOf returns files as a file system, for which the standard library has archives.
func treeOf(list []File) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range list {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err == nil {
			_, err = to.Write(f.Content)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

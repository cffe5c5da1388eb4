package workflows

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// mostOfScript is the size, in bytes, beyond which a file that a step calls is not looked at.
const mostOfScript = 1 << 20

// mostFolders bounds the folders in which a name is looked for.
const mostFolders = 20

// file is a file of the repository that a step calls, by itself or by another one.
type file struct {
	src   string
	calls []string
}

// runners are programs that run what a file of theirs says, beside what they are called with.
var runners = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "tox": {"tox.ini"}, "nox": {"noxfile.py"},
	"mage": {"magefile.go"}, "rake": {"Rakefile"}, "invoke": {"tasks.py"}, "pre-commit": {".pre-commit-config.yaml"},
}

// data are the endings of files that a command is given to read.
var data = []string{".json", ".jsonc", ".yaml", ".yml", ".md", ".txt", ".csv", ".lock"}

// scripts reports whether the commands of a job or a local action, whose folder it is given,
// call packgate by files of the repository, and adds these.
func (g *Gates) scripts(n *pack.Node, folder string) (found bool, err error) {
	folders := []string{"."}
	for text := range texts(n) {
		folders = g.withFolder(folders, text)
	}
	here := strings.NewReplacer("${{ github.action_path }}", folder, "${GITHUB_ACTION_PATH}", folder, "$GITHUB_ACTION_PATH", folder,
		"${{ github.workspace }}", ".", "${GITHUB_WORKSPACE}", ".", "$GITHUB_WORKSPACE", ".")
	for text := range commands(n) {
		names, err := g.calls(here.Replace(text), folders)
		if err != nil {
			return false, err
		}
		for _, name := range names {
			found = g.leads(name, map[string]bool{}) || found
		}
	}
	return found, nil
}

// commands yields the commands of steps, however deep they are.
func commands(n *pack.Node) func(func(string) bool) {
	return func(yield func(string) bool) {
		todo := []*pack.Node{n}
		for len(todo) > 0 {
			n := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; n == nil {
				continue
			}
			todo = append(todo, n.Items...)
			for _, m := range n.Members {
				if m.Name == "run" && m.Value.Kind == pack.String && !yield(m.Value.Text) {
					return
				}
				todo = append(todo, m.Value)
			}
		}
	}
}

// calls returns the files of the repository that commands call, as far as a name says so,
// and reads them with all that they call.
func (g *Gates) calls(text string, folders []string) (names []string, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";|&()<>\"'`=,", r) })
	slices.Sort(words)
	words = slices.Compact(words)
	for _, word := range words { // cd, make -C
		folders = g.withFolder(folders, word)
	}
	for _, word := range words {
		word = strings.TrimLeft(word, "@-+")
		wanted := slices.Clone(runners[path.Base(word)])
		if !slices.Contains(data, path.Ext(word)) {
			wanted = append(wanted, word)
		}
		for _, folder := range folders {
			for _, name := range wanted {
				name = path.Join(folder, name)
				if slices.Contains(names, name) || !g.is(name, fs.FileMode.IsRegular) {
					continue
				}
				names = append(names, name)
				if err := g.script(name, folders); err != nil {
					return nil, err
				}
			}
		}
	}
	return names, nil
}

// withFolder returns folders with another one, where the name is that of one.
func (g *Gates) withFolder(folders []string, name string) []string {
	name = path.Clean(name)
	if len(folders) >= mostFolders || slices.Contains(folders, name) || !g.is(name, fs.FileMode.IsDir) {
		return folders
	}
	return append(slices.Clip(folders), name)
}

// script reads a file that is called, and those that it calls.
func (g *Gates) script(name string, folders []string) error {
	if g.called[name] != nil || len(g.called) >= mostActions {
		return nil
	}
	f := &file{}
	g.called[name] = f
	info, err := fs.Stat(g.files.Tree(), name)
	if err != nil || info.Size() > mostOfScript {
		return err
	}
	src, err := fs.ReadFile(g.files.Tree(), name)
	if err != nil {
		return err
	}
	f.src = string(src)
	if dir := path.Dir(name); !slices.Contains(folders, dir) {
		folders = append(slices.Clone(folders), dir)
	}
	f.calls, err = g.calls(f.src, folders)
	return err
}

// leads reports whether a file calls packgate, by itself or by others, and adds each that
// does. Seen are those that led to it.
func (g *Gates) leads(name string, seen map[string]bool) bool {
	f := g.called[name]
	if f == nil || seen[name] {
		return g.Calls(name)
	}
	seen[name] = true
	found := speaks(f.src)
	for _, other := range f.calls {
		found = g.leads(other, seen) || found
	}
	if found {
		g.parts[part{name, script, ""}] = stated{string(pack.DigestOf([]byte(f.src))), finding.Location{File: g.files.Show(name)}}
	}
	return found
}

// is reports whether there is something of a name and a type.
func (g *Gates) is(name string, kind func(fs.FileMode) bool) bool {
	if !fs.ValidPath(name) || len(name) > 4096 {
		return false
	}
	info, err := fs.Stat(g.files.Tree(), name)
	return err == nil && kind(info.Mode())
}

// Calls reports whether packgate is run by a file that a step calls.
func (g *Gates) Calls(name string) bool { return g.parts[part{name, script, ""}] != (stated{}) }

// CallsAny reports whether packgate is run by any such file.
func (g *Gates) CallsAny() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(g.parts)), func(p part) bool { return p.kind == script })
}

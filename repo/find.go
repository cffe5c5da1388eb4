package repo

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo/atomicfile"
)

// PackPatterns returns the patterns of the pack files: those that the config names,
// or else every pack.json and *.pack.json.
func PackPatterns(c *Config) []string {
	if patterns := pack.Values(c.Packs); len(patterns) > 0 {
		return patterns
	}
	return []string{"**/pack.json", "**/*.pack.json"}
}

// Matches reports whether a file, named relative to the root, matches any of the
// patterns, all of which are valid.
func Matches(patterns []string, name string) bool {
	return NewPatterns(patterns).Match(name)
}

// Find returns the names of the pack files that match the patterns; where there
// are none, those that the config names; and where it names none, every
// pack.json and *.pack.json below the root. Wildcards do not lead into folders
// that begin with a dot, nor into node_modules. They lead over symbolic links inside the
// repository, each file once. The error is a *Problem where a pattern cannot be used. With
// an *Unseen the names are those of the folders that could be looked into.
func (f *Files) Find(c *Config, patterns ...string) ([]string, error) {
	if len(patterns) == 0 {
		patterns = PackPatterns(c)
	}
	return f.glob(patterns...)
}

// glob returns the names of files that match any of the patterns, sorted, each
// once. Each folder is looked at once, whatever the patterns are.
func (f *Files) glob(patterns ...string) ([]string, error) {
	g := globbing{Files: f}
	all, problems := parseAll(patterns)
	for _, i := range slices.Sorted(maps.Keys(problems)) {
		return nil, problems[i]
	}
	if err := g.folder(".", all); err != nil {
		return nil, err
	}
	if err := g.beyond(); err != nil {
		return nil, err
	}
	slices.Sort(g.found)
	found := slices.Compact(g.found)
	if len(g.wrong) > 0 {
		return found, &Unseen{g.wrong}
	}
	return found, nil
}

// globbing is one search for files.
type globbing struct {
	*Files
	found []string
	later []linkedFolder
	wrong []error // with folders that could not be looked into
}

// folder looks for what matches the states in a folder and below it.
func (g *globbing) folder(dir string, states []state) error {
	if err := g.ended(); err != nil {
		return err
	}
	below := map[string][]state{}
	var wild, named []state
	for _, s := range opened(states) {
		if s[0].wild {
			wild = append(wild, s)
		} else {
			named = append(named, s)
		}
	}
	listed := map[string]fs.DirEntry{}
	if len(wild) > 0 {
		var err error
		if listed, err = g.listed(dir, wild, below); err != nil {
			return err
		}
	}
	for _, s := range named {
		folder, err := g.name(dir, s, listed, len(wild) > 0)
		if err != nil {
			g.wrong = append(g.wrong, err)
			continue
		}
		if folder {
			below[s[0].text] = append(below[s[0].text], s[1:])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if err := g.folder(path.Join(dir, name), below[name]); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the entries of a folder, notes those that end a pattern, and adds the
// folders to go on in. A folder that cannot be listed is noted.
func (g *globbing) listed(dir string, wild []state, below map[string][]state) (map[string]fs.DirEntry, error) {
	entries, err := fs.ReadDir(g.tree, dir)
	if !utf8.ValidString(dir) {
		err = fileProblem(g.Show(dir), "this name is not UTF-8", "rename the folder")
	}
	if err != nil {
		g.wrong = append(g.wrong, fmt.Errorf("look for %s in %s: %w", wild[0][0].of, g.Show(dir), atomicfile.Cause(err)))
		return nil, g.ended()
	}
	all := map[string]fs.DirEntry{}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		all[e.Name()] = e
		next, ends := step(wild, e.Name())
		linked, err := g.link(name, e, next)
		switch {
		case err != nil:
			g.wrong = append(g.wrong, err)
		case linked:
		case !e.IsDir() && ends:
			g.found = append(g.found, name)
		case e.IsDir() && len(next) > 0:
			below[e.Name()] = next
		case e.Type()&fs.ModeNamedPipe != 0 && len(next) > 0:
			g.wrong = append(g.wrong, fileProblem(g.Show(name), "this is a named pipe, and neither a folder nor a file", "remove it"))
		}
	}
	return all, nil
}

// name looks for the name that a state wants in a folder, whose entries are given where
// they are known. It notes the file, or returns that it is a folder to go on in. A link
// that leads nowhere counts as a file: whoever reads it says what is wrong, where a file
// that is not there would be passed over.
func (g *globbing) name(dir string, s state, listed map[string]fs.DirEntry, known bool) (folder bool, err error) {
	at := path.Join(dir, s[0].text)
	e := listed[s[0].text]
	if known && e == nil {
		return false, nil
	}
	folder = e != nil && e.IsDir()
	if e == nil || e.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(g.tree, at)
		switch {
		case g.escapes(err) && len(s) > 1:
			return false, Problemf("replace the link by the folder itself", "the file pattern %q points outside the repository through a symbolic link", s[0].of)
		case err != nil && g.nowhere(err):
			if link, err := fs.Lstat(g.tree, at); err != nil || link.Mode()&fs.ModeSymlink == 0 {
				return false, nil
			}
		case err != nil:
			return false, fmt.Errorf("look for %s in %s: %w", s[0].of, g.Show("."), atomicfile.Cause(err))
		default:
			folder = info.IsDir()
			e = fs.FileInfoToDirEntry(info)
		}
	}
	if e != nil && !folder && len(s) > 1 && e.Type()&^fs.ModeSymlink != 0 {
		return false, fileProblem(g.Show(at), "this is neither a folder nor a file", "replace it by the folder")
	}
	if last(s) && !folder {
		g.found = append(g.found, at)
	}
	return folder && len(s) > 1, nil
}

// escapePattern makes a folder name stand for itself in a pattern.
func escapePattern(name string) string {
	if !strings.ContainsAny(name, `\*?[]{}`) {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(name)
}

// NoPacks is the error for a repository in which no pack was found.
func (f *Files) NoPacks(c *Config) error {
	p := fileProblem(f.Show("."), "there is no pack here", "add one, as a file named pack.json or NAME.pack.json")
	if c.Packs.Node != nil {
		*p = Problem{c.Packs.Node.Location(), "no file matches packs", "name the pack files, for example packs/*/pack.json"}
	}
	return p
}

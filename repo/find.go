package repo

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// PackPatterns returns the patterns of the pack files: those that the config names,
// or else every pack.json and *.pack.json.
func PackPatterns(c *Config) []string {
	if patterns := pack.Values(c.Packs); len(patterns) > 0 {
		return patterns
	}
	return []string{"**/pack.json", "**/*.pack.json"}
}

// isPack reports whether the config, or the layout, has a file for a pack.
func isPack(name string, c *Config) bool {
	return Matches(PackPatterns(c), name)
}

// Matches reports whether a file, named relative to the root, matches any of the
// patterns, all of which are valid.
func Matches(patterns []string, name string) bool {
	var all []pattern
	for _, p := range patterns {
		choices, _ := parsePattern(p) // what the config holds has been read
		all = append(all, choices...)
	}
	return match(all, name)
}

// Find returns the names of the pack files that match the patterns; where there
// are none, those that the config names; and where it names none, every
// pack.json and *.pack.json below the root. Wildcards do not lead into folders
// that begin with a dot, nor into node_modules, nor over symbolic links. The
// error is a *Problem where a pattern cannot be used.
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
	var all []state
	for _, p := range patterns {
		choices, problem := parsePattern(p)
		if problem != nil {
			return nil, problem
		}
		all = append(all, choices...)
	}
	if err := g.folder(".", all); err != nil {
		return nil, err
	}
	slices.Sort(g.found)
	return slices.Compact(g.found), nil
}

// globbing is one search for files.
type globbing struct {
	*Files
	found []string
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
		entries, err := fs.ReadDir(g.tree, dir)
		if err != nil {
			return fmt.Errorf("look for %s in %s: %w", wild[0][0].of, g.Show("."), cause(err))
		}
		for _, e := range entries {
			listed[e.Name()] = e
			next, ends := step(wild, e.Name())
			switch {
			case !e.IsDir() && ends:
				g.found = append(g.found, path.Join(dir, e.Name()))
			case e.IsDir() && len(next) > 0 && !holdsNoPacks(e.Name()):
				below[e.Name()] = next
			}
		}
	}
	for _, s := range named {
		folder, err := g.name(dir, s, listed, len(wild) > 0)
		if err != nil {
			return err
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
			return false, &Problem{Message: fmt.Sprintf("the file pattern %q leads out of the repository over a symbolic link", s[0].of), Hint: "replace the link by the folder itself"}
		case err != nil && g.nowhere(err):
			if link, err := fs.Lstat(g.tree, at); err != nil || link.Mode()&fs.ModeSymlink == 0 {
				return false, nil
			}
		case err != nil:
			return false, fmt.Errorf("look for %s in %s: %w", s[0].of, g.Show("."), cause(err))
		default:
			folder = info.IsDir()
		}
	}
	if last(s) && !folder {
		g.found = append(g.found, at)
	}
	return folder && len(s) > 1, nil
}

// holdsNoPacks tells of a folder that wildcards do not lead into: one that begins with
// a dot, or node_modules. A pattern can still name it.
func holdsNoPacks(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// escapePattern makes a folder name stand for itself in a pattern.
func escapePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(name)
}

// NoPacks is the error for a repository in which no pack was found.
func (f *Files) NoPacks(c *Config) error {
	p := &Problem{Location: finding.Location{File: f.Show(".")}, Message: "there is no pack here", Hint: "add one, as a file named pack.json or NAME.pack.json"}
	if c.Packs.Node != nil {
		p.Location = c.Packs.Node.Location()
		p.Message = "no file matches packs"
		p.Hint = "name the pack files, for example packs/*/pack.json"
	}
	return p
}

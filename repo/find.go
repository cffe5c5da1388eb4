package repo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// PackPatterns returns the patterns of the pack files: those that the config names,
// or else every pack.json and *.pack.json. They have no braces where they are ours:
// doublestar takes the names of folders beside braces for a pattern.
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
	return slices.ContainsFunc(patterns, func(p string) bool {
		return doublestar.MatchUnvalidated(path.Clean(p), name)
	})
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
// once.
func (f *Files) glob(patterns ...string) ([]string, error) {
	var names []string
	for _, p := range patterns {
		if problem := checkPattern(p); problem != nil {
			return nil, problem
		}
		err := doublestar.GlobWalk(visible{f.tree, f.nowhere}, path.Clean(p), func(name string, d fs.DirEntry) error {
			if !d.IsDir() {
				names = append(names, name)
			}
			return nil
		}, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
		if f.escapes(err) {
			return nil, &Problem{Message: fmt.Sprintf("the file pattern %q leads out of the repository over a symbolic link", p), Hint: "replace the link by the folder itself"}
		}
		if err != nil {
			return nil, fmt.Errorf("look for %s in %s: %w", p, f.Show("."), cause(err))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// checkPattern returns what is wrong with a pattern of files, nil where nothing is.
func checkPattern(p string) *Problem {
	const hint = "write a pattern relative to the repository, such as packs/*/pack.json or **/pack.json"
	clean := path.Clean(p)
	switch {
	case p == "" || !doublestar.ValidatePattern(p):
		return &Problem{Message: fmt.Sprintf("%q is no valid file pattern", p), Hint: hint}
	case path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../"):
		return &Problem{Message: fmt.Sprintf("the file pattern %q leads out of the repository", p), Hint: hint}
	}
	return nil
}

// visible is a file system without the folders that hold no packs. A pattern
// can still name one of them in full.
type visible struct {
	fs.FS
	nowhere func(error) bool // says of an error that a link leads to nothing
}

// Stat takes a link that leads nowhere for a file: whoever reads it says what is
// wrong, where a file that is not there would be passed over. And it spares the
// opening that fs.Stat falls back to, which waits for ever for the writer of a
// named pipe.
func (v visible) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(v.FS, name)
	if err != nil && v.nowhere(err) {
		link, linkErr := fs.Lstat(v.FS, name)
		if linkErr == nil && link.Mode()&fs.ModeSymlink != 0 {
			return link, nil
		}
	}
	return info, err
}

// ReadDir leaves out folders that begin with a dot, and node_modules.
func (v visible) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(v.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules")
	}), err
}

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

package repo

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
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
		goesOn := len(next) > 0 && !holdsNoPacks(e.Name())
		switch {
		case err != nil:
			g.wrong = append(g.wrong, err)
		case linked:
		case !e.IsDir() && ends:
			g.found = append(g.found, name)
		case e.IsDir() && goesOn:
			below[e.Name()] = next
		case e.Type()&fs.ModeNamedPipe != 0 && goesOn:
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
			return false, Problemf("replace the link by the folder itself", "the file pattern %q leads out of the repository over a symbolic link", s[0].of)
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

// The bounds of file patterns. With them a search costs no more than the files that
// are there times the pieces of all patterns, whatever the patterns are.
const (
	mostPatternBytes = 1 << 10
	mostChoices      = 64   // patterns that the braces of one write out
	mostOfAll        = 1000 // that those of a list write out beyond one for each
)

// Patterns are file patterns that were read.
type Patterns []pattern

// NewPatterns reads file patterns, all of which are valid.
func NewPatterns(list []string) (all Patterns) {
	for _, p := range list {
		choices, _ := parsePattern(p) // what the config holds has been read
		all = append(all, choices...)
	}
	return all
}

// Match reports whether a file, named relative to the root, matches any of them.
func (p Patterns) Match(name string) bool { return match(p, name) }

// parseAll reads the patterns of one list, and tells which of them cannot be used.
func parseAll(list []string) (all []pattern, problems map[int]*Problem) {
	problems = map[int]*Problem{}
	for i, p := range list {
		choices, problem := parsePattern(p)
		if problem == nil && len(all)+len(choices) > len(list)+mostOfAll {
			problem = Problemf("use a wildcard, or fewer braces", "the braces of the file patterns up to %q write out more than %d patterns", p, mostOfAll)
		}
		if problem != nil {
			problems[i] = problem
			continue
		}
		all = append(all, choices...)
	}
	return all, problems
}

// pattern is a file pattern without braces, in pieces between slashes. Each is a name,
// a wildcard for one name, or "**" for any number of folders.
type pattern []piece

type piece struct {
	text string // of a name without escapes
	wild bool
	of   string // the pattern as its author wrote it
}

func (p piece) anyFolders() bool { return p.wild && p.text == "**" }

// parsePattern reads a pattern of files: what its braces write out, one pattern each.
func parsePattern(p string) ([]pattern, *Problem) {
	const hint = "write a pattern relative to the repository, such as packs/*/pack.json or **/pack.json"
	switch {
	case len(p) > mostPatternBytes:
		return nil, Problemf("divide it into several patterns", "a file pattern has %d bytes, more than %d", len(p), mostPatternBytes)
	case p == "" || !doublestar.ValidatePattern(p):
		return nil, Problemf(hint, "%q is no valid file pattern", p)
	}
	choices, ok := choicesOf(p, mostChoices)
	if !ok {
		return nil, Problemf("divide it into several patterns, or use a wildcard", "the braces of the file pattern %q write out more than %d patterns", p, mostChoices)
	}
	all := make([]pattern, 0, len(choices))
	for _, choice := range choices {
		choice = path.Clean(choice)
		if path.IsAbs(choice) || choice == ".." || strings.HasPrefix(choice, "../") {
			return nil, Problemf(hint, "the file pattern %q leads out of the repository", p)
		}
		all = append(all, piecesOf(choice, p))
	}
	return all, nil
}

// piecesOf cuts a pattern without braces at its slashes; of is the one that it is from.
func piecesOf(choice, of string) pattern {
	var pieces pattern
	for text := range strings.SplitSeq(choice, "/") {
		one := piece{text: text, wild: true, of: of}
		if name, ok := unescaped(text); ok {
			one.text, one.wild = name, false
		}
		if !one.anyFolders() || len(pieces) == 0 || !pieces[len(pieces)-1].anyFolders() {
			pieces = append(pieces, one)
		}
	}
	return pieces
}

// unescaped returns the name that a piece without wildcards stands for.
func unescaped(text string) (name string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
		}
		if i < len(text) {
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}

// choicesOf writes out the braces of a valid pattern, each choice once; ok is false
// where there are more than most.
func choicesOf(p string, most int) (choices []string, ok bool) {
	done, todo := []string{}, []string{p}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		start, end, commas := braces(next)
		if end < 0 {
			if !slices.Contains(done, next) {
				done = append(done, next)
			}
			continue
		}
		from := start + 1
		for _, to := range append(commas, end) {
			todo = append(todo, next[:start]+next[from:to]+next[end+1:])
			from = to + 1
		}
		if len(done)+len(todo) > most {
			return nil, false
		}
	}
	return done, true
}

// braces returns where the first choice of a pattern begins and ends, and the commas
// between its items; end is -1 where there is none.
func braces(p string) (start, end int, commas []int) {
	depth, class := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				start = i
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return start, i, commas
			}
		}
	}
	return 0, -1, nil
}

// matches reports whether a piece stands for a name.
func (p piece) matches(name string) bool {
	return p.text == name && !p.wild || p.wild && doublestar.MatchUnvalidated(p.text, name)
}

// state is how far a pattern has come: the pieces that are left of it.
type state = pattern

// opened returns the states of a folder, each once, with those in which "**" stands for
// no folder.
func opened(states []state) []state {
	all, seen := make([]state, 0, len(states)), map[*piece]bool{}
	add := func(s state) {
		if !seen[&s[0]] {
			seen[&s[0]] = true
			all = append(all, s)
		}
	}
	for _, s := range states {
		add(s)
		if s[0].anyFolders() && len(s) > 1 {
			add(s[1:])
		}
	}
	return all
}

// last reports whether a pattern may end with its next piece: "**" stands for nothing too.
func last(s state) bool { return len(s) == 1 || len(s) == 2 && s[1].anyFolders() }

// step returns the states that a name leads to, and whether it ends a pattern.
func step(states []state, name string) (next []state, ends bool) {
	for _, s := range states {
		switch {
		case s[0].anyFolders():
			next, ends = append(next, s), ends || len(s) == 1
		case !s[0].matches(name):
		default:
			ends = ends || last(s)
			if len(s) > 1 {
				next = append(next, s[1:])
			}
		}
	}
	return next, ends
}

// match reports whether the name of a file, relative to the root, fits a pattern.
func match(patterns []pattern, name string) bool {
	states, ends := slices.Clone(patterns), false
	for part := range strings.SplitSeq(name, "/") {
		states, ends = step(opened(states), part)
	}
	return ends
}

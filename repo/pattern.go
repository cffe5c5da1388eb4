package repo

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

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
		return nil, Problemf(hint, "%q is not a valid file pattern", p)
	}
	choices, ok := choicesOf(p, mostChoices)
	if !ok {
		return nil, Problemf("divide it into several patterns, or use a wildcard", "the braces of the file pattern %q write out more than %d patterns", p, mostChoices)
	}
	all := make([]pattern, 0, len(choices))
	for _, choice := range choices {
		choice = path.Clean(choice)
		if path.IsAbs(choice) || choice == ".." || strings.HasPrefix(choice, "../") {
			return nil, Problemf(hint, "the file pattern %q points outside the repository", p)
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

// step returns the states that a name leads to if it is a folder, and whether it ends a
// pattern if it is a file.
func step(states []state, name string) (next []state, ends bool) {
	for _, s := range states {
		rest := s // which "**" does not use up
		if !s[0].anyFolders() {
			if !s[0].matches(name) {
				continue
			}
			rest = s[1:]
		}
		ends = ends || last(s)
		if len(rest) > 0 && !(s[0].wild && holdsNoPacks(name)) {
			next = append(next, rest)
		}
	}
	return next, ends
}

// holdsNoPacks tells of a folder that wildcards do not lead into: one that begins with a
// dot, or node_modules. A pattern can still name it.
func holdsNoPacks(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// match reports whether the name of a file, relative to the root, fits a pattern.
func match(patterns []pattern, name string) bool {
	states, ends := slices.Clone(patterns), false
	for part := range strings.SplitSeq(name, "/") {
		states, ends = step(opened(states), part)
	}
	return ends
}

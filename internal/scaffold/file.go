package scaffold

import "strings"

// File is one file of the repository.
type File struct {
	Name    string // relative to the root of the git repository, with forward slashes
	Content []byte
	// Shared says that people and other programs write into a file of this name too, so
	// that one that is there is never overwritten.
	Shared bool
	// Elsewhere are other names under which such a file counts.
	Elsewhere []string

	mark  string // what a list of pre-commit's hooks holds that needs no more of them
	whole bool   // a file that is there needs no more lines, whatever it holds
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

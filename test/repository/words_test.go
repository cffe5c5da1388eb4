package repository_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dated are words that current English says otherwise: "fix", "intended".
var dated = regexp.MustCompile(`(?i)\b(m(?:end|ends|ended|ending)|(?:is|are|was|were|be|been)(?: not)? m(?:eant))\b`)

// Code, pages and messages use current words, which the readers of a report know.
func TestWordsAreCurrent(t *testing.T) {
	for _, file := range files(t) {
		if !slices.Contains([]string{".go", ".md", ".yml", ".txtar", ".golden", ".mjs", ".sh"}, path.Ext(file)) {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(src)) {
			number++
			if word := dated.FindString(line); word != "" {
				t.Errorf("%s:%d: says %q", file, number, word)
			}
		}
	}
}

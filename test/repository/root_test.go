package repository_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// mostRootEntries is how many files and folders a reader meets first.
const mostRootEntries = 42

// The root of the repository is a table of contents: few entries, main.go the only Go
// file, and no test.
func TestRootIsShort(t *testing.T) {
	var entries []string
	for _, file := range files(t) {
		entry, _, _ := strings.Cut(file, "/")
		if !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
		if entry == file && path.Ext(file) == ".go" && file != "main.go" {
			t.Errorf("%s is in the root; wanted main.go alone", file)
		}
	}
	if len(entries) > mostRootEntries {
		t.Errorf("the root has %d entries, want at most %d: %q", len(entries), mostRootEntries, entries)
	}
}

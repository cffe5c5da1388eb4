package repository_test

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The site's sidebar has each page of docs/ once, and nothing else; a page in none of its
// chapters would be found by the search alone.
func TestSiteListsEveryPage(t *testing.T) {
	config := read(t, filepath.Join("docs", "site", ".vitepress", "config.mjs"))
	chapters := regexp.MustCompile(`(?s)const chapters = \{\n(.*?)\n\}`).FindStringSubmatch(config)
	if chapters == nil {
		t.Fatal("docs/site/.vitepress/config.mjs has no chapters")
	}
	var listed, there []string
	for _, list := range regexp.MustCompile(`\[(.*)\]`).FindAllStringSubmatch(chapters[1], -1) {
		for name := range strings.SplitSeq(list[1], ",") {
			listed = append(listed, strings.Trim(name, " '"))
		}
	}
	for _, page := range pages(t) {
		if path.Dir(page) == "docs" {
			there = append(there, strings.TrimSuffix(path.Base(page), ".md"))
		}
	}
	slices.Sort(listed)
	slices.Sort(there)
	if !slices.Equal(listed, there) {
		t.Errorf("the chapters of docs/site/.vitepress/config.mjs list\n%q\nand docs has\n%q", listed, there)
	}
}

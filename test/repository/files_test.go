package repository_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// files returns the paths of all files of the repository, with slashes: those that git
// knows and those that it would.
func files(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	out, err = exec.Command("git", "ls-files", "-z", "--deleted").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	gone := strings.Split(string(out), "\x00")
	list = slices.DeleteFunc(list, func(file string) bool { return slices.Contains(gone, file) })
	if len(list) < 100 {
		t.Fatalf("git lists only %d files", len(list))
	}
	return list
}

// source is a parsed Go file.
type source struct {
	*ast.File
	name string // with slashes, from the root
	test bool   // read by go test alone
}

// sources parses the Go files of the repository that wanted returns true for, those of
// other systems and modules included, without test data.
func sources(t *testing.T, set *token.FileSet, mode parser.Mode, wanted func(file string) bool) []source {
	t.Helper()
	var all []source
	for _, file := range files(t) {
		if path.Ext(file) != ".go" || strings.Contains("/"+file, "/testdata/") || !wanted(file) {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, mode|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, source{f, file, strings.HasSuffix(file, "_test.go")})
	}
	return all
}

// isGear reports whether a file or a package is used by tests and measurements alone.
func isGear(name string) bool {
	return slices.ContainsFunc([]string{"test/", "bench/", "e2e/"}, func(folder string) bool { return strings.HasPrefix(name+"/", folder) })
}

package repository_test

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/program"
)

// What every start pays for, --version as well as a gate, is what packages do before
// main. Tables and expressions are made when they are first used, so that a run pays
// for what it needs.
const (
	mostInitAllocations = 300
	mostInitBytes       = 24 << 10
)

// initLine is how the Go runtime reports the initialisation of a package (package
// runtime, GODEBUG=inittrace).
var initLine = regexp.MustCompile(`(?m)^init github\.com/contextosai/packgate/(\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)

func TestPackagesStartWithLittle(t *testing.T) {
	c := exec.Command(program.Copy(t, t.TempDir()), "--version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("packgate --version: %v\n%s", err, out)
	}
	lines := initLine.FindAllStringSubmatch(string(out), -1)
	if len(lines) < 10 {
		t.Fatalf("the runtime reports %d packages of the module, want more:\n%s", len(lines), out)
	}
	for _, l := range lines {
		if strings.HasPrefix(l[1], "test/") {
			continue // of this test binary, no part of the program
		}
		bytes, allocations := number(t, l[2]), number(t, l[3])
		if bytes > mostInitBytes || allocations > mostInitAllocations {
			t.Errorf("package %s takes %d bytes in %d allocations before main, want at most %d in %d", l[1], bytes, allocations, mostInitBytes, mostInitAllocations)
		}
	}
}

// A small expression takes less than a package may at its start, and many of them do not.
func TestExpressionsAreCompiledWhenTheyAreNeeded(t *testing.T) {
	product := func(file string) bool { return !isGear(file) && !strings.HasSuffix(file, "_test.go") }
	set := token.NewFileSet()
	for _, f := range sources(t, set, 0, product) {
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl, *ast.FuncLit:
					return false
				case *ast.CallExpr:
					if strings.HasPrefix(qualified(n.Fun), "regexp.") {
						t.Errorf("%s compiles an expression before main, wanted sync.OnceValue", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

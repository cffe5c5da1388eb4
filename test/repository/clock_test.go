package repository_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// clocks are the functions that read the clock or wait for it, each with the number of
// the argument that is a limit, or never.
var clocks = map[string]int{
	"time.Now": never, "time.Since": never, "time.Until": never, "time.Sleep": never, "time.Tick": never, "time.NewTicker": never,
	"time.NewTimer": 0, "time.After": 0, "time.AfterFunc": 0, "context.WithTimeout": 1, "context.WithTimeoutCause": 1,
	"context.WithDeadline": never, "context.WithDeadlineCause": never,
}

const never = -1

// clockReaders are the files of tests that read the clock all the same, each with the
// reason: none of them fails because a machine is slow.
var clockReaders = map[string]string{
	"gating/cache/":                         "the system dates the files of the cache, and their age is what is tested",
	"internal/github/client_bounds_test.go": "a request that is never answered ends by its limit, and nothing else depends on it",
	"internal/lsp/runs_test.go":             "the clock is that of testing/synctest, which only waiting moves",
	"publish/attest/":                       "what stands for Sigstore makes certificates with a library that dates them by the clock",
	"e2e/sigstore/":                         "the real services of Sigstore date what they sign, and are waited for until they answer",
	"test/hang/hang.go":                     "it is the limit that ends what hangs",
	"test/script/script_test.go":            "a waiver ends on a day that is not far away, and the program knows which day it is",
	"test/faults/signal_test.go":            "a moment in the middle of the work is looked for, earlier and later; what holds holds at each",
	"test/repository/docs_run_test.go":      "signatures are dated, and today is shown as a day that stays",
}

// Tests do not look at the clock: they count steps, or wait for what happens. A clock ends
// what hangs, after minutes, so that no test fails on a busy machine.
func TestTestsDoNotLookAtTheClock(t *testing.T) {
	set, used := token.NewFileSet(), map[string]bool{}
	gear := func(file string) bool {
		return (strings.HasSuffix(file, "_test.go") || isGear(file)) && !strings.HasPrefix(file, "bench/")
	}
	for _, f := range sources(t, set, 0, gear) {
		for _, at := range clocksIn(f.File) {
			if reader := readerOf(f.name); reader != "" {
				used[reader] = true
				continue
			}
			t.Errorf("%s looks at the clock; count steps, wait for what happens, or give hang.Limit", set.Position(at))
		}
	}
	for file := range clockReaders {
		if !used[file] {
			t.Errorf("%s does not look at the clock; take it out of the table", file)
		}
	}
}

// readerOf returns the entry of the table that a file has, or its folder.
func readerOf(file string) string {
	for dir := file; dir != "."; dir = path.Dir(dir) {
		for _, entry := range []string{dir, dir + "/"} {
			if clockReaders[entry] != "" {
				return entry
			}
		}
	}
	return ""
}

// clocksIn returns where a file reads the clock, waits for it, or sets a limit of less
// than a minute.
func clocksIn(f *ast.File) (found []token.Pos) {
	limited := map[ast.Expr]bool{} // functions that are called with a limit of minutes
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if i, ok := clocks[qualified(n.Fun)]; ok && i >= 0 && i < len(n.Args) && minutes(n.Args[i]) {
				limited[n.Fun] = true
			}
		case *ast.SelectorExpr:
			if _, ok := clocks[qualified(n)]; ok && !limited[n] {
				found = append(found, n.Pos())
			}
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Timeout" && !minutes(n.Value) {
				found = append(found, n.Pos())
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Timeout" && i < len(n.Rhs) && !minutes(n.Rhs[i]) {
					found = append(found, left.Pos())
				}
			}
		}
		return true
	})
	return found
}

// qualified returns the name of a function of another package with the package's: time.Now.
func qualified(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if in, ok := s.X.(*ast.Ident); ok {
			return in.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// minutes reports whether a duration is written as a number of minutes or hours, or is
// the limit of all tests.
func minutes(e ast.Expr) bool {
	if product, ok := e.(*ast.BinaryExpr); ok && product.Op == token.MUL {
		return minutes(product.X) || minutes(product.Y)
	}
	return slices.Contains([]string{"time.Minute", "time.Hour", "hang.Limit"}, qualified(e))
}

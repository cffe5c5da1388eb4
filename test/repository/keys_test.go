package repository_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A key that is joined from several texts can be that of other texts: "a b" and "c", "a"
// and "b c". So no map is indexed by a joined text, and nothing that is called a key is
// one: a key is a value of a comparable type. These may be joined, each for its reason.
var joinedKeys = map[string]string{
	"overlays.key": "findings of one key are numbered, and none is lost",
	"security.key": "findings of one key are numbered, and none is lost",

	"diffing.qualifyLike":      "the names are those of keyed paths, which are told apart where they are made",
	"diffing.decisionVersions": "the names are those of keyed paths, which are told apart where they are made",
	"surface.rowsOf":           "no two tools have one name",
	"replay.declarations":      "no two tools have one name",

	"security.mostAlike": "the parts are quoted",
	"build.blocks":       "the first part is one of four words without a digit",
	"rulebook.words":     "a path is written as a condition writes it",
	"jsonlogic.fill":     "the text is a value, and no key",
}

// keyed is a joined text that is used as a key: where, and in which function.
type keyed struct{ at, function string }

// joinedKeysOf returns the joined texts of a function that are used as keys.
func joinedKeysOf(set *token.FileSet, pkg string, d *ast.FuncDecl) (found []keyed) {
	name := pkg + "." + d.Name.Name
	note := func(n ast.Node) {
		p := set.Position(n.Pos())
		found = append(found, keyed{fmt.Sprintf("%s:%d", p.Filename, p.Line), name})
	}
	joined := map[string]bool{} // variables that hold a joined text
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, left := range a.Lhs {
				if v, ok := left.(*ast.Ident); ok && isJoined(a.Rhs[i]) {
					joined[v.Name] = true
				}
			}
		}
		return true
	})
	isKey := strings.EqualFold(d.Name.Name, "key") || strings.HasSuffix(d.Name.Name, "Key")
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			v, named := n.Index.(*ast.Ident)
			if isJoined(n.Index) || named && joined[v.Name] {
				note(n)
			}
		case *ast.ReturnStmt:
			if isKey && slices.ContainsFunc(n.Results, isJoined) {
				note(n)
			}
		}
		return true
	})
	return found
}

// isJoined reports whether an expression puts several texts into one: a sum of two or more
// that are no constants, or what fmt and strings make of a list.
func isJoined(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return isJoined(e.X)
	case *ast.BinaryExpr:
		terms, text := termsOf(e)
		return text && terms > 1
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok {
			switch lastName(s.X) + "." + s.Sel.Name {
			case "fmt.Sprint", "fmt.Sprintln", "strings.Join":
				return true
			case "fmt.Sprintf":
				return len(e.Args) > 2
			}
		}
	}
	return false
}

// termsOf counts the terms of a sum that are no literals, and reports whether one of its
// terms is a text.
func termsOf(e ast.Expr) (terms int, text bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return termsOf(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return 1, false
		}
		left, a := termsOf(e.X)
		right, b := termsOf(e.Y)
		return left + right, a || b
	case *ast.BasicLit:
		return 0, e.Kind == token.STRING
	}
	return 1, false
}

func TestNoKeyIsJoined(t *testing.T) {
	set := token.NewFileSet()
	used, functions := map[string]bool{}, 0
	product := func(file string) bool { return !isGear(file) && !strings.HasSuffix(file, "_test.go") }
	for _, f := range sources(t, set, 0, product) {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			functions++
			for _, k := range joinedKeysOf(set, f.Name.Name, d) {
				used[k.function] = true
				if joinedKeys[k.function] == "" {
					t.Errorf("%s: %s has a joined text for a key, wanted a value of a comparable type", k.at, k.function)
				}
			}
		}
	}
	for function := range joinedKeys {
		if !used[function] {
			t.Errorf("%s joins no key any more", function)
		}
	}
	if functions < 3000 {
		t.Errorf("only %d functions were read", functions)
	}
}

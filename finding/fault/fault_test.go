package fault

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

type advised struct{ error }

func (advised) Hint() string { return "advised" }

func TestHint(t *testing.T) {
	outside, inside := NewKind("outside", "help outside"), NewKind("inside", "help inside")
	below := &Error{Kind: inside, Message: "below"}
	told := &Error{Kind: inside, Message: "below", Hint: "told"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{io.EOF, ""},
		{below, "help inside"},
		{told, "told"},
		{fmt.Errorf("wrapped: %w", told), "told"},
		{errors.Join(io.EOF, told), "told"},
		{&Error{Kind: outside, Cause: io.EOF}, "help outside"},
		{&Error{Kind: outside, Cause: below}, "help inside"},
		{&Error{Kind: outside, Cause: told}, "told"},
		{&Error{Kind: outside, Hint: "own", Cause: told}, "own"},
		{&Error{Kind: outside, Cause: &Quote{"words", told}}, "told"},
		{advised{io.EOF}, "advised"},
		{&Error{Kind: outside, Cause: advised{io.EOF}}, "advised"},
	} {
		if got := Hint(c.err); got != c.want {
			t.Errorf("%v: hint %q, wanted %q", c.err, got, c.want)
		}
	}
}

func TestError(t *testing.T) {
	kind, other := NewKind("kind", "help"), NewKind("kind", "help")
	err := fmt.Errorf("wrapped: %w", &Error{Kind: kind, Message: "cannot read", Hint: "try", Cause: &Quote{"it is cut off", io.ErrUnexpectedEOF}})
	if want := "wrapped: cannot read: it is cut off"; err.Error() != want {
		t.Errorf("text %q, wanted %q", err, want)
	}
	if !Is(err, other, kind) || Is(err, other) || Is(err) || !errors.Is(err, kind) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is not of the one kind that it is of, or has another cause", err)
	}
	if kind.Error() != "kind" {
		t.Errorf("the kind reads %q", kind)
	}
}

// Every kind of failure says what helps against it, and every error of the program has
// a kind.
func TestEveryErrorHasAKindAndEveryKindAHint(t *testing.T) {
	kinds, literals := 0, 0
	visit := func(n ast.Node, at token.Position) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if selected(n.Fun, "fault", "NewKind") {
				if kinds++; literal(n.Args[1]) == `""` || strings.HasSuffix(literal(n.Args[1]), `."`) {
					t.Errorf("%s: a kind without a hint, or with a full stop", at)
				}
			}
		case *ast.CompositeLit:
			if selected(n.Type, "fault", "Error") {
				if literals++; !keyed(n, "Kind") {
					t.Errorf("%s: an error without a kind", at)
				}
			}
		}
	}
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".git")):
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				visit(n, files.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || kinds < 40 || literals < 100 {
		t.Errorf("%d kinds and %d errors read, error %v", kinds, literals, err)
	}
}

func selected(e ast.Expr, of, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == of
}

// literal returns the source of a literal, or of the last in a sum of texts.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value
	case *ast.BinaryExpr:
		return literal(e.Y)
	}
	return ""
}

func keyed(lit *ast.CompositeLit, name string) bool {
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
				return true
			}
		}
	}
	return false
}

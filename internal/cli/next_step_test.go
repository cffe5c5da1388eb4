package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
)

// sentinels returns the kinds of failure that a package declares: ErrX = errors.New(…).
func sentinels(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, s := range d.Specs {
					if n := s.(*ast.ValueSpec).Names[0].Name; strings.HasPrefix(n, "Err") && !strings.HasSuffix(name, "_test.go") {
						names = append(names, f.Name.Name+"."+n)
					}
				}
			}
		}
	}
	return names
}

// Every kind of failure has a next step, once.
func TestEveryKindHasANextStep(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "next_step.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Err") {
			listed[s.X.(*ast.Ident).Name+"."+s.Sel.Name]++
		}
		return true
	})
	var all []string
	for _, dir := range []string{"../github", "../../publish", "../../publish/attest", "../../publish/registry"} {
		all = append(all, sentinels(t, dir)...)
	}
	for _, name := range all {
		if listed[name] != 1 {
			t.Errorf("%s is listed %d times in next_step.go, wanted once", name, listed[name])
		}
		delete(listed, name)
	}
	if len(listed) > 0 || len(all) < 40 {
		t.Errorf("%d kinds; listed and none: %v", len(all), listed)
	}
}

// What the machine needs comes before what an error says, and that before what helps
// against its kind. An error around another of a known kind has the inner one's step.
func TestNextStep(t *testing.T) {
	unknown := &github.Error{Kind: github.ErrUnknownRevision, Message: "revision is not known"}
	outer := &publish.Error{Kind: publish.ErrStep, Message: "failed", Cause: &registry.Error{Kind: registry.ErrUnauthorized, Message: "no"}}
	for _, c := range []struct {
		err       error
		own, want string
	}{
		{fmt.Errorf("write: %w", fs.ErrPermission), "own", remedy(fs.ErrPermission)},
		{unknown, "own", "own"},
		{unknown, "", "name a commit, a branch or a tag of this clone, or fetch it first"},
		{outer, "", "log in to the registry"},
		{errors.New("other"), "", ""},
	} {
		if got := nextStep(c.err, c.own); got != c.want {
			t.Errorf("%v: %q, wanted %q", c.err, got, c.want)
		}
	}
	if p := problemsOf(unknown); len(p) != 1 || p[0].Hint == "" {
		t.Errorf("it is shown as %+v", p)
	}
	for _, n := range nextSteps {
		if n.hint == "" || strings.HasSuffix(n.hint, ".") {
			t.Errorf("%v: %q", n.kind, n.hint)
		}
	}
}

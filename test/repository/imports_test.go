package repository_test

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/contextosai/packgate"

// room is a folder of the repository with its packages, each of which may import those
// before it.
type room struct {
	folder   string
	packages []string // below the folder; "." is the folder itself
}

// rooms are in the order in which data flows, from the ground up: a package imports only
// packages of rooms above its own in this list, and of its own room those before it.
var rooms = []room{
	{"internal/release", []string{"."}},
	{"internal/heap", []string{"."}},
	{"finding", []string{".", "fault"}},
	{"pack", []string{"."}},
	{"schemas", []string{"."}},
	{"detect", []string{"."}},
	{"jsonlogic", []string{"."}},
	{"policy", []string{"."}},
	{"repo", []string{"atomicfile", ".", "overlay", "workflows"}},
	{"compiler", []string{".", "tokens"}},
	{"proof", []string{".", "rulebook"}},
	{"golden", []string{".", "starter"}},
	{"gates", []string{"gate", "schema", "references", "policyrules", "risk", "tenancy", "security", "replay", "evaluation", "overlays", "promotion", "version", "repository", "required", "waivers", "."}},
	{"diffing", []string{".", "compiles", "surface", "flips", "refresh", "environments"}},
	{"playground", []string{"engine", ".", "wasm", "build"}},
	{"report/template", []string{"."}},
	{"report/model", []string{"."}},
	{"gating/operations", []string{"."}},
	{"report/build", []string{"."}},
	{"report/render", []string{"."}},
	{"internal/github", []string{"."}}, // which reads commits; what it posts is rendered
	{"gating", []string{"cache", "causes", "."}},
	{"publish", []string{"statement", "registry", "attest", ".", "export", "notice", "webhook"}},
	{"internal", []string{"scaffold", "doctor", "lsp", "cli", "docgen"}},
	{".", []string{"."}}, // main
}

// reaching are the packages that read or change what is outside of their arguments:
// files, processes, the network, the environment. All others are pure.
var reaching = []string{
	"internal/release", "internal/heap", "repo", "repo/atomicfile", "playground/build", "gating/cache", "gating", "publish/registry", "publish/attest", "publish", "publish/export", "publish/webhook",
	"internal/github", "internal/lsp", "internal/cli", "internal/docgen", ".",
}

var outside = []string{"os", "os/exec", "os/signal", "net", "net/http", "log", "log/slog", "math/rand", "math/rand/v2", "syscall"}

// order returns the packages of all rooms, by the path of their folder.
func order() (list []string) {
	for _, r := range rooms {
		for _, p := range r.packages {
			list = append(list, path.Join(r.folder, p))
		}
	}
	return list
}

// imports returns what each package of the product imports, in any file but tests, of
// the module by folder.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	product := func(file string) bool { return !isGear(file) && !strings.HasSuffix(file, "_test.go") }
	for _, f := range sources(t, token.NewFileSet(), parser.ImportsOnly, product) {
		in := path.Dir(f.name)
		found[in] = slices.Grow(found[in], 0)
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name == module {
				name = "."
			}
			found[in] = append(found[in], strings.TrimPrefix(name, module+"/"))
		}
	}
	return found
}

// Every package has its place in one room, and nothing runs back up.
func TestImportsFollowTheData(t *testing.T) {
	all, places := imports(t), order()
	for i, name := range places {
		if slices.Index(places, name) != i {
			t.Errorf("package %q has two places in the rooms", name)
		}
		if _, ok := all[name]; !ok {
			t.Errorf("the rooms have a package %q, and the repository has none", name)
		}
	}
	for name, imported := range all {
		at := slices.Index(places, name)
		if at < 0 {
			t.Errorf("package %q is in no room", name)
			continue
		}
		for _, used := range imported {
			if _, ours := all[used]; ours && slices.Index(places, used) >= at {
				t.Errorf("%q imports %q, which is not before it in the rooms", name, used)
			}
			if isGear(used) {
				t.Errorf("%q imports %q, which is for tests alone", name, used)
			}
		}
	}
}

func TestPurePackagesTouchNothing(t *testing.T) {
	all := imports(t)
	for name, imported := range all {
		reaches := slices.ContainsFunc(imported, func(used string) bool { return slices.Contains(outside, used) })
		if reaches && !slices.Contains(reaching, name) {
			t.Errorf("%q imports one of %q, and so reaches outside of its arguments", name, outside)
		}
		if !reaches && slices.Contains(reaching, name) {
			t.Errorf("%q is listed as reaching outside of its arguments, and imports nothing that does", name)
		}
	}
}

// The package that answers --version is initialised before whatever it does not need.
func TestReleaseImportsOSAlone(t *testing.T) {
	if got := imports(t)["internal/release"]; !slices.Equal(got, []string{"os"}) {
		t.Errorf("internal/release imports %q, wanted os alone: with more, Go initialises it later", got)
	}
}

// What fills templates of text/template calls methods by names that the linker cannot
// know, so that it keeps all of every type: a fifth of the program. Its parser calls none.
func TestNothingCallsMethodsByName(t *testing.T) {
	for name, imported := range imports(t) {
		for _, used := range imported {
			if used == "text/template" || used == "html/template" {
				t.Errorf("%q imports %q, wanted %s/report/template", name, used, module)
			}
		}
	}
}

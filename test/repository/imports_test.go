package repository_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/contextosai/packgate"

// order is the way of the data: a package may import only what stands above it.
var order = []string{
	"finding",
	"pack",
	"schemas",
	"repo",
	"jsonlogic",
	"policy",
	"compiler",
	"compiler/tokens",
	"repo/overlay",
	"proof",
	"golden",
	"golden/starter",
	"internal/scaffold",
	"detect",
	"gates/gate",
	"gates/schema",
	"gates/references",
	"gates/policyrules",
	"gates/risk",
	"gates/tenancy",
	"gates/security",
	"gates/replay",
	"gates/evaluation",
	"gates/overlays",
	"proof/rulebook",
	"gates/version",
	"gates/waivers",
	"gates",
	"gating/operations",
	"diffing/refresh",
	"diffing",
	"diffing/compiles",
	"diffing/flips",
	"diffing/surface",
	"playground/engine",
	"playground",
	"report",
	"publish/statement",
	"publish/registry",
	"publish/attest",
	"publish",
	"internal/github",
	"gating/cache",
	"internal/lsp",
	"internal/cli",
	"internal/docgen",
	"playground/build",
	"", // main
}

// helpers are used by tests alone and may import anything.
var helpers = []string{"internal/github/githubtest", "bench"}

// pure packages read nothing but their arguments: no file, no process, no
// network, no environment. Printing and the clock belong elsewhere too.
var pure = []string{
	"finding", "pack", "jsonlogic", "policy", "compiler", "compiler/tokens", "repo/overlay", "proof",
	"golden", "golden/starter", "internal/scaffold", "gating/operations", "diffing/refresh",
	"gates", "gates/gate", "gates/schema", "gates/references", "gates/policyrules", "gates/risk", "gates/tenancy",
	"gates/replay", "gates/evaluation", "gates/overlays", "gates/security", "gates/version", "gates/waivers", "detect", "proof/rulebook", "diffing", "diffing/compiles", "diffing/flips", "diffing/surface",
	"publish/statement", "playground", "playground/engine",
}

var outside = []string{"os", "os/exec", "net", "net/http", "log", "math/rand", "math/rand/v2"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func inModule(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestImportsFollowTheData(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := inModule(p.ImportPath)
		if slices.Contains(helpers, name) || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "test/") {
			continue
		}
		at := slices.Index(order, name)
		if at < 0 {
			t.Errorf("package %q has no place in the order", name)
		}
		for _, path := range p.Imports {
			used, ours := inModule(path)
			if !ours {
				continue
			}
			if to := slices.Index(order, used); to < 0 || to >= at {
				t.Errorf("%q imports %q, which is not before it in the way of the data", name, used)
			}
		}
	}
}

func TestPurePackagesTouchNothing(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := inModule(p.ImportPath)
		if !slices.Contains(pure, name) {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(outside, path) {
				t.Errorf("%q imports %q and so reaches outside of its arguments", name, path)
			}
		}
	}
}

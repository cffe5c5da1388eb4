package golden_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/internal/golden"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/schemas"
)

const example = "../../examples/acme-support"

// open reads the one pack of a repository, with environments and config.
func open(t testing.TB, dir string) (*repo.Unit, []*repo.Environment, *repo.Config) {
	t.Helper()
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	config, err := files.Config("")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := files.Environments(config)
	if err != nil {
		t.Fatal(err)
	}
	names, err := files.Find(config)
	if err != nil || len(names) != 1 {
		t.Fatalf("the packs are %v: %v", names, err)
	}
	unit, err := files.Unit(names[0], config)
	if err != nil {
		t.Fatal(err)
	}
	return unit, environments, config
}

// The example's cases all pass. UPDATE=1 writes their snapshots.
func TestExample(t *testing.T) {
	unit, environments, config := open(t, example)
	results := golden.Run(unit, environments, config)
	if os.Getenv("UPDATE") != "" {
		for _, r := range results {
			if r.Compiled == nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(example, r.SnapshotName), r.Compiled, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		unit, environments, config = open(t, example)
		results = golden.Run(unit, environments, config)
	}
	families := map[string]bool{}
	for _, r := range results {
		families[r.Family] = true
		if r.Status != golden.Pass || len(r.NotChecked) > 0 {
			t.Errorf("%s: %s %v, not checked %v", r.File, r.Status, r.Problems, r.NotChecked)
		}
		if name := filepath.Base(r.File); name != r.Case+".case.json" {
			t.Errorf("case %q stands in %s", r.Case, name)
		}
		if r.Compiled == nil {
			continue
		}
		doc, _ := pack.Read(r.SnapshotName, r.Compiled, pack.DefaultLimits())
		violations, err := schemas.Validate("compiled-context", doc.Root.Any())
		if err != nil || len(violations) > 0 {
			t.Errorf("%s: %v %v", r.SnapshotName, violations, err)
		}
	}
	for _, family := range []string{"allowed", "denied", "approval", "safety_ceiling", "budget_pressure"} {
		if !families[family] {
			t.Errorf("there is no case of family %s", family)
		}
	}
}

// Every JSON file of the example is valid against its schema, and each file of
// our own formats names it.
func TestExampleFilesAreValid(t *testing.T) {
	unit, environments, _ := open(t, example) // an invalid config or catalog is an error here
	if len(unit.Faults) > 0 || len(environments) != 1 {
		t.Errorf("faults %v, %d environments", unit.Faults, len(environments))
	}
	documents := map[string][]*pack.Document{"context-pack": {unit.Document}, "environment": {environments[0].Document}}
	for _, f := range unit.Files {
		documents[f.Kind] = append(documents[f.Kind], f.Document)
	}
	if len(documents["tool-surface"]) != 1 {
		t.Error("there is no tool surface")
	}
	for kind, list := range documents {
		for _, doc := range list {
			violations, err := schemas.Validate(kind, doc.Root.Any())
			if err != nil || len(violations) > 0 {
				t.Errorf("%s: %v %v", doc.File, violations, err)
			}
			if named := doc.Root.Get("$schema"); kind != "context-pack" && (named == nil || !strings.Contains(named.Text, "/"+kind+".v1.")) {
				t.Errorf("%s does not name its schema", doc.File)
			}
		}
	}
}

// The tool surface of the example is what its cases surface at most.
func TestExampleToolSurface(t *testing.T) {
	unit, environments, config := open(t, example)
	var declared, surfaced []string
	for _, f := range unit.Files {
		if f.Kind == "tool-surface" {
			for _, row := range f.Document.Root.Get("surface").Items {
				declared = append(declared, row.Get("capability").Text)
			}
		}
	}
	for _, r := range golden.Run(unit, environments, config) {
		if r.Detail.Context != nil {
			surfaced = append(surfaced, r.Detail.Context.ContextLedger.Tools...)
		}
	}
	slices.Sort(declared)
	slices.Sort(surfaced)
	if surfaced = slices.Compact(surfaced); !slices.Equal(declared, surfaced) {
		t.Errorf("the tool surface declares %q, and the cases surface %q", declared, surfaced)
	}
}

// The example's pack is the documented one, byte for byte.
func TestExamplePackIsTheDocumentedOne(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(example, "packs/support/pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../compiler/testdata/reference/context_pack_support_full.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the example's pack differs from the documented one")
	}
}

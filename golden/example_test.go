package golden_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

const example = "../examples/acme-support"

// supportPack is the pack of the example that most tests are about.
const supportPack = "packs/support/pack.json"

// open reads the support pack of a repository, with environments and config.
func open(t testing.TB, dir string) (*repo.Unit, []*repo.Environment, *repo.Config) {
	t.Helper()
	units, environments, config := openAll(t, dir, supportPack)
	return units[0], environments, config
}

// openAll reads packs of a repository, all that are found where none is named.
func openAll(t testing.TB, dir string, names ...string) (units []*repo.Unit, environments []*repo.Environment, config *repo.Config) {
	t.Helper()
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	if config, err = files.Config(""); err != nil {
		t.Fatal(err)
	}
	if environments, err = files.Environments(config); err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		if names, err = files.Find(config); err != nil || len(names) == 0 {
			t.Fatalf("the packs are %v: %v", names, err)
		}
	}
	for _, name := range names {
		unit, err := files.Unit(name, config)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	return units, environments, config
}

// The example's cases all pass. UPDATE=1 writes their snapshots.
func TestExample(t *testing.T) {
	units, environments, config := openAll(t, example)
	if os.Getenv("UPDATE") != "" {
		for _, u := range units {
			store(t, golden.Run(u, environments, config))
		}
		units, environments, config = openAll(t, example)
	}
	for _, u := range units {
		families := map[string]bool{}
		for _, r := range golden.Run(u, environments, config) {
			families[r.Family] = true
			checkExample(t, r)
		}
		for _, family := range []string{"allowed", "denied", "approval", "safety_ceiling", "budget_pressure"} {
			if !families[family] {
				t.Errorf("%s has no case of family %s", u.Name, family)
			}
		}
	}
}

func store(t *testing.T, results []golden.Result) {
	t.Helper()
	for _, r := range results {
		if r.Compiled == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(example, r.SnapshotName), r.Compiled, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkExample(t *testing.T, r golden.Result) {
	t.Helper()
	if r.Status != golden.Pass || len(r.NotChecked) > 0 {
		t.Errorf("%s: %s %v, not checked %v", r.File, r.Status, r.Problems, r.NotChecked)
	}
	if name := filepath.Base(r.File); name != r.Case+".case.json" {
		t.Errorf("case %q stands in %s", r.Case, name)
	}
	if r.Compiled == nil {
		return
	}
	doc, _ := pack.Read(r.SnapshotName, r.Compiled, pack.DefaultLimits())
	violations, err := schemas.Validate("compiled-context", doc.Root.Any())
	if err != nil || len(violations) > 0 {
		t.Errorf("%s: %v %v", r.SnapshotName, violations, err)
	}
}

// Every JSON file of the example is valid against its schema, and each file of
// our own formats names it.
func TestExampleFilesAreValid(t *testing.T) {
	units, environments, _ := openAll(t, example) // an invalid config or catalog is an error here
	documents := map[string][]*pack.Document{}
	for _, e := range environments {
		documents["environment"] = append(documents["environment"], e.Document)
	}
	for _, u := range units {
		if len(u.Faults) > 0 || u.Surface == nil {
			t.Errorf("%s has faults %v, or no tool surface", u.Name, u.Faults)
		}
		documents["context-pack"] = append(documents["context-pack"], u.Document)
		for _, f := range u.Files {
			documents[f.Kind] = append(documents[f.Kind], f.Document)
		}
	}
	contracts := []string{"context-pack", "replay-packet", "decision-record"} // which name no schema
	for kind, list := range documents {
		for _, doc := range list {
			violations, err := schemas.Validate(kind, doc.Root.Any())
			if err != nil || len(violations) > 0 {
				t.Errorf("%s: %v %v", doc.File, violations, err)
			}
			if named := doc.Root.Get("$schema"); !slices.Contains(contracts, kind) && (named == nil || !strings.Contains(named.Text, "/"+kind+".v1.")) {
				t.Errorf("%s does not name its schema", doc.File)
			}
		}
	}
}

// The tool surface of the example is what its cases surface at most.
func TestExampleToolSurface(t *testing.T) {
	units, environments, config := openAll(t, example)
	for _, u := range units {
		var declared, surfaced []string
		for _, row := range u.Surface.Surface.Items {
			declared = append(declared, row.Capability.Value)
		}
		for _, r := range golden.Run(u, environments, config) {
			if r.Detail != nil && r.Detail.Context != nil {
				surfaced = append(surfaced, r.Detail.Context.ContextLedger.Tools...)
			}
		}
		slices.Sort(declared)
		slices.Sort(surfaced)
		if declared, surfaced = slices.Compact(declared), slices.Compact(surfaced); !slices.Equal(declared, surfaced) {
			t.Errorf("%s: the tool surface declares %q, and the cases surface %q", u.Name, declared, surfaced)
		}
	}
}

// The example's pack is the documented one, byte for byte, but for the bound that keeps a
// refund within what its request declares.
func TestExamplePackIsTheDocumentedOne(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(example, "packs/support/pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../compiler/testdata/reference/context_pack_support_full.json")
	if err != nil {
		t.Fatal(err)
	}
	const bound = `,
                "arg_constraints": {
                  "amount_inr": {
                    "max": 3000,
                    "unless_approved": true
                  }
                }`
	if !bytes.Equal(bytes.Replace(got, []byte(bound), nil, 1), want) {
		t.Error("the example's pack differs from the documented one")
	}
}

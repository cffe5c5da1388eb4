package gates_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

const examplePack = "packs/support/pack.json"

// exampleFiles returns the files of the example repository that gating reads.
func exampleFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	tree, files := os.DirFS("../examples/acme-support"), fstest.MapFS{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "packs/finops") {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// judged puts the pack of a repository through the gates.
func judged(t *testing.T, files fstest.MapFS) (*gate.Subject, gates.Result) {
	t.Helper()
	all := repo.FilesOf(files, "", "").Under(context.Background())
	c, err := all.Config("")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := all.Environments(c)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := all.Unit(examplePack, c)
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSubject(unit, environments, c)
	return s, gates.Run(s, policy(t, "", false), gates.Outside{})
}

// damaged removes some layers and side files, and makes others unreadable. It returns
// what it did to the layers: they are gone, or hold no object.
func damaged(t *testing.T, r *rand.Rand, files fstest.MapFS) (layers []string) {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(files[examplePack].Data, &document); err != nil {
		t.Fatal(err)
	}
	for _, layer := range pack.Layers() {
		switch r.IntN(12) {
		case 0:
			delete(document, layer)
			layers = append(layers, layer)
		case 1:
			document[layer] = "none"
			layers = append(layers, layer)
		}
	}
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	files[examplePack] = &fstest.MapFile{Data: data}
	for _, name := range slices.Sorted(keys(files)) {
		beside := strings.HasPrefix(name, "packs/support/") && name != examplePack && strings.HasSuffix(name, ".json")
		if !beside {
			continue
		}
		switch r.IntN(6) {
		case 0, 1:
			delete(files, name)
		case 2:
			files[name] = &fstest.MapFile{Data: []byte("{")}
		}
	}
	return layers
}

func keys(files fstest.MapFS) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}
}

// Whatever is missing or cannot be read: a gate of which something could not run, or
// with a claim that is not proved, has not passed, and one whose layer is not there has
// not even run.
func TestNotRunIsNotPass(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	example := exampleFiles(t)
	if _, r := judged(t, example); slices.ContainsFunc(r.NotChecked, finding.NotChecked.CouldNotRun) {
		t.Errorf("of the example something could not run: %+v", r.NotChecked)
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		files := fstest.MapFS{}
		for name, f := range example {
			files[name] = f
		}
		layers := damaged(t, r, files)
		s, result := judged(t, files)
		for _, g := range result.Gates {
			checkStatus(t, seed, g, result)
			if slices.Contains(layers, g.Gate.Layer) && g.Status != finding.NotRun && g.Status != finding.Fail {
				t.Errorf("%d: %s is %s without %s", seed, g.Gate.ID, g.Status, g.Gate.Layer)
			}
			if slices.ContainsFunc(g.Gate.Reads, func(layer string) bool { return slices.Contains(layers, layer) }) && g.Status.Ran() {
				t.Errorf("%d: %s is %s and reads %q", seed, g.Gate.ID, g.Status, layers)
			}
		}
		for _, f := range s.Unit.Files {
			if id := map[string]string{"tool-surface": "replay", "case": "replay", "scorecard": "evaluation"}[f.Kind]; len(f.Faults) > 0 && id != "" && gateResult(t, result, id).Status.Ran() {
				t.Errorf("%d: %s cannot be read, and %s is %s", seed, f.Name, id, gateResult(t, result, id).Status)
			}
		}
	}
}

func checkStatus(t *testing.T, seed int, g gates.GateResult, r gates.Result) {
	t.Helper()
	open := slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Gate == g.Gate.ID && n.CouldNotRun() }) ||
		slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
			return f.Gate == g.Gate.ID && f.Rule == gate.NPR001.ID && f.Waived == nil
		})
	if open == g.Status.Ran() && g.Status != finding.Fail {
		t.Errorf("%d: %s is %s, with something open: %v", seed, g.Gate.ID, g.Status, open)
	}
}

// A file with most of the layers missing is not a pack: one error, and no gate but that
// which says so has run.
func TestNoPack(t *testing.T) {
	for _, src := range []string{`{}`, `{"openapi": "3.1.0", "paths": {}}`, `{"pack_meta": {}, "policy_layer": {}, "tooling_layer": {}, "contract_meta": {}}`} {
		r := run(t, subject([]byte(src)), policy(t, "", true))
		if len(r.Findings) != 1 || r.Findings[0].Rule != "SCH001" {
			t.Errorf("%s: %v", src, r.Findings)
		}
		wants(t, r, "schema", finding.Fail, 1, 0, "")
		for _, g := range r.Gates[1:] {
			wants(t, r, g.Gate.ID, finding.NotRun, 0, 0, "the file is not a Context Pack")
		}
	}
}

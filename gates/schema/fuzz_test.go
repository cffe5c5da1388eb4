package schema

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzBytes holds the laws over any bytes, from the documented pack and the
// documents of the cases.
func FuzzBytes(f *testing.F) {
	f.Add(gatetest.Support())
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases to begin with: %v", err)
	}
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == "pack.json" {
				f.Add(file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) { laws(t, src) })
}

// TestRandomEdits holds the laws over packs that are nearly the documented one:
// random values are removed, replaced and renamed.
func TestRandomEdits(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	seen := map[string]int{}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		src := gatetest.Support()
		for range 1 + r.IntN(6) {
			src = mutate(t, r, src)
		}
		for _, f := range laws(t, src) {
			seen[f.Rule]++
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, src)
		}
	}
	// A round that never breaks a rule would hold the laws over nothing.
	for _, r := range Gate.Rules {
		if r != SCH001 && r != SCH002 && r != SCH013 && r != SCH014 && seen[r.ID] == 0 {
			t.Errorf("no edit broke %s", r.ID)
		}
	}
}

// laws checks what holds for the findings of any document: they are the same
// each time, they lie within the document, and a fix fixes what it is for.
func laws(t *testing.T, src []byte) []finding.Finding {
	t.Helper()
	findings := check(src)
	if again := check(src); !reflect.DeepEqual(again, findings) {
		t.Errorf("two runs differ:\n%v\n%v", findings, again)
	}
	for _, f := range findings {
		start, end := f.Location.Start.Offset, f.Location.End.Offset
		if f.Message == "" || f.Location.File != "pack.json" || start > end || end > len(src) {
			t.Errorf("%s: no place or no words: %+v", f.Rule, f)
		}
		if f.Fix != nil {
			gatetest.Fixed(t, Gate, gatetest.Surroundings{}, src, f)
		}
	}
	return findings
}

// mutate makes one random edit in a pack.
func mutate(t *testing.T, r *rand.Rand, src []byte) []byte {
	t.Helper()
	doc := gatetest.Read("pack.json", src)
	if doc.Root == nil {
		return src
	}
	all := gatetest.Below(doc.Root)
	if len(all) == 0 {
		return src
	}
	// Small layers are to be hit as often as large ones.
	layer := doc.Root.Members[r.IntN(len(doc.Root.Members))].Value
	inLayer := append([]*pack.Node{layer}, gatetest.Below(layer)...)
	n := inLayer[r.IntN(len(inLayer))]
	path := n.Pointer()
	operations := []finding.Operation{{Op: "replace", Path: path, Value: randomValue(r, n, all)}}
	name, named := n.Name()
	switch k := r.IntN(4); {
	case k == 0:
		operations = []finding.Operation{{Op: "remove", Path: path}}
	case k == 1 && !named:
		operations = []finding.Operation{{Op: "add", Path: n.Parent.Pointer() + "/-", Value: n.Raw()}}
	case k == 1 && named && len(name) > 1:
		i := r.IntN(len(name) - 1)
		misspelled := name[:i] + name[i+1:]
		operations = []finding.Operation{
			{Op: "remove", Path: path},
			{Op: "add", Path: n.Parent.Pointer() + "/" + pack.EscapeSegment(misspelled), Value: n.Raw()},
		}
	}
	edited, err := pack.Edit(doc, operations)
	if err != nil {
		t.Fatalf("%v: %v", operations, err)
	}
	return edited
}

// randomValue returns a JSON value to take the place of n: an odd one, or one
// from elsewhere in the pack.
func randomValue(r *rand.Rand, n *pack.Node, all []*pack.Node) string {
	odd := []string{
		`null`, `true`, `"true"`, `""`, `"JsonLogic"`, `"internal"`, `-1`, `0`, `1.5`, `95`, `"7"`, `[]`, `{}`,
		`[null]`, `{"var": ""}`, `"24 hours"`, `"1.0"`, `{"min": 2, "max": 1}`, `"\u202e"`, `1e308`,
	}
	switch k := r.IntN(4); {
	case k == 0 && n.Kind == pack.String:
		return `" "`
	case k < 3:
		return odd[r.IntN(len(odd))]
	}
	return all[r.IntN(len(all))].Raw()
}

// BenchmarkGate runs all rules over the documented pack, as read.
func BenchmarkGate(b *testing.B) {
	src := gatetest.Support()
	for b.Loop() {
		check(src)
	}
}

package diffing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// bytesLimits bound a pack, so that comparing it several times takes about a tenth
// of a second. The largest example is within them.
var bytesLimits = pack.Limits{MaxBytes: 1 << 15, MaxDepth: 40, MaxValues: 2_000}

// packsSeeds adds the packs of the examples, and the support pack with what each
// case of the comparison changes of it.
func packsSeeds(f *testing.F) {
	f.Helper()
	examples, err := filepath.Glob(filepath.Join("..", "examples", "*", "packs", "*", "pack.json"))
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples to begin with (%v)", err)
	}
	for _, file := range examples {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if read(f, file, src) == nil || len(src) > bytesLimits.MaxBytes {
			f.Fatalf("%s has %d bytes, or is not a pack", file, len(src))
		}
		f.Add(gatetest.Support(), src)
	}
	cases, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txtar"))
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases to begin with (%v)", err)
	}
	edits := 0
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			if part.Name != "edit" {
				continue
			}
			if head, err := edittest.Apply(gatetest.Support(), string(part.Data)); err == nil {
				f.Add(gatetest.Support(), head)
				edits++
			}
		}
	}
	if edits == 0 {
		f.Fatal("no case edits the support pack")
	}
}

// FuzzBytes compares any two documents that are packs at all, and holds the laws of
// the comparison that need no valid pack.
func FuzzBytes(f *testing.F) {
	packsSeeds(f)
	f.Add([]byte(`{}`), []byte(`{"pack_meta": {"pack_version": "1.0.0"}, "tooling_layer": [], "x": {"": [[null]]}}`))
	f.Fuzz(func(t *testing.T, base, head []byte) {
		var packs []*pack.Pack
		for _, src := range [][]byte{base, head} {
			doc, faults := pack.Read("pack.json", src, bytesLimits)
			if len(faults) > 0 || pack.New(doc) == nil {
				return
			}
			packs = append(packs, pack.New(doc))
		}
		d, err := Compare(packs[0], packs[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Compare(packs[0], packs[1], nil)
		if err != nil || renderChanges(again) != renderChanges(d) {
			t.Errorf("one comparison says\n%s\nand another (%v)\n%s", renderChanges(d), err, renderChanges(again))
		}
		lawSame(t, head)
		lawPlaces(t, d)
		lawHighest(t, d)
		lawMirror(t, d, diff(t, head, base))
		lawProved(t, d)
	})
}

package repo

import (
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/pack"
	"github.com/rogpeppe/go-internal/txtar"
)

// mostFuzzed bounds a file, so that reading it several times takes well under a
// tenth of a second.
const mostFuzzed = 1 << 13

// configSeeds adds the configs of the examples, of the transcripts and of the tests
// beside this one.
func configSeeds(f *testing.F) {
	f.Helper()
	scripts, err := filepath.Glob(filepath.Join("..", "testdata", "script", "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, name := range scripts {
		script, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range script.Files {
			if path.Ext(file.Name) == ".yaml" {
				f.Add(string(file.Data))
				seeds++
			}
		}
	}
	examples, err := filepath.Glob(filepath.Join("..", "examples", "*", ConfigName))
	if err != nil || len(examples) == 0 || seeds == 0 {
		f.Fatalf("%d configs in examples and %d in transcripts (%v)", len(examples), seeds, err)
	}
	for _, name := range examples {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	for _, c := range configCases {
		f.Add(c.src)
	}
}

// FuzzConfig holds that a config is refused with words and a place in the file, or
// taken: then it is the same twice, it sets no limit beyond the largest, its
// patterns lead nowhere outside, and what is published goes to a named registry.
func FuzzConfig(f *testing.F) {
	configSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > mostFuzzed {
			return
		}
		c, err := ParseConfig(ConfigName, []byte(src))
		if err != nil {
			for _, p := range problems(t, err) {
				if l := p.Location; l.File != ConfigName || l.Start.Offset > l.End.Offset || l.End.Offset > len(src) {
					t.Errorf("%q: a problem at %+v", src, l)
				}
			}
			return
		}
		again, err := ParseConfig(ConfigName, []byte(src))
		if err != nil || !reflect.DeepEqual(again.Document.Root.Any(), c.Document.Root.Any()) || again.Limits != c.Limits {
			t.Errorf("%q: read once and then differently (%v)", src, err)
		}
		if l, most := c.Limits, pack.DefaultLimits(); l.MaxBytes < 1 || l.MaxBytes > most.MaxBytes || l.MaxDepth < 1 || l.MaxDepth > most.MaxDepth || l.MaxValues < 1 || l.MaxValues > most.MaxValues {
			t.Errorf("%q: limits %+v", src, l)
		}
		for _, item := range slices.Concat(c.Packs.Items, c.Environments.Items) {
			if p := item.Value; p == "" || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), "..") {
				t.Errorf("%q: the pattern %q is taken", src, p)
			}
			if _, err := FilesOf(fstest.MapFS{}, "", "").Find(c, item.Value); err != nil {
				t.Errorf("%q: the pattern %q is taken and cannot be used: %v", src, item.Value, err)
			}
		}
	})
}

// sideSeeds adds every file of the examples that is beside a pack.
func sideSeeds(f *testing.F) {
	f.Helper()
	seen := map[string]bool{}
	for _, k := range sideKinds {
		files, err := filepath.Glob(filepath.Join("..", "examples", "*", "packs", "*", filepath.FromSlash(k.pattern)))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			seen[k.kind] = true
			f.Add(src, src[:len(src)/2])
			f.Add(src, src)
		}
	}
	if !seen["case"] || !seen["overlay"] || !seen["scorecard"] || !seen["replay-packet"] {
		f.Fatalf("of the side files the examples have only %v", seen)
	}
	f.Add([]byte(`{"overlay_id": "a", "base": "ctxpack.a@1.0.0", "order": 1e300, "set": [{"path": "/x"}, 7]}`), []byte(`{"set": {}}`))
}

// FuzzSideFiles puts two files in the place of each kind that is beside a pack,
// and holds: reading them is no error, whatever they say; each one that is an object
// is told of by its kind; what is wrong has words and a place in its file.
func FuzzSideFiles(f *testing.F) {
	sideSeeds(f)
	const packSource = `{"pack_meta": {"pack_id": "ctxpack.a", "pack_version": "1.0.0"}}`
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 2*mostFuzzed {
			return
		}
		tree := fstest.MapFS{"p/pack.json": {Data: []byte(packSource)}}
		for _, k := range sideKinds {
			for prefix, src := range map[string][]byte{"a": a, "b": b} {
				tree["p/"+strings.Replace(k.pattern, "*", prefix, 1)] = &fstest.MapFile{Data: src}
			}
		}
		u, err := FilesOf(tree, "", "").Unit("p/pack.json", DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		if want := len(tree) - 3; len(u.Files) != want { // the pack and two signatures
			t.Errorf("%d files stand beside the pack, wanted %d", len(u.Files), want)
		}
		for _, s := range u.Scorecards {
			if s.Signature == nil || s.Signature.Name != SignatureName(s.Name) {
				t.Errorf("the signature of %s is %+v", s.Name, s.Signature)
			}
		}
		objects := map[string]int{}
		for _, s := range u.Files {
			if root := s.Document.Root; root != nil && root.Kind == pack.Object {
				objects[s.Kind]++
			}
			for _, fault := range s.Faults {
				if l := fault.Location; fault.Message == "" || l.File != s.Name || l.Start.Offset > l.End.Offset || l.End.Offset > len(s.Document.Source) {
					t.Errorf("%s: %q at %+v", s.Name, fault.Message, l)
				}
			}
		}
		for kind, got := range map[string]int{
			"case": len(u.Cases), "overlay": len(u.Overlays), "scorecard": len(u.Scorecards),
			"replay-packet": len(u.Packets), "decision-record": len(u.Records), "replay-meta": len(u.Metas),
		} {
			if got != objects[kind] {
				t.Errorf("%d of the kind %s, and %d could be read", got, kind, objects[kind])
			}
		}
		settingsStand(t, u)
	})
}

// settingsStand holds that what is read of an overlay is in its file.
func settingsStand(t *testing.T, u *Unit) {
	t.Helper()
	for _, o := range u.Overlays {
		for i, s := range o.Set.Items {
			at := o.Document.Root.Get("set")
			if at == nil || len(at.Items) != len(o.Set.Items) || s.Node != at.Items[i] || s.Value != s.Node.Get("value") {
				t.Errorf("%s: setting %d is read as %+v", o.Name, i, s)
			}
		}
	}
}

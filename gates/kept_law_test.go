package gates_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

// writing is somebody who edits a copy of the example repository at random, so that it can
// always be opened.
type writing struct {
	*testing.T
	*rand.Rand
	dir    string
	before map[string][]byte // every text that a file had, by name, for taking back
}

const ofSupport = "packs/support/"

func (w *writing) file(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *writing) read(name string) []byte {
	src, err := os.ReadFile(w.file(name))
	if err != nil {
		w.Fatal(err)
	}
	return src
}

func (w *writing) write(name string, src []byte) {
	if err := os.WriteFile(w.file(name), src, 0o644); err != nil {
		w.Fatal(err)
	}
}

// files returns the files of the pack below a folder.
func (w *writing) files(pattern string) []string {
	names, err := fs.Glob(os.DirFS(w.dir), ofSupport+pattern)
	if err != nil || len(names) == 0 {
		return nil
	}
	return names
}

// value puts another value in the place of one, or takes it away.
func (w *writing) value(name, below string) {
	doc := gatetest.Read(name, w.read(name))
	if doc.Root == nil {
		return
	}
	at := doc.Root
	if layer := doc.Root.Get(below); layer != nil {
		at = layer
	}
	values := gatetest.Below(at)
	value := values[w.IntN(len(values))]
	operation := finding.Operation{Op: "replace", Path: value.Pointer()}
	switch odd := []string{`"x"`, `7`, `true`, `[]`, `"destructive"`, `"internal://payments"`, `4000`, `{"var": "a"}`, ``}; {
	case value.Kind == pack.Number && w.IntN(2) == 0:
		operation.Value = fmt.Sprint(value.Number * 2)
	default:
		if operation.Value = odd[w.IntN(len(odd))]; operation.Value == "" {
			operation.Op = "remove"
		}
	}
	if src, err := pack.Edit(doc, []finding.Operation{operation}); err == nil {
		w.write(name, src)
	}
}

// step makes one edit, and says which.
func (w *writing) step() string {
	const packFile, catalog, config = ofSupport + "pack.json", "environments/prod.json", ".packgate.yaml"
	layers := []string{"pack_meta", "business_context", "policy_layer", "tooling_layer", "decision_layer", "memory_layer", "evaluation_layer", "tone_and_comms"}
	beside := slices.Concat(w.files("golden/*.json"), w.files("overlays/*.json"), w.files("scorecards/*.json"), w.files("replay/*.json"))
	one := beside[w.IntN(len(beside))]
	switch w.IntN(10) {
	case 0, 1, 2:
		layer := layers[w.IntN(len(layers))]
		w.value(packFile, layer)
		return "a value of " + layer
	case 3:
		w.write(packFile, []byte(strings.Replace(string(w.read(packFile)), "{", "{\n", 1)))
		return "a line"
	case 4:
		w.value(one, "")
		return "a value of " + one
	case 5:
		w.before[one] = w.read(one)
		if err := os.Remove(w.file(one)); err != nil {
			w.Fatal(err)
		}
		return "no " + one
	case 6:
		to := strings.Replace(one, ".", fmt.Sprint("-", w.IntN(100), "."), 1)
		if err := os.Rename(w.file(one), w.file(to)); err != nil {
			w.Fatal(err)
		}
		return one + " is " + to
	case 7:
		w.write(catalog, []byte(strings.Replace(string(w.read(catalog)), `"finance_lead"`, []string{`"finance_lead", "x"`, `"lead"`}[w.IntN(2)], 1)))
		return "a catalog"
	case 8:
		w.write(config, append(w.read(config), []byte("# "+fmt.Sprint(w.IntN(100))+"\n")...))
		return "the config"
	}
	for _, name := range append(beside, packFile) {
		if src := w.before[name]; src != nil {
			w.write(name, src)
		}
	}
	return "all as it was"
}

// words writes what a run says, one thing a line.
func words(r gates.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	for _, n := range r.NotChecked {
		fmt.Fprintf(&b, "%+v\n", n)
	}
	return b.String()
}

// Over any sequence of edits, of values, layers, files beside the pack, catalogs and the
// config, a run that keeps what did not change says what a run says that knows nothing, and
// one that was ended changes nothing of that.
func TestKeptIsWhatIsFound(t *testing.T) {
	seeds, steps := uint64(2), 12
	for seed := range seeds {
		w := &writing{t, rand.New(rand.NewPCG(seed, 19)), t.TempDir(), map[string][]byte{}}
		if err := os.CopyFS(w.dir, os.DirFS("../examples/acme-support")); err != nil {
			t.Fatal(err)
		}
		for _, name := range append(w.files("*/*.json"), w.files("pack.json")...) {
			w.before[name] = w.read(name)
		}
		judged, kept := policy(t, "", seed == 1), &gate.Kept{}
		var done []string
		for range steps {
			done = append(done, w.step())
			want := gates.Run(gatetest.Open(t, w.dir, "support"), judged, gates.Outside{})
			if w.IntN(4) == 0 {
				ended, end := context.WithCancelCause(t.Context())
				why := errors.New("the next edit")
				end(why)
				if _, err := gates.RunUntil(ended, gatetest.Open(t, w.dir, "support").Keep(kept), judged, gates.Outside{}); !errors.Is(err, why) {
					t.Errorf("a run that was ended says %v", err)
				}
			}
			got, err := gates.RunUntil(t.Context(), gatetest.Open(t, w.dir, "support").Keep(kept), judged, gates.Outside{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("after %q a run that keeps what it knows says\n%s\nand one that knows nothing\n%s", done, words(got), words(want))
			}
		}
		if kept.Answers() < steps {
			t.Errorf("only %d answers were used again", kept.Answers())
		}
	}
}

// That no golden case raises a gate any more is said as by a run that knows nothing, and that one does
// again too: RSK006 is silent where RSK002 speaks.
func TestKeptSeesTheCasesThatRaiseGates(t *testing.T) {
	w := &writing{t, nil, t.TempDir(), nil}
	if err := os.CopyFS(w.dir, os.DirFS("../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
	kept, judged, seen := &gate.Kept{}, policy(t, "", false), map[string]int{}
	look := func() {
		want := gates.Run(gatetest.Open(t, w.dir, "support"), judged, gates.Outside{})
		got, err := gates.RunUntil(t.Context(), gatetest.Open(t, w.dir, "support").Keep(kept), judged, gates.Outside{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("a run that keeps what it knows says (%v)\n%s\nand one that knows nothing\n%s", err, words(got), words(want))
		}
		for _, f := range want.Findings {
			seen[f.Rule]++
		}
	}
	look()
	raises := ofSupport + "golden/refund-high-value.case.json"
	src := w.read(raises)
	for _, name := range w.files("golden/*.case.json") {
		if strings.Contains(name, "read-only") {
			continue
		}
		if err := os.Remove(w.file(name)); err != nil {
			t.Fatal(err)
		}
	}
	look()
	w.write(raises, src)
	look()
	if seen["RSK006"] != 2 || seen["RSK002"] != 1 {
		t.Errorf("the rules that were heard are %v", seen)
	}
}

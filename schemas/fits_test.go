package schemas

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// fitting returns the documents that fit schemas, and those that do not.
func fitting(t testing.TB) (texts [][]byte) {
	for _, folder := range []string{"contract", "good", "bad"} {
		names, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
	if len(texts) < 20 {
		t.Fatalf("there are only %d documents", len(texts))
	}
	return texts
}

func nodeOf(text []byte) *pack.Node {
	doc, _ := pack.Read("x.json", text, pack.DefaultLimits())
	return doc.Root
}

// agrees holds the answer for a value against the validator, and returns it.
func agrees(t *testing.T, name string, n *pack.Node) answer {
	t.Helper()
	f, err := shared().entries[name].fits()
	if err != nil {
		t.Fatal(err)
	}
	want, err := Validate(name, n.Any())
	if err != nil {
		t.Fatal(err)
	}
	is := f.of(n, 0)
	if is != unsure && (is == yes) != (len(want) == 0) {
		t.Fatalf("%s: the answer for %.2000s is %d, and the validator finds %+v", name, n.Raw(), is, want)
	}
	if got, err := ValidateNode(name, n); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %+v (%v), wanted %+v", name, got, err, want)
	}
	return is
}

// Of any document and schema, what is answered without the validator is what it says: of
// documents that fit, of others, with values changed, members removed, added and written twice.
func TestFitsAsTheValidatorSays(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	odd := []string{"null", "true", "0", "-1", "1.5", "1e300", "1.0", "9007199254740993", `""`, `"x"`, `"read_only"`, `"2026-01-01T00:00:00Z"`, `"1.0.0"`, "[]", "[1]", "{}", `{"x": 1}`, `{"var": "a"}`}
	runs, count := 40, map[answer]int{}
	if testing.Short() {
		runs = 4
	}
	for _, text := range fitting(t) {
		for run := range runs {
			changed := string(text)
			for range r.IntN(3) * min(run, 1) {
				doc, _ := pack.Read("x.json", []byte(changed), pack.DefaultLimits())
				if doc.Root == nil {
					break
				}
				all := below(doc.Root)
				n := all[r.IntN(len(all))]
				switch end := n.End; {
				case n.Kind == pack.Object && r.IntN(3) == 0 && len(n.Members) > 0: // a member once more
					m := n.Members[r.IntN(len(n.Members))]
					changed = fmt.Sprintf("%s, %q: %s%s", changed[:end-1], m.Name, odd[r.IntN(len(odd))], changed[end-1:])
				case n.Kind == pack.Object && r.IntN(3) == 0 && len(n.Members) > 0: // an unknown one
					changed = changed[:end-1] + `, "unknown": 1` + changed[end-1:]
				case n.Parent != nil && n.Parent.Kind == pack.Object && r.IntN(3) == 0: // another name
					m := n.Parent.Members[n.Index]
					changed = changed[:m.Start] + `"renamed"` + changed[m.End:]
				default:
					changed = changed[:n.Start] + odd[r.IntN(len(odd))] + changed[end:]
				}
			}
			n := nodeOf([]byte(changed))
			if n == nil {
				continue
			}
			for _, name := range Names() {
				if run < 2 || r.IntN(len(Names())) < 3 {
					count[agrees(t, name, n)]++
				}
			}
		}
	}
	if count[yes] < 30 || count[no] < 100 {
		t.Errorf("the answers were %v: the law was not tried", count)
	}
}

func below(n *pack.Node) []*pack.Node {
	all := []*pack.Node{n}
	for i := range n.Members {
		all = append(all, below(n.Members[i].Value)...)
	}
	for _, item := range n.Items {
		all = append(all, below(item)...)
	}
	return all
}

// All that the schemas of the files of a pack ask is understood without the validator.
func TestFitsUnderstands(t *testing.T) {
	var open []string
	for _, name := range Names() {
		if f, err := shared().entries[name].fits(); err != nil || f.unsure {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		t.Errorf("the root of %q asks what is not understood", open)
	}
	for _, path := range []string{"pack.json:context-pack", "golden/*.json:case", "overlays/*.json:overlay", "scorecards/*.json:scorecard", "tool-surface.json:tool-surface", "replay/*.packet.json:replay-packet", "replay/*.record.json:decision-record"} {
		pattern, name, _ := strings.Cut(path, ":")
		files, err := filepath.Glob(filepath.Join("../examples/acme-support/packs/support", filepath.FromSlash(pattern)))
		files = slices.DeleteFunc(files, func(f string) bool {
			return strings.HasSuffix(f, ".compiled.json") || strings.HasSuffix(f, ".sigstore.json")
		})
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", path, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if is := agrees(t, name, nodeOf(text)); is != yes {
				t.Errorf("%s: the answer is %d, wanted that it fits", file, is)
			}
		}
	}
}

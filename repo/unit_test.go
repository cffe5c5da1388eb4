package repo

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// about is a golden case that names packs.
func about(name string, refs ...string) string {
	return `{"case": "` + name + `", "invoke": {"context_pack_refs": ["` + strings.Join(refs, `", "`) + `"]}}`
}

func unit(t *testing.T, f *Files, name string) *Unit {
	t.Helper()
	u, err := f.Unit(name, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// listed writes the side files of a unit with their kinds.
func listed(u *Unit) []string {
	var out []string
	for _, s := range u.Files {
		out = append(out, s.Kind+" "+s.Name)
	}
	return out
}

func caseNames(u *Unit) []string {
	var out []string
	for _, c := range u.Cases {
		out = append(out, c.Case.Value)
	}
	return out
}

func TestUnit(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"p/pack.json":              `{"pack_meta": {"pack_id": "ctxpack.a"}}`,
		"p/golden/b.case.json":     about("b", "ctxpack.a@1.0.0"),
		"p/golden/a.case.json":     `{"case": "a", "family": 7, "evidence": [{"evidence_ref": "kg:x", "priority": 3}], "expect": {"outcome": "refused", "tools": []}}`,
		"p/golden/a.compiled.json": "{}\n",
		"p/golden/c.compiled.json": "{}\n", "p/golden/notes.md": "x", "p/golden/deep/d.case.json": "{}", "p/golden/e.case.json/x": "",
		"p/overlays/staging.json": "{}", "p/scorecards/one.json": "{}", "p/tool-surface.json": "{}",
		"p/replay/RP_1.packet.json": "{}", "p/replay/RP_1.record.json": "{}", "p/replay/RP_1.meta.json": "{}", "p/replay/other.json": "{}",
		"p/sub/overlays/x.json": "{}", "tool-surface.json": "{}", "golden/root.case.json": "{}",
	})
	u := unit(t, f, "p/pack.json")
	want := []string{
		"case p/golden/a.case.json", "case p/golden/b.case.json", "overlay p/overlays/staging.json", "scorecard p/scorecards/one.json",
		"replay-packet p/replay/RP_1.packet.json", "decision-record p/replay/RP_1.record.json", "replay-meta p/replay/RP_1.meta.json",
		"tool-surface p/tool-surface.json",
	}
	if got := listed(u); !slices.Equal(got, want) {
		t.Errorf("side files %q, want %q", got, want)
	}
	for _, s := range u.Files {
		if s.Document.File != "repo/"+s.Name || !Belongs(u.Name, s.Name) {
			t.Errorf("%s is shown as %s", s.Name, s.Document.File)
		}
	}
	if u.Dir() != "p" || u.Pack.PackMeta.PackID.Value != "ctxpack.a" || len(u.Faults) > 0 || !slices.Equal(caseNames(u), []string{"a", "b"}) {
		t.Fatalf("the unit is %+v with cases %q", u, caseNames(u))
	}
	a, b := u.Cases[0], u.Cases[1]
	if a.Family.OK || a.Evidence.Items[0].EvidenceRef.Value != "kg:x" || a.Evidence.Items[0].Priority.Value != 3 ||
		a.Expect.Outcome.Value != "refused" || !a.Expect.Tools.OK || a.Expect.Gates.Node != nil {
		t.Errorf("the case is read as %+v", a)
	}
	if want := (&Snapshot{Name: "p/golden/a.compiled.json", File: "repo/p/golden/a.compiled.json", Source: []byte("{}\n")}); !reflect.DeepEqual(a.Snapshot, want) || b.Snapshot != nil {
		t.Errorf("the snapshots are %+v and %+v", a.Snapshot, b.Snapshot)
	}

	root := unit(t, f, "p/pack.json")
	if !reflect.DeepEqual(listed(root), listed(u)) {
		t.Error("a second reading differs")
	}
}

// A pack at the root has its files at the root, and a folder's name is no pattern.
func TestUnitPlaces(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"pack.json": "{}", "golden/a.case.json": "{}", "p/golden/b.case.json": "{}",
		"x[1]{2}*?/pack.json": "{}", "x[1]{2}*?/golden/c.case.json": "{}", "x1/golden/d.case.json": "{}",
		".hidden/pack.json": "{}", ".hidden/golden/e.case.json": "{}",
	})
	for name, want := range map[string]string{
		"pack.json": "golden/a.case.json", "x[1]{2}*?/pack.json": "x[1]{2}*?/golden/c.case.json", ".hidden/pack.json": ".hidden/golden/e.case.json",
	} {
		if got := listed(unit(t, f, name)); !slices.Equal(got, []string{"case " + want}) {
			t.Errorf("%s has %q", name, got)
		}
	}
}

// What is broken inside a file is in its Faults; nothing else suffers.
func TestBrokenUnit(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"p/pack.json": `{"a": 1, "a": 2}`, "p/golden/a.case.json": `{"case": "a",`, "p/golden/b.case.json": `[]`,
		"p/golden/c.case.json": `{"case": "c", "case": "d"}`, "p/golden/a.compiled.json": "{", "p/overlays/o.json": "",
		"q/pack.json": `{`, "q/golden/a.case.json": `{"case": "a"}`, "r/pack.json": `[1]`,
	})
	u := unit(t, f, "p/pack.json")
	if u.Pack == nil || len(u.Faults) != 1 || u.Faults[0].Kind != pack.Duplicate {
		t.Errorf("a pack with a name twice: %+v", u.Faults)
	}
	if !slices.Equal(caseNames(u), []string{"d"}) || len(u.Files) != 4 {
		t.Errorf("cases %q, files %q", caseNames(u), listed(u))
	}
	for i, want := range []int{1, 0, 1, 1} {
		if len(u.Files[i].Faults) != want {
			t.Errorf("%s has the faults %v", u.Files[i].Name, u.Files[i].Faults)
		}
	}
	if u := unit(t, f, "q/pack.json"); u.Pack != nil || len(u.Faults) != 1 || u.Document.Root != nil || len(u.Cases) != 1 {
		t.Errorf("a pack that is no JSON: %+v", u)
	}
	if u := unit(t, f, "r/pack.json"); u.Pack != nil || len(u.Faults) != 0 || u.Document.Root == nil {
		t.Errorf("a pack that is not an object: %+v", u)
	}
}

// Where packs share a folder, a case belongs to the packs that it names. One
// that names none of them is everybody's, so that somebody reports it.
func TestSharedFolder(t *testing.T) {
	files := map[string]string{
		"p/pack.json":                 `{"pack_meta": {"pack_id": "ctxpack.a"}}`,
		"p/b.pack.json":               `{"pack_meta": {"pack_id": "ctxpack.b"}}`,
		"p/broken.pack.json":          `{`,
		"p/nameless.pack.json":        `{"pack_meta": {"pack_id": 7}}`,
		"p/other.json":                `{"pack_meta": {"pack_id": "ctxpack.other"}}`,
		"p/golden/1-a.case.json":      about("of a", "ctxpack.a@1.0.0"),
		"p/golden/2-b.case.json":      about("of b", "decisions.x@1.0.0", "ctxpack.b@2.0.0"),
		"p/golden/3-both.case.json":   about("of both", "ctxpack.b@1.0.0", "ctxpack.a@1.0.0"),
		"p/golden/4-other.case.json":  about("of another", "ctxpack.other@1.0.0"),
		"p/golden/5-none.case.json":   `{"case": "of none"}`,
		"p/golden/6-broken.case.json": `{`,
		"p/golden/2-b.compiled.json":  `{}`,
		"p/overlays/o.json":           `{}`,
	}
	f, _ := tree(t, files)
	shared := []string{"of another", "of none"}
	for name, own := range map[string][]string{
		"p/pack.json": {"of a", "of both"}, "p/b.pack.json": {"of b", "of both"}, "p/broken.pack.json": nil, "p/nameless.pack.json": nil,
	} {
		u := unit(t, f, name)
		if got, want := caseNames(u), slices.Concat(own, shared); !slices.Equal(got, want) {
			t.Errorf("%s has the cases %q, want %q", name, got, want)
		}
		if len(u.Files) != len(u.Cases)+2 {
			t.Errorf("%s has the files %q", name, listed(u))
		}
	}

	// The config may name other files as packs.
	c, err := ParseConfig(ConfigName, []byte("packs: ['p/{pack,other}.json']"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := f.Unit("p/pack.json", c)
	if want := []string{"of a", "of b", "of both", "of none"}; err != nil || !slices.Equal(caseNames(u), want) {
		t.Errorf("with a config: %q, %v, want %q", caseNames(u), err, want)
	}
	delete(files, "p/b.pack.json")
	delete(files, "p/nameless.pack.json")
	alone, _ := tree(t, files)
	if got := unit(t, alone, "p/pack.json").Cases; len(got) != 5 {
		t.Errorf("alone in its folder, the pack has %d cases", len(got))
	}
}

// Side files that are no files end the reading with their name.
func TestUnitRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"p/pack.json":              "repo/p/pack.json: this symbolic link points to nothing",
		"p/other.pack.json":        "repo/p/other.pack.json: this symbolic link points to nothing",
		"p/golden/a.case.json":     "repo/p/golden/a.case.json: this symbolic link points to nothing",
		"p/golden/b.compiled.json": "repo/p/golden/b.compiled.json: this symbolic link points to nothing",
		"p/tool-surface.json":      "repo/p/tool-surface.json: this symbolic link points to nothing",
	} {
		f, dir := tree(t, map[string]string{"p/golden/b.case.json": "{}", "p/x": ""})
		if name != "p/pack.json" {
			if err := os.WriteFile(filepath.Join(dir, "p/pack.json"), []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		_, err := f.Unit("p/pack.json", DefaultConfig())
		if err == nil {
			t.Errorf("%s is read", name)
		} else if got := show(t, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestLargeSideFiles(t *testing.T) {
	f, _ := tree(t, map[string]string{"pack.json": "{}", "golden/a.case.json": `{"case": "a"}`, "overlays/o.json": `{"a": "0123456789"}`})
	c := DefaultConfig()
	c.Limits.MaxBytes = 13
	u, err := f.Unit("pack.json", c)
	if err != nil || len(u.Cases) != 1 || len(u.Files[1].Faults) != 1 || u.Files[1].Faults[0].Kind != pack.Limit {
		t.Errorf("%+v, %v", u, err)
	}
	f, _ = tree(t, map[string]string{"pack.json": "{}", "golden/a.case.json": `{"case": "a"}`, "golden/a.compiled.json": `{"a": "0123456789"}`})
	_, err = f.Unit("pack.json", c)
	if got := show(t, err); !strings.HasPrefix(got, "repo/golden/a.compiled.json: the snapshot has 19 bytes, more than the limit of 13\n") {
		t.Error(got)
	}
}

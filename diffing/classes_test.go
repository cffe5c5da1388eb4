package diffing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// A case is a txtar archive: a sentence, a script "base" that makes the base of
// the documented support pack (without it, the pack itself), a script "edit"
// that makes the head of the base, and what is wanted. The head's pack_version
// is 2.0.0 where the script sets none. UPDATE=1 rewrites "want".

// TestClasses runs the case of every row of the class table, which has the
// row's name.
func TestClasses(t *testing.T) {
	known := map[string]bool{}
	for _, r := range Table() {
		known[r.ID+".txtar"] = true
		t.Run(r.ID, func(t *testing.T) {
			d := runCase(t, filepath.Join("testdata", "classes", r.ID+".txtar"), renderChanges)
			if r.ID == "any.formatting" {
				if d.Class != None || len(d.Changes()) > 0 {
					t.Error("formatting is a change")
				}
				return
			}
			for _, c := range d.Changes() {
				if c.Row == r.ID {
					if class, decided := decidedBy(c); r.Proved && decided {
						if c.Class != class || c.NeedsHumanClass {
							t.Errorf("the change does not have the class of its proof: %+v", c)
						}
						return
					}
					if r.Proved && c.Class == r.Class && strings.Contains(c.Reason, "not proved: ") {
						return
					}
					if c.Class != r.Class || c.NeedsHumanClass != r.Human || c.Reason != r.Reason {
						t.Errorf("the change does not have the class of its row: %+v", c)
					}
					return
				}
			}
			t.Errorf("no change of the case is of row %s", r.ID)
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "classes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is the case of no row", f.Name())
		}
	}
}

func decidedBy(c Change) (Class, bool) {
	if c.Proof == nil {
		return None, false
	}
	return c.Proof.class()
}

// TestUnproved runs the cases of all rows that a proof goes before, with a
// condition in the base that is not valid: then nothing is proved, and the class is
// that of the row.
func TestUnproved(t *testing.T) {
	for _, r := range Table() {
		if !r.Proved {
			continue
		}
		archive, err := txtar.ParseFile(filepath.Join("testdata", "classes", r.ID+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		scripts := map[string]string{}
		for _, f := range archive.Files {
			scripts[f.Name] = string(f.Data)
		}
		base := edit(t, gatetest.Support(), scripts["base"]+`
add /policy_layer/policy_bundles/- {"bundle_id": "BROKEN", "priority": 1, "policy_dsl": {"language": "jsonlogic", "rules": [{"rule_id": "R_BROKEN", "applies_to": {"intent": "broken"}, "if": {"nope": 1}, "then": {"allow": false}}]}}`)
		d := diff(t, base, withVersion(t, edit(t, base, scripts["edit"]), "2.0.0"))
		found := false
		for _, c := range d.Changes() {
			found = found || c.Row == r.ID
			if c.Row == r.ID && (c.Class != r.Class || c.NeedsHumanClass != r.Human || !strings.Contains(c.Reason, "not proved: the base pack cannot be compiled: if of rule \"R_BROKEN\"")) {
				t.Errorf("%s: %s, %s", r.ID, c.Class, c.Reason)
			}
		}
		if !found || d.Effect != proof.Undecided {
			t.Errorf("%s: no such change, or something is proved", r.ID)
		}
	}
}

// TestCases runs further cases of what differs and what class it has.
func TestCases(t *testing.T) { runFolder(t, "cases", renderChanges) }

// TestProofs runs the cases of what is proved: changes that are judged by what the
// packs permit, and not by how they look.
func TestProofs(t *testing.T) { runFolder(t, "proofs", renderProofs) }

// TestFindings runs the cases of the version check.
func TestFindings(t *testing.T) { runFolder(t, "findings", renderFindings) }

func runFolder(t *testing.T, name string, render func(*Diff) string) {
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", name, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runCase(t, file, render) })
	}
}

func runCase(t *testing.T, file string, render func(*Diff) string) *Diff {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("the case does not say what it is about")
	}
	scripts := map[string]string{}
	for _, f := range archive.Files {
		scripts[f.Name] = string(f.Data)
	}
	base := edit(t, gatetest.Support(), scripts["base"])
	script := scripts["edit"]
	if !strings.Contains(script, versionPath) {
		script += "\nreplace " + versionPath + ` "2.0.0"`
	}
	d, err := Compare(read(t, "base.json", base), read(t, "head.json", edit(t, base, script)), nil)
	if err != nil {
		t.Fatal(err)
	}
	casefile.Want(t, file, archive, render(d))
	return d
}

func edit(t testing.TB, src []byte, script string) []byte {
	t.Helper()
	out, err := edittest.Apply(src, script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, file string, src []byte) *pack.Pack {
	t.Helper()
	doc, faults := pack.Read(file, src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return pack.New(doc)
}

func renderChanges(d *Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", d.Class)
	for _, c := range d.Changes() {
		star := ""
		if c.NeedsHumanClass {
			star = "★"
		}
		fmt.Fprintf(&b, "%s%s %s %s\n  %s: %s\n", c.Class, star, c.Kind, c.Path, c.Row, c.Reason)
	}
	return b.String()
}

// renderProofs is renderChanges with the requests that show what is proved.
func renderProofs(d *Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, effect %s\n", d.Class, d.Effect)
	for _, c := range d.Changes() {
		star := ""
		if c.NeedsHumanClass {
			star = "★"
		}
		fmt.Fprintf(&b, "%s%s %s %s\n  %s: %s\n", c.Class, star, c.Kind, c.Path, c.Row, c.Reason)
		if c.Proof == nil {
			continue
		}
		for _, shown := range []struct {
			word, what string
			request    map[string]any
		}{{"gained", c.Proof.GainedWhat, c.Proof.Gained}, {"lost", c.Proof.LostWhat, c.Proof.Lost}} {
			if shown.request != nil {
				fmt.Fprintf(&b, "  %s: %s: %s\n", shown.word, shown.what, pack.CompactJSON(shown.request))
			}
		}
	}
	return b.String()
}

func renderFindings(d *Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, declared %s, required %q\n", d.Class, d.Declared, d.Required)
	for _, f := range d.Findings() {
		fmt.Fprintf(&b, "%s %s %s: %s\n", f.Severity, f.Rule, f.Location.Path, f.Message)
		if f.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", f.Hint)
		}
		for _, r := range f.Related {
			fmt.Fprintf(&b, "  see: %s %s: %s\n", r.Location.File, r.Location.Path, r.Message)
		}
		if f.Fix != nil {
			fmt.Fprintf(&b, "  fix: %s\n", f.Fix.Description)
			for _, op := range f.Fix.Operations {
				fmt.Fprintf(&b, "    %s %s %s\n", op.Op, op.Path, op.Value)
			}
		}
	}
	return b.String()
}

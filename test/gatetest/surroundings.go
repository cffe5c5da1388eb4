package gatetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/edittest"
)

// Names of the files of a subject that is made in memory.
const (
	PackFile        = "pack.json"
	environmentFile = "environments/prod.json"
	CaseFile        = "golden/a.case.json"
)

// Surroundings are what is beside a pack that is made in memory: the catalog
// of an environment and a golden case. Where one is empty, there is none.
type Surroundings struct{ Catalog, Case string }

// Read reads a document, as deep as a config may allow, and more. What cannot be
// read has no root.
func Read(name string, src []byte) *pack.Document {
	d, _ := read(name, src)
	return d
}

func read(name string, src []byte) (*pack.Document, []pack.Fault) {
	limits := pack.DefaultLimits()
	limits.MaxDepth = 1000
	return pack.Read(name, src, limits)
}

// Subject returns what the rules see of a pack in its surroundings. Its Pack is
// nil where the pack could not be read as an object.
func (s Surroundings) Subject(src []byte) *gate.Subject {
	unit := &repo.Unit{Name: PackFile}
	unit.Use(read(PackFile, src))
	var environments []*repo.Environment
	if s.Catalog != "" {
		e := &repo.Environment{Document: Read(environmentFile, []byte(s.Catalog))}
		if e.Document.Root != nil {
			pack.Decode(e.Document.Root, e)
		}
		environments = append(environments, e)
	}
	if s.Case != "" {
		doc, faults := read(CaseFile, []byte(s.Case))
		c := &repo.Case{SideFile: &repo.SideFile{Kind: "case", Name: CaseFile, Document: doc, Faults: faults}}
		unit.Files = append(unit.Files, c.SideFile)
		if c.Document.Root != nil {
			c.Faults = append(c.Faults, pack.Decode(c.Document.Root, c)...)
			unit.Cases = append(unit.Cases, c)
		}
	}
	return gate.NewSubject(unit, environments, repo.DefaultConfig())
}

// Example returns the support pack of the example repository, as packgate reads it.
func Example(t testing.TB) *gate.Subject {
	t.Helper()
	return Open(t, examples(t), "support")
}

// ExampleIn returns the support pack of a copy of the example repository that change
// has altered, as packgate reads it. Change is given the folder of the copy.
func ExampleIn(t testing.TB, change func(dir string)) *gate.Subject {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(examples(t))); err != nil {
		t.Fatal(err)
	}
	change(dir)
	return Open(t, dir, "support")
}

// ExampleEdited returns a pack of the example repository, by the name of its
// folder, as it stands there, and what an edit script makes of it.
func ExampleEdited(t testing.TB, name, script string) (base *pack.Pack, head *gate.Subject) {
	t.Helper()
	s := Open(t, examples(t), name)
	out, err := edittest.Apply(s.Unit.Document.Source, script)
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	unit := *s.Unit
	unit.Use(read(unit.Document.File, out))
	return s.Pack, gate.NewSubject(&unit, s.Environments, s.Config)
}

// examples returns the example repository, from wherever in the module a test runs.
func examples(t testing.TB) string {
	t.Helper()
	for up := "."; ; up = filepath.Join("..", up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return filepath.Join(up, "examples", "acme-support")
		}
		if len(up) > 40 {
			t.Fatal("the test does not run in the module")
		}
	}
}

// Open reads packs/NAME/pack.json of a repository, and all that is beside it.
func Open(t testing.TB, dir, name string) *gate.Subject {
	t.Helper()
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	config, err := files.Config("")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := files.Environments(config)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := files.Unit("packs/"+name+"/pack.json", config)
	if err != nil {
		t.Fatal(err)
	}
	return gate.NewSubject(unit, environments, config)
}

// Edit returns a document after some edits.
func Edit(t testing.TB, src []byte, operations ...finding.Operation) []byte {
	t.Helper()
	edited, err := pack.Edit(Read(PackFile, src), operations)
	if err != nil {
		t.Fatal(err)
	}
	return edited
}

// Judge runs all rules of a gate over a subject, and returns what they found,
// sorted for people, and what they could not check, in the order of the rules.
func Judge(g *gate.Gate, s *gate.Subject) (found []finding.Finding, unchecked []finding.NotChecked) {
	for _, r := range g.Rules {
		p := gate.NewPass(s, g, r)
		r.Check(p)
		f, n := p.Results()
		found, unchecked = append(found, f...), append(unchecked, n...)
	}
	return finding.Sort(found), unchecked
}

package schema

import (
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Every finding about the text has a fingerprint of its own, also where several
// have one path, or reading ended before there was one. None of these documents is a pack, which
// is a finding of those that can be read to their end.
func TestFaultsHaveFingerprints(t *testing.T) {
	for src, want := range map[string]int{
		`{"a": 1, "a": 2, "a": 3, "a": 4}`:          4,
		`{"a": 1, "a": 2, "b": 1, "b": 2}`:          3,
		`{"a": 1, "a": 2, "b": 1, "b": 2, `:         3,
		`{"a": [1e999, 1e999], "b": [1e999, 1e999 `: 5,
	} {
		seen := map[string]bool{}
		for _, f := range check([]byte(src)) {
			if f.Rule == SCH001.ID || f.Rule == SCH002.ID {
				seen[f.Fingerprint()] = true
			}
		}
		if len(seen) != want {
			t.Errorf("%s: %d fingerprints, want %d", src, len(seen), want)
		}
	}
}

// Two side files with one fault at one path have two fingerprints, wherever the
// pack's folder stands.
func TestSideFilesHaveFingerprints(t *testing.T) {
	prints := func(dir string) map[string]bool {
		read := func(name, src string) *repo.SideFile {
			d, faults := pack.Read(name, []byte(src), pack.DefaultLimits())
			return &repo.SideFile{Kind: "case", Name: dir + name, Document: d, Faults: faults}
		}
		doc, _ := pack.Read("pack.json", []byte("{}"), pack.DefaultLimits())
		unit := &repo.Unit{Name: dir + "pack.json", Document: doc, Pack: pack.New(doc)}
		unit.Files = []*repo.SideFile{
			read("golden/a.case.json", `{"x": 1}`), read("golden/b.case.json", `{"x": 1}`), read("golden/c.case.json", `{`), read("golden/d.case.json", `{`),
		}
		p := gate.NewPass(gate.NewSubject(unit, nil, repo.DefaultConfig()), Gate, SCH013)
		SCH013.Check(p)
		found, _ := p.Results()
		seen := map[string]bool{}
		for _, f := range found {
			if seen[f.Fingerprint()] {
				t.Errorf("%s: %s shares its fingerprint", f.Location.File, f.Message)
			}
			seen[f.Fingerprint()] = true
		}
		return seen
	}
	here, there := prints(""), prints("packs/support/")
	if len(here) < 4 || len(here) != len(there) {
		t.Fatalf("%d and %d fingerprints", len(here), len(there))
	}
	for print := range here {
		if !there[print] {
			t.Error("the folder of the pack is part of a fingerprint")
		}
	}
}

package repo

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/pack"
)

// Any tree of files is read as a folder is, and what is read knows its revision.
func TestFilesOf(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	f := FilesOf(fstest.MapFS{
		"packs/a/pack.json":            {Data: []byte(`{"pack_meta": {"pack_id": "a", "pack_id": "a"}}`)},
		"packs/a/golden/one.case.json": {Data: []byte(`{"case": "one"}`)},
		"packs/a/large.json":           {Data: []byte(strings.Repeat(" ", 100))},
	}, "base", sha)
	u, err := f.Unit("packs/a/pack.json", DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if u.Document.File != "base/packs/a/pack.json" || u.Document.Revision != sha || len(u.Cases) != 1 || u.Cases[0].Document.Revision != sha {
		t.Errorf("read %+v", u)
	}
	if len(u.Faults) != 1 || u.Faults[0].Location.Revision != sha || u.Faults[0].Related[0].Location.Revision != sha {
		t.Errorf("the faults are %+v", u.Faults)
	}
	if _, faults, err := f.Document("packs/a/large.json", pack.Limits{MaxBytes: 99}); err != nil || len(faults) != 1 || faults[0].Location.Revision != sha {
		t.Errorf("a large file: %+v, %v", faults, err)
	}
	if found, err := f.Find(DefaultConfig()); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", found, err)
	}
	for _, name := range []string{"packs/b/pack.json", "../pack.json", "packs/a"} {
		if _, err := f.Unit(name, DefaultConfig()); !errors.Is(err, ErrUse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

var errDamaged = errors.New("the content is damaged")

// damaged is a tree that cannot be read.
type damaged struct{}

func (damaged) Open(string) (fs.File, error) { return nil, errDamaged }

// A tree that fails is no wrong use, and leads out of nothing.
func TestFilesOfDamagedTree(t *testing.T) {
	f := FilesOf(damaged{}, ".", "")
	if _, _, err := f.Document("a.json", pack.DefaultLimits()); !errors.Is(err, errDamaged) || errors.Is(err, ErrUse) {
		t.Errorf("reading: %v", err)
	}
	if _, err := f.Find(DefaultConfig()); !errors.Is(err, errDamaged) || errors.Is(err, ErrUse) {
		t.Errorf("looking for packs: %v", err)
	}
}

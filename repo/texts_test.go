package repo

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/pack"
)

// A tree with texts is one as any other, with different content in the files.
func TestWithTexts(t *testing.T) {
	files := fstest.MapFS{"packs/a.json": {Data: []byte("aaaa")}, "packs/b.json": {Data: []byte("b")}}
	edited := WithTexts(files, map[string]string{"packs/a.json": "other"})
	for name, want := range map[string]string{"packs/a.json": "other", "packs/b.json": "b"} {
		if src, err := fs.ReadFile(edited, name); err != nil || string(src) != want {
			t.Errorf("%s is %q, %v", name, src, err)
		}
	}
	doc, faults, err := FilesOf(edited, ".", "").Document("packs/a.json", pack.Limits{MaxBytes: 4})
	if err != nil || len(faults) != 1 || faults[0].Kind != pack.Limit {
		t.Errorf("a file that the edit makes too large: %v, %v, %v", doc, faults, err)
	}
}

// New files are there as those of the tree are.
func TestWithNewTexts(t *testing.T) {
	tree := fstest.MapFS{"packs/a/pack.json": {Data: []byte("{}")}, "packs/b/pack.json": {Data: []byte("[]")}}
	texts := WithTexts(tree, map[string]string{"packs/a/pack.json": `{"a": 1}`, "packs/a/new.json": "1", "packs/c/golden/x.json": "2"})
	if err := fstest.TestFS(texts, "packs/a/pack.json", "packs/a/new.json", "packs/b/pack.json", "packs/c/golden/x.json"); err != nil {
		t.Error(err)
	}
}

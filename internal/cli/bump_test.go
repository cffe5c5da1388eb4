package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/repo"
)

// contents returns the files below a folder with their contents.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		list = append(list, rel+": "+string(src))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What names a pack follows its version, and nothing else does.
func TestFollow(t *testing.T) {
	const golden = `{"invoke": {"context_pack_refs": %REFS%}}`
	for refs, want := range map[string]string{
		`["ctx.a@1.0.0"]`:                "",
		`["ctx.a@0.9.0"]`:                `["ctx.a@1.0.0"]`,
		`["ctx.b@0.9.0", "ctx.a@2.0.0"]`: `["ctx.b@0.9.0", "ctx.a@1.0.0"]`,
		`["ctx.a@0.9.0", "ctx.a@1.0.0"]`: "",
		`["ctx.a@0.8.0", "ctx.a@0.9.0"]`: `["ctx.a@1.0.0", "ctx.a@0.9.0"]`,
		`["ctx.a"]`:                      "",
		`["ctx.a.b@0.9.0"]`:              "",
		`"ctx.a@0.9.0"`:                  "",
		`[1, null, {}]`:                  "",
	} {
		files := fstest.MapFS{
			"p/pack.json":            {Data: []byte(`{"pack_meta": {"pack_id": "ctx.a", "pack_version": "1.0.0"}}`)},
			"p/golden/one.case.json": {Data: bytes.ReplaceAll([]byte(golden), []byte("%REFS%"), []byte(refs))},
		}
		unit, err := repo.FilesOf(files, ".", "").Unit("p/pack.json", repo.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		edits, left, err := follow(unit, "1.0.0")
		if err != nil || len(left) > 0 {
			t.Fatalf("%s: %v, left %v", refs, err, left)
		}
		got := ""
		if len(edits) == 1 && edits[0].Name == "p/golden/one.case.json" {
			got = string(edits[0].Source)
		}
		if want != "" {
			want = string(bytes.ReplaceAll([]byte(golden), []byte("%REFS%"), []byte(want)))
		}
		if got != want || len(edits) > 1 {
			t.Errorf("%s: becomes %q, want %q", refs, got, want)
		}
	}
}

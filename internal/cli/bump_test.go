package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/pack"
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

// All files are written, or none, whatever it is that one of them fails at.
func TestWriteAllOrNone(t *testing.T) {
	first := []fileEdit{{name: "a", source: []byte("new a")}, {name: "new", source: []byte("new")}, {name: "gone"}, {name: "link", source: []byte("new b")}}
	for what, c := range map[string]struct {
		last fileEdit
		want []string
	}{
		"nothing fails":             {fileEdit{name: "c", source: []byte("")}, []string{"a: new a", "b: new b", "c: ", "folder/x: x", "link: new b", "new: new"}},
		"no place to stage":         {fileEdit{name: "none/x", source: []byte("x")}, nil},
		"a folder stands there":     {fileEdit{name: "folder", source: []byte("x")}, nil},
		"nothing there to remove":   {fileEdit{name: "none"}, nil},
		"what is removed is folder": {fileEdit{name: "folder"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			for name, src := range map[string]string{"a": "a", "b": "b", "c": "c", "gone": "gone", "folder/x": "x"} {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(src), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == nil {
				want = contents(t, dir)
			}
			err := (&workspace{dir: dir}).write(append(slices.Clone(first), c.last))
			if (err == nil) != (c.want != nil) {
				t.Errorf("error %v", err)
			}
			if got := contents(t, dir); !slices.Equal(got, want) {
				t.Errorf("there are %q, want %q", got, want)
			}
			info, err := os.Lstat(filepath.Join(dir, "a"))
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("a is %v, %v", info.Mode(), err)
			}
			if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode().Type() != fs.ModeSymlink {
				t.Error("the link is none any more")
			}
		})
	}
}

// A file system with edits is one as any other, with other content in the files.
func TestEditedFS(t *testing.T) {
	files := fstest.MapFS{"packs/a.json": {Data: []byte("aaaa")}, "packs/b.json": {Data: []byte("b")}}
	edited := editedFS{files, []fileEdit{{name: "packs/a.json", source: []byte("other")}}}
	for name, want := range map[string]string{"packs/a.json": "other", "packs/b.json": "b"} {
		if src, err := fs.ReadFile(edited, name); err != nil || string(src) != want {
			t.Errorf("%s is %q, %v", name, src, err)
		}
	}
	doc, faults, err := repo.FilesOf(edited, ".", "").Document("packs/a.json", pack.Limits{MaxBytes: 4})
	if err != nil || len(faults) != 1 || faults[0].Kind != pack.Limit {
		t.Errorf("a file that the edit makes too large: %v, %v, %v", doc, faults, err)
	}
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
		if len(edits) == 1 && edits[0].name == "p/golden/one.case.json" {
			got = string(edits[0].source)
		}
		if want != "" {
			want = string(bytes.ReplaceAll([]byte(golden), []byte("%REFS%"), []byte(want)))
		}
		if got != want || len(edits) > 1 {
			t.Errorf("%s: becomes %q, want %q", refs, got, want)
		}
	}
}

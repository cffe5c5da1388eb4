package gating

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

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
	first := []Edit{{Name: "a", Source: []byte("new a")}, {Name: "new", Source: []byte("new")}, {Name: "gone"}, {Name: "link", Source: []byte("new b")}}
	for what, c := range map[string]struct {
		last Edit
		want []string
	}{
		"nothing fails":             {Edit{Name: "c", Source: []byte("")}, []string{"a: new a", "b: new b", "c: ", "folder/x: x", "link: new b", "new: new"}},
		"no place to stage":         {Edit{Name: "a/x", Source: []byte("x")}, nil},
		"a folder stands there":     {Edit{Name: "folder", Source: []byte("x")}, nil},
		"nothing there to remove":   {Edit{Name: "none"}, nil},
		"what is removed is folder": {Edit{Name: "folder"}, nil},
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
			err := (&Workspace{Dir: dir}).Write(append(slices.Clone(first), c.last))
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

// The journal is in the folder of git, and never among the files of a repository.
func TestJournalFolder(t *testing.T) {
	for text, want := range map[string]string{"gitdir: real\n": "real/packgate", "gitdir: none\n": "", "": "", "files\n": ""} {
		dir := t.TempDir()
		for _, name := range []string{"real", "files"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := journal(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want = filepath.Join(dir, want); want == dir {
			want = cacheJournal(dir)
		}
		if got != want {
			t.Errorf("%q: the journal is in %s, wanted %s", text, got, want)
		}
	}
}

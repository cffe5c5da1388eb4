package atomicfile_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/repo/atomicfile"
)

// filled returns an edit of a folder, which holds these files and is ours if it has the first of them.
func filled(name string, files map[string]string, fails error) atomicfile.Edit {
	return atomicfile.Edit{Name: name, Folder: &atomicfile.Folder{
		Fill: func(create func(string) (*os.File, error)) error {
			for name, text := range files {
				f, err := create(name)
				if err != nil {
					return err
				}
				if _, err := f.WriteString(text); err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return fails
		},
		Ours: func(dir *os.Root) bool { _, err := dir.Stat("index"); return err == nil },
	}}
}

// tree returns the files below a folder with what they hold, links as such.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != dir && d.Name()[0] != '.' {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch src, err := os.ReadFile(path); {
		case d.Type() == fs.ModeSymlink:
			all[name] = "link"
		case err == nil:
			all[name] = string(src)
		case path != dir:
			all[name] = "folder"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A folder takes the place of the one that was written before, goes if there is nothing to write, and
// leaves everything as it was if it cannot be written, or if somebody else has put something there.
func TestFolder(t *testing.T) {
	full := errors.New("full")
	for name, c := range map[string]struct {
		before, files, after map[string]string
		build                func(t *testing.T, dir string)
		fails, want          error
	}{
		"a first one":            {nil, map[string]string{"index": "1", "a": "1"}, map[string]string{"f": "x", "pages/index": "1", "pages/a": "1"}, nil, nil, nil},
		"another one":            {map[string]string{"pages/index": "1", "pages/old": "1"}, map[string]string{"index": "2"}, map[string]string{"f": "x", "pages/index": "2"}, nil, nil, nil},
		"none any more":          {map[string]string{"pages/index": "1", "pages/old": "1"}, nil, map[string]string{"f": "x"}, nil, nil, nil},
		"none, and none before":  {nil, nil, map[string]string{"f": "x"}, nil, nil, nil},
		"it fails":               {map[string]string{"pages/index": "1"}, map[string]string{"index": "2"}, map[string]string{"pages/index": "1"}, nil, full, full},
		"somebody else's":        {map[string]string{"pages/own": "1"}, map[string]string{"index": "2"}, map[string]string{"pages/own": "1"}, nil, nil, atomicfile.ErrNotOurs},
		"somebody else's stays":  {map[string]string{"pages/own": "1"}, nil, map[string]string{"pages/own": "1"}, nil, nil, atomicfile.ErrNotOurs},
		"a file in its place":    {map[string]string{"pages": "1"}, map[string]string{"index": "2"}, map[string]string{"pages": "1"}, nil, nil, atomicfile.ErrNotOurs},
		"an empty one is ours":   {nil, map[string]string{"index": "2"}, map[string]string{"f": "x", "pages/index": "2"}, func(t *testing.T, dir string) { os.Mkdir(filepath.Join(dir, "pages"), 0o755) }, nil, nil},
		"a link in its place":    {map[string]string{"there/index": "1"}, map[string]string{"index": "2"}, map[string]string{"there/index": "1", "pages": "link"}, func(t *testing.T, dir string) { link(t, "there", filepath.Join(dir, "pages")) }, nil, atomicfile.ErrNotOurs},
		"a link out of a folder": {map[string]string{"pages/index": "1", "there/x": "1"}, map[string]string{"index": "2"}, map[string]string{"f": "x", "pages/index": "2", "there/x": "1"}, func(t *testing.T, dir string) { link(t, "../there", filepath.Join(dir, "pages", "out")) }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			backwards := func(steps []func()) {
				for _, step := range slices.Backward(steps) {
					step()
				}
			}
			for how, write := range map[string]func(dir string, edits []atomicfile.Edit) error{
				"all, the last first": func(dir string, edits []atomicfile.Edit) error {
					for i := range edits {
						edits[i].Name = filepath.Join(dir, edits[i].Name)
					}
					return atomicfile.WriteAll(edits, backwards)
				},
				"within, the last first": func(dir string, edits []atomicfile.Edit) error {
					root, err := os.OpenRoot(dir)
					if err != nil {
						return err
					}
					return errors.Join(atomicfile.WriteWithin(root, edits, backwards), root.Close())
				},
				"all": func(dir string, edits []atomicfile.Edit) error {
					for i := range edits {
						edits[i].Name = filepath.Join(dir, edits[i].Name)
					}
					return atomicfile.WriteAll(edits, atomicfile.OneByOne)
				},
				"within": func(dir string, edits []atomicfile.Edit) error {
					root, err := os.OpenRoot(dir)
					if err != nil {
						return err
					}
					return errors.Join(atomicfile.WriteWithin(root, edits, atomicfile.OneByOne), root.Close())
				},
			} {
				dir := t.TempDir()
				for name, text := range c.before {
					if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
				if c.build != nil {
					c.build(t, dir)
				}
				err := write(dir, []atomicfile.Edit{{Name: "f", Write: atomicfile.Content([]byte("x"))}, filled("pages", c.files, c.fails)})
				if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("%s: error %v, wanted %v", how, err, c.want)
				}
				if got := tree(t, dir); !maps.Equal(got, c.after) {
					t.Errorf("%s: there is %q, wanted %q", how, got, c.after)
				}
			}
		})
	}
}

// What somebody puts into the folder while another one is written in its place stays, and a file may be in
// a folder of its own.
func TestFolderIsFilledMeanwhile(t *testing.T) {
	dir := t.TempDir()
	pages := filepath.Join(dir, "pages")
	write := func(meanwhile func() error) error {
		return atomicfile.WriteAll([]atomicfile.Edit{{Name: pages, Folder: &atomicfile.Folder{
			Fill: func(create func(string) (*os.File, error)) error {
				f, err := create(filepath.FromSlash("below/a"))
				return errors.Join(err, f.Close(), meanwhile())
			},
			Ours: func(*os.Root) bool { return false },
		}}}, atomicfile.OneByOne)
	}
	if err := os.Mkdir(pages, 0o755); err != nil {
		t.Fatal(err)
	}
	own := func() error { return os.WriteFile(filepath.Join(pages, "own"), []byte("1"), 0o644) }
	if err := write(own); !errors.Is(err, atomicfile.ErrNotOurs) {
		t.Errorf("it is replaced: %v", err)
	}
	if got := tree(t, dir); len(got) != 1 || got["pages/own"] != "1" {
		t.Errorf("%q is there", got)
	}
	if err := os.Remove(filepath.Join(pages, "own")); err != nil {
		t.Fatal(err)
	}
	if err := write(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, there := tree(t, dir)[filepath.FromSlash("pages/below/a")]; !there {
		t.Errorf("%q is there", tree(t, dir))
	}
}

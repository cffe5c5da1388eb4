package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file that is written anew keeps its permissions, and is left as it was where
// writing it fails.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	text := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	for _, step := range []struct {
		write func(*os.File) error
		mode  os.FileMode // that the file has before
		fails bool
		want  string
		after os.FileMode
	}{
		{text("one"), 0, false, "one", 0o644},
		{text("two"), 0o600, false, "two", 0o600},
		{func(*os.File) error { return errors.New("full") }, 0o600, true, "two", 0o600},
	} {
		if step.mode != 0 {
			if err := os.Chmod(name, step.mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := Write(name, step.write); (err != nil) != step.fails {
			t.Errorf("error %v; wanted one: %v", err, step.fails)
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(src) != step.want || info.Mode().Perm() != step.after {
			t.Errorf("%q with %v; wanted %q with %v", src, info.Mode().Perm(), step.want, step.after)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v; wanted nothing beside the file", entries, err)
	}
}

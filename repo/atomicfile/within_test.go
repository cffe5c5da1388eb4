package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/repo/atomicfile"
)

// Nothing is written outside of the folder, whatever the name or the links on the way.
func TestWriteWithin(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		build func(t *testing.T, inside, outside string)
		ok    bool
	}{
		"a file":                  {"a.json", nil, true},
		"a file below folders":    {"a/b/c.json", nil, true},
		"above":                   {"../a.json", nil, false},
		"an absolute name":        {"/tmp/packgate-never.json", nil, false},
		"a folder that leads out": {"out/a.json", func(t *testing.T, in, out string) { link(t, out, filepath.Join(in, "out")) }, false},
		"a parent that leads out": {"out/b/a.json", func(t *testing.T, in, out string) { link(t, out, filepath.Join(in, "out")) }, false},
		"a relative way out":      {"out/a.json", func(t *testing.T, in, out string) { link(t, "../"+filepath.Base(out), filepath.Join(in, "out")) }, false},
		"a file that is a link":   {"a.json", func(t *testing.T, in, out string) { link(t, filepath.Join(out, "a.json"), filepath.Join(in, "a.json")) }, true},
		"a folder that leads inside": {"in/a.json", func(t *testing.T, in, _ string) {
			os.Mkdir(filepath.Join(in, "there"), 0o755)
			link(t, "there", filepath.Join(in, "in"))
		}, true},
		"a folder in place of a file": {"a.json", func(t *testing.T, in, _ string) { os.MkdirAll(filepath.Join(in, "a.json", "x"), 0o755) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := filepath.Join(t.TempDir(), "in"), ""
			out = filepath.Join(filepath.Dir(in), "out")
			for _, dir := range []string{in, out} {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if c.build != nil {
				c.build(t, in, out)
			}
			root, err := os.OpenRoot(in)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			err = atomicfile.WriteWithin(root, []atomicfile.Edit{{Name: c.file, Write: atomicfile.Content([]byte("x"))}}, atomicfile.OneByOne)
			if (err == nil) != c.ok {
				t.Errorf("error %v, wanted %v", err, c.ok)
			}
			if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
				t.Errorf("outside there is %v, %v", left, err)
			}
			if got, err := os.ReadFile(filepath.Join(in, c.file)); c.ok && (err != nil || string(got) != "x") {
				t.Errorf("it holds %q, %v", got, err)
			}
			if left, _ := filepath.Glob(filepath.Join(in, ".packgate-*")); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

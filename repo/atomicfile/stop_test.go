package atomicfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/repo/atomicfile"
)

// stopIn names, in the process that a test starts for Stop, the folder to write into.
const stopIn = "PACKGATE_TEST_STOP_IN"

// stopping returns what writes a file, a complete folder and a folder whose files have no end, and
// says when it has begun with those.
func stopping(begun chan<- struct{}) []atomicfile.Edit {
	endless := &atomicfile.Folder{Fill: func(create func(string) (*os.File, error)) error {
		for i := 0; ; i++ {
			f, err := create(fmt.Sprint(i % 100))
			if err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			if i == 10 {
				close(begun)
			}
		}
	}}
	whole := func(create func(string) (*os.File, error)) error {
		f, err := create("index")
		return errors.Join(err, f.Close())
	}
	return []atomicfile.Edit{
		{Name: "a", Write: atomicfile.Content([]byte("new"))},
		{Name: "whole", Folder: &atomicfile.Folder{Fill: whole}},
		{Name: "pages", Folder: endless},
	}
}

// Stop leaves nothing beside a place, also while a folder is being filled: each case is a process of
// its own, because nothing can be written after Stop.
func TestStop(t *testing.T) {
	ways := map[string]func(dir string, edits []atomicfile.Edit) error{
		"all": func(dir string, edits []atomicfile.Edit) error {
			for i := range edits {
				edits[i].Name = filepath.Join(dir, edits[i].Name)
			}
			return atomicfile.WriteAll(edits, atomicfile.OneByOne)
		},
		"within": func(dir string, edits []atomicfile.Edit) error {
			root, err := os.OpenRoot(dir)
			return errors.Join(err, atomicfile.WriteWithin(root, edits, atomicfile.OneByOne))
		},
	}
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			if dir := os.Getenv(stopIn); dir != "" {
				begun, failed := make(chan struct{}), make(chan error, 1)
				go func() { failed <- write(dir, stopping(begun)) }()
				select {
				case <-begun:
				case err := <-failed:
					t.Fatal(err)
				}
				if err := atomicfile.Stop(); err != nil {
					t.Fatal(err)
				}
				os.Exit(0) // as the program does: whoever writes waits for ever
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStop$/^"+name+"$")
			c.Env = append(os.Environ(), stopIn+"="+dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := tree(t, dir); len(got) != 1 || got["a"] != "old" {
				t.Errorf("%q is there; wanted what was there alone", got)
			}
		})
	}
}

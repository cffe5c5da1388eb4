package atomicfile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// WriteWithin writes files as WriteAll does, below a folder that no link leads out of: the names are
// relative to it, and a link that leads elsewhere is an error, even if it is put there at the same time.
// It creates the folders that the files need. A device or a pipe is replaced and not written into.
func WriteWithin(root *os.Root, edits []Edit) (err error) {
	staged, folders := make([]*wait, len(edits)), make([]*stagedFolder, len(edits))
	defer func() {
		for i, w := range staged {
			if w != nil {
				w.discard() // the error that matters is the first one
			}
			if folders[i] != nil {
				folders[i].discard() // as well
			}
		}
	}()
	for i, e := range edits {
		if err := root.MkdirAll(filepath.Dir(e.Name), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", e.Name, Cause(err))
		}
		if e.Folder != nil {
			if folders[i], err = e.Folder.stage(root, e.Name); err != nil {
				return folderFailed(e.Name, err)
			}
			continue
		}
		var f *os.File
		name := besideOf(e.Name)
		staged[i], err = besides(func() (remove func() error, err error) {
			f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			return func() error { return root.Remove(name) }, err
		})
		if err != nil {
			return failed(e.Name, err)
		}
		staged[i].name = name
		if err := cmp.Or(e.Write(f), f.Close()); err != nil {
			return failed(e.Name, err)
		}
	}
	writing.RLock()
	defer writing.RUnlock()
	for i, e := range edits {
		if folders[i] != nil {
			if err := folders[i].keep(); err != nil {
				return folderFailed(e.Name, err)
			}
			folders[i] = nil
			continue
		}
		if err := staged[i].keep(func() error { return root.Rename(staged[i].name, e.Name) }); err != nil {
			return failed(e.Name, err)
		}
		staged[i] = nil
	}
	return nil
}

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
func WriteWithin(root *os.Root, edits []Edit, run func([]func())) (err error) {
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
	err = eachBy(edits, run, func(i int) (err error) {
		if err := root.MkdirAll(filepath.Dir(edits[i].Name), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", edits[i].Name, Cause(err))
		}
		if edits[i].Folder != nil {
			folders[i], err = edits[i].Folder.stage(root, edits[i].Name)
			return folderFailed(edits[i].Name, err)
		}
		staged[i], err = stageWithin(root, edits[i])
		return failed(edits[i].Name, err)
	})
	if err != nil {
		return err
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

// stageWithin writes a file beside its place. Nothing is left where it fails.
func stageWithin(root *os.Root, e Edit) (*wait, error) {
	var f *os.File
	name := besideOf(e.Name)
	w, err := besides(func() (remove func() error, err error) {
		f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		return func() error { return root.Remove(name) }, err
	})
	if err != nil {
		return nil, err
	}
	w.name = name
	if err := cmp.Or(e.Write(f), f.Close()); err != nil {
		w.discard() // the error that matters is the first one
		return nil, err
	}
	return w, nil
}

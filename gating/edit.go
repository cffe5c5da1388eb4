package gating

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/contextosai/packgate/repo/atomicfile"
)

// Edit is what is to become of one file of a repository.
type Edit struct {
	Name   string // relative to the root
	Source []byte // the new content; nil for a file that is removed
}

// Verb returns the word for what the edit does.
func (e Edit) Verb(write, remove string) string {
	if e.Source == nil {
		return remove
	}
	return write
}

// Replace makes all of the edits below a root, or none of them, and returns what takes
// them back; see [atomicfile.Replace].
func Replace(root string, edits []Edit) (back func() error, err error) {
	files := make([]atomicfile.Edit, len(edits))
	for i, e := range edits {
		if files[i].Name, err = onDisk(root, e.Name); err != nil {
			return nil, err
		}
		if e.Source != nil {
			files[i].Write = atomicfile.Content(e.Source)
		}
	}
	return atomicfile.Replace(files)
}

// onDisk returns where a file of a repository is. A link stays one: what it
// leads to is written. Reading has made sure that this is inside of the repository.
func onDisk(root, name string) (string, error) {
	full := filepath.Join(root, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return full, nil
	}
	return real, err
}

// Write makes all of the edits in a workspace, or none of them.
func (w *Workspace) Write(edits []Edit) error {
	_, err := Replace(w.Dir, edits)
	return err
}

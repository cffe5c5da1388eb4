package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the new content of a whole folder. It replaces the folder that an earlier run wrote, so that
// no file of that one is left.
type Folder struct {
	// Fill writes the files, each made by create with the folders that its name needs; a folder without any
	// is removed.
	Fill func(create func(name string) (*os.File, error)) error
	// Ours reports whether a folder that is there was written by Fill, and may go.
	Ours func(*os.Root) bool
}

// ErrNotOurs is wrapped by the error for a folder that packgate has not written.
var ErrNotOurs = errors.New("something else is there, which is not replaced")

// stagedFolder is a folder that is complete beside its place.
type stagedFolder struct {
	of           *Folder
	in           *os.Root // where it is to be
	name, aside  string
	staged       *wait
	there, empty bool // whether its place has one, and it has no files
}

// stage writes a folder beside its place, a name in root. If it fails it leaves nothing behind.
func (f *Folder) stage(root *os.Root, name string) (*stagedFolder, error) {
	s := &stagedFolder{of: f, in: root, name: name, aside: besideOf(name)}
	var err error
	if s.there, err = f.replaces(root, name); err != nil {
		return nil, err
	}
	at := besideOf(name)
	s.staged, err = besides(func() (remove func() error, err error) {
		return func() error { return root.RemoveAll(at) }, root.Mkdir(at, 0o755)
	})
	if err != nil {
		return nil, err
	}
	s.staged.name = at
	if s.empty, err = f.fill(root, at); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

// besideOf returns an unused name beside another one.
func besideOf(name string) string {
	return filepath.Join(filepath.Dir(name), ".packgate-"+rand.Text())
}

// stageAt is stage for a path of this machine. The folder around it is open until all is kept or discarded.
func (f *Folder) stageAt(path string) (*stagedFolder, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, folderFailed(path, err)
	}
	s, err := f.stage(root, filepath.Base(path))
	if err != nil {
		return nil, errors.Join(folderFailed(path, err), root.Close())
	}
	return s, nil
}

// replaces reports whether there is a folder to replace; the error is ErrNotOurs for a folder that must
// not be replaced, and for anything that is not a folder.
func (f *Folder) replaces(root *os.Root, name string) (there bool, err error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, ErrNotOurs
	}
	old, err := root.OpenRoot(name)
	if err != nil {
		return false, err
	}
	defer old.Close() // only read from
	entries, err := fs.ReadDir(old.FS(), ".")
	if err == nil && len(entries) > 0 && !f.Ours(old) {
		err = ErrNotOurs
	}
	return true, err
}

func (f *Folder) fill(root *os.Root, name string) (empty bool, err error) {
	dir, err := root.OpenRoot(name)
	if err != nil {
		return false, err
	}
	defer dir.Close() // its files are closed
	err = f.Fill(func(name string) (*os.File, error) {
		writing.RLock() // no file is made in a folder that Stop removes
		defer writing.RUnlock()
		if err := dir.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		return dir.Create(name)
	})
	if err != nil {
		return false, err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	return len(entries) == 0, err
}

// keep moves the folder to its place, and removes the one that was there, unless something else was put
// into it meanwhile.
func (s *stagedFolder) keep() error {
	if s.there {
		if err := s.in.Rename(s.name, s.aside); err != nil {
			return err
		}
		if _, err := s.of.replaces(s.in, s.aside); err != nil {
			return errors.Join(err, s.in.Rename(s.aside, s.name))
		}
	}
	if !s.empty {
		if err := s.in.Rename(s.staged.name, s.name); err != nil {
			if s.there {
				err = errors.Join(err, s.in.Rename(s.aside, s.name))
			}
			return err
		}
	}
	return errors.Join(s.discard(), s.in.RemoveAll(s.aside))
}

// discard removes the folder beside its place.
func (s *stagedFolder) discard() error { return s.staged.discard() }

func folderFailed(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write the folder %s: %w", name, Cause(err))
}

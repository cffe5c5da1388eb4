package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// synced is called with the name of what was put on the disk, for tests: a power failure is none that a
// test can have.
var synced = func(name string) {}

// lasting puts a file on the disk, or a folder with the names in it. Until then, a power failure may leave
// a file empty that was renamed to its place: XFS writes the name before the content. Some systems cannot
// do so for a folder, or for no file of theirs; there it lasts as the system makes it.
func lasting(f *os.File) error {
	err := f.Sync()
	synced(f.Name())
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return err
}

// lastingFolder makes what was created, renamed and removed in a folder last. One that is gone has nothing, and
// Windows refuses it for a folder that is open for reading.
func lastingFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	return errors.Join(lasting(f), f.Close())
}

// writeLasting writes a file as [os.WriteFile] does, and puts it on the disk.
func writeLasting(name string, src []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err = f.Write(src); err == nil {
		err = lasting(f)
	}
	return errors.Join(err, f.Close())
}

// settle makes what the edits of a transaction did last, but for its journal.
func (t *Transaction) settle() error {
	done := map[string]bool{}
	for _, e := range t.entries {
		for _, name := range append([]string{e.Name}, e.Folders...) {
			dir := filepath.Dir(name)
			if done[dir] {
				continue
			}
			if err := lastingFolder(dir); err != nil {
				return failed(e.Name, err)
			}
			done[dir] = true
		}
	}
	return nil
}

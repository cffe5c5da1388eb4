// Package atomicfile writes files so that each appears whole or not at all, and several
// of them all or none.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// Edit is what is to become of one file: its new content, or nothing where the file is
// to go.
type Edit struct {
	Name  string               // a path of this machine
	Write func(*os.File) error // writes the new content; nil for a file that is removed
}

// Content writes bytes at once.
func Content(src []byte) func(*os.File) error {
	return func(f *os.File) error { _, err := f.Write(src); return err }
}

// Write writes a file beside its place and moves it there once it is complete. A file
// that was there before leaves its permissions. What is no file, such as a device or a
// pipe, is written into as it is.
func Write(name string, write func(*os.File) error) error {
	return WriteAll([]Edit{{name, write}})
}

// WriteAll writes files as Write does, none of them before all are complete.
func WriteAll(edits []Edit) error {
	_, err := replace(edits, false)
	return err
}

// Replace makes all of the edits, or none of them, and returns what takes them back. It
// makes the folders that they need. Every new content stands beside its place before the
// first file is touched, so that what can fail for want of room or permission has failed
// before; and where a file cannot be put in its place after all, those before it are put
// back.
func Replace(edits []Edit) (back func() error, err error) {
	var made undo
	for _, e := range edits {
		if err := makeFolders(filepath.Dir(e.Name), &made); err != nil {
			return nil, errors.Join(fmt.Errorf("make the folder of %s: %w", e.Name, Cause(err)), made.run())
		}
	}
	files, err := replace(edits, true)
	if err != nil {
		return nil, errors.Join(err, made.run())
	}
	return append(made, files...).run, nil
}

// undo takes back what was done, the last first.
type undo []func() error

func (u undo) run() error {
	var errs []error
	for _, one := range slices.Backward(u) {
		errs = append(errs, one())
	}
	return errors.Join(errs...)
}

// makeFolders makes a folder with those above it.
func makeFolders(folder string, made *undo) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	if err := makeFolders(filepath.Dir(folder), made); err != nil {
		return err
	}
	err := os.Mkdir(folder, 0o755)
	if err == nil {
		*made = append(*made, func() error { return os.Remove(folder) })
	}
	return err
}

// writing is held by whoever puts files in their places.
var writing sync.RWMutex

// Stop waits until the files are in their places that are about to be, and keeps all
// others from being written: the process is about to end.
func Stop() { writing.Lock() }

// replace stages all edits and puts each in its place. Only where they have to be taken
// back are the files of before read.
func replace(edits []Edit, undoable bool) (done undo, err error) {
	staged := make([]string, len(edits))
	for i, e := range edits {
		if e.Write == nil || !replaceable(e.Name) {
			continue
		}
		if staged[i], err = stage(e.Name, e.Write); err != nil {
			return nil, errors.Join(err, discard(staged))
		}
	}
	if !slices.ContainsFunc(edits, func(e Edit) bool { return !replaceable(e.Name) }) { // what is written into may never end
		writing.RLock()
		defer writing.RUnlock()
	}
	for i, e := range edits {
		back, err := e.put(staged[i], undoable)
		if err != nil {
			return nil, errors.Join(err, done.run(), discard(staged[i:]))
		}
		done = append(done, back)
	}
	return done, nil
}

// put moves a staged file to its place, writes into what cannot be replaced, or removes
// the file. It returns what puts the file back as it was.
func (e Edit) put(staged string, undoable bool) (back func() error, err error) {
	back = func() error { return nil }
	if undoable {
		src, err := os.ReadFile(e.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			back = func() error { return os.Remove(e.Name) }
		case err != nil:
			return nil, err
		default:
			back = func() error { return restore(e.Name, src) }
		}
	}
	switch {
	case e.Write == nil:
		return back, os.Remove(e.Name)
	case staged == "":
		return back, writeInto(e.Name, e.Write)
	}
	return back, failed(e.Name, os.Rename(staged, e.Name))
}

// restore puts back what a file had.
func restore(name string, src []byte) error {
	staged, err := stage(name, Content(src))
	if err != nil {
		return err
	}
	return failed(name, os.Rename(staged, name))
}

// replaceable reports whether a new file may take the place of a name: not that of a
// device or a pipe, and not that of anything in /dev, where links such as stdout lead
// to what is open. The user may be one who could.
func replaceable(name string) bool {
	full, err := filepath.Abs(name)
	if dir := filepath.Dir(full); err == nil && (dir == "/dev" || dir == "/dev/fd") {
		return false
	}
	info, err := os.Lstat(name)
	return err != nil || info.Mode().Type()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) == 0
}

// writeInto writes into what is there already.
func writeInto(name string, write func(*os.File) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	return failed(name, err)
}

// failed says of an error which file could not be written; nil stays nil.
func failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", name, Cause(err))
}

// Cause strips the operation and the path from an error of the operating system: the
// path may be that of a file beside the one that the user named.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// stage writes the new content of a file beside its place, and returns under which
// name. Nothing is left where it fails.
func stage(name string, write func(*os.File) error) (staged string, err error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		if mode = info.Mode().Perm(); info.IsDir() {
			return "", failed(name, syscall.EISDIR)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".packgate-*")
	if err != nil {
		return "", failed(name, err)
	}
	if err = cmp.Or(write(f), f.Chmod(mode), f.Close()); err != nil {
		os.Remove(f.Name()) // the error that matters is the first one
	}
	return f.Name(), failed(name, err)
}

// discard removes staged files.
func discard(staged []string) error {
	var errs []error
	for _, name := range staged {
		if name == "" {
			continue
		}
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// File is a file that is written over some time, and takes its place once it is complete.
type File struct {
	*os.File
	name   string // its place
	staged bool   // it stands beside its place until then
}

// Open opens what is to become a file; a device or a pipe as it is.
func Open(name string) (*File, error) {
	at, staged := name, replaceable(name)
	if staged {
		var err error
		if at, err = stage(name, Content(nil)); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(at, os.O_WRONLY, 0)
	if err != nil && staged {
		os.Remove(at) // the error that matters is the first one
	}
	return &File{f, name, staged}, failed(name, err)
}

// Keep closes the file and moves it to its place.
func (f *File) Keep() error {
	err := f.Close()
	if err == nil && f.staged {
		err = os.Rename(f.Name(), f.name)
	}
	if err != nil && f.staged {
		os.Remove(f.Name()) // the error that matters is the first one
	}
	return failed(f.name, err)
}

// Discard closes the file and leaves its place as it was.
func (f *File) Discard() error {
	err := f.Close()
	if f.staged {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

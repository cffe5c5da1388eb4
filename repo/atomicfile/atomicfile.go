// Package atomicfile writes files so that each appears completely or not at all, and several
// of them all or none.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Edit is the new content of one file or, in a [Transaction], its removal.
type Edit struct {
	Name  string               // a path of this machine
	Write func(*os.File) error // writes the new content; nil for a file that is removed
	// From is what a file has that the new content was made from, nil for anything: in a Transaction, the file is not
	// written if it has something else by now.
	From []byte
	// Folder is set, and Write is not, for a whole folder, which only WriteAll and WriteWithin write.
	Folder *Folder
	// Lasting is set for what must be there after a power failure too, such as what cannot be made again. It
	// takes a few milliseconds. WriteWithin and folders do without, and a Transaction always does so.
	Lasting bool
}

// Content returns a function for [Edit.Write] that writes the given bytes.
func Content(src []byte) func(*os.File) error {
	return func(f *os.File) error { _, err := f.Write(src); return err }
}

// ErrChanged says that a file was written to, or replaced, while it was read. Its
// bytes may be of two versions, and nothing is concluded from them.
var ErrChanged = errors.New("it changed while it was read")

// Write writes a file beside its place and moves it there once it is complete. A file that
// was there before passes on its permissions. A device or a pipe is not replaced but written
// into. What is written is on the disk when Write returns.
func Write(name string, write func(*os.File) error) error {
	return WriteAll([]Edit{{Name: name, Write: write, Lasting: true}}, OneByOne)
}

// WriteAll writes files as Write does, and moves none to its place before all are complete. Unlike a
// [Transaction], it does not undo those that were moved when another one cannot be. It gives run, such
// as [OneByOne], a function for each file, and run calls all of them. Devices and pipes are written after
// the files, one by one.
func WriteAll(edits []Edit, run func([]func())) error {
	all := make([]*pending, len(edits))
	err := eachBy(edits, run, func(i int) error {
		all[i] = &pending{Edit: edits[i]}
		return all[i].stage()
	})
	if err != nil {
		return errors.Join(err, discard(all))
	}
	for _, p := range all {
		if p.direct { // which may never end
			if err := writeInto(p.Name, p.Write); err != nil {
				return errors.Join(err, discard(all))
			}
		}
	}
	writing.RLock()
	defer writing.RUnlock()
	for i, p := range all {
		if err := p.keep(); err != nil {
			return errors.Join(err, discard(all[i:]))
		}
	}
	return nil
}

// OneByOne calls functions in their order.
func OneByOne(steps []func()) {
	for _, step := range steps {
		step()
	}
}

// eachBy lets run do something for each of the edits, but for those that begin after one has failed. It
// returns the first error.
func eachBy(edits []Edit, run func([]func()), do func(i int) error) (first error) {
	steps := make([]func(), len(edits))
	for i := range edits {
		steps[i] = func() {
			if first == nil {
				err := do(i) // others may fail meanwhile
				first = cmp.Or(first, err)
			}
		}
	}
	run(steps)
	return first
}

// pending is an edit that waits beside its place.
type pending struct {
	Edit
	direct bool  // it is written into what is there, once all others are complete
	staged *wait // the file beside its place
	folder *stagedFolder
}

func (p *pending) stage() (err error) {
	switch {
	case p.Folder != nil:
		p.folder, err = p.Folder.stageAt(p.Name)
	case replaceable(p.Name):
		p.staged, err = stage(p.Name, p.content)
	default:
		p.direct = true
	}
	return err
}

// content writes the new content of a file.
func (p *pending) content(f *os.File) error {
	err := p.Write(f)
	if err == nil && p.Lasting {
		err = lasting(f)
	}
	return err
}

func (p *pending) keep() error {
	switch {
	case p.folder != nil:
		if err := p.folder.keep(); err != nil {
			return folderFailed(p.Name, err) // and it is still to be discarded
		}
		return folderFailed(p.Name, p.folder.in.Close())
	case p.direct:
		return nil
	}
	err := p.staged.keep(func() error { return os.Rename(p.staged.name, p.Name) })
	if err == nil && p.Lasting {
		err = lastingFolder(filepath.Dir(p.Name))
	}
	return failed(p.Name, err)
}

// replaceable reports whether a new file may take the place of a name: not that of a
// device or a pipe, and not that of anything in /dev, where links such as stdout lead
// to open files. A privileged user would be able to replace those.
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

// failed adds to an error which file could not be written; nil stays nil.
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

// stage writes the new content of a file beside its place. If it fails it leaves nothing behind.
func stage(name string, write func(*os.File) error) (*wait, error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		if mode = info.Mode().Perm(); info.IsDir() {
			return nil, failed(name, syscall.EISDIR)
		}
	}
	var f *os.File
	w, err := besides(func() (remove func() error, err error) {
		f, err = os.CreateTemp(filepath.Dir(name), ".packgate-*")
		return func() error { return os.Remove(f.Name()) }, err
	})
	if err != nil {
		return nil, failed(name, err)
	}
	w.name = f.Name()
	if err := cmp.Or(write(f), f.Chmod(mode), f.Close()); err != nil {
		w.discard() // the error that matters is the first one
		return nil, failed(name, err)
	}
	return w, nil
}

// discard removes what waits beside its place.
func discard(all []*pending) error {
	var errs []error
	for _, p := range all {
		switch {
		case p == nil:
		case p.folder != nil:
			errs = append(errs, p.folder.discard(), p.folder.in.Close())
		case p.staged != nil:
			errs = append(errs, p.staged.discard())
		}
	}
	return errors.Join(errs...)
}

// File is a file that is written over some time, and takes its place once it is complete. The caller of
// Open has to call Keep or Discard, even after Stop.
type File struct {
	*os.File
	name   string // its place
	staged bool   // it is beside its place until then
}

// Open opens a file for writing, which Keep moves to its place. A device or a pipe is written into
// directly.
func Open(name string) (*File, error) {
	at, staged := name, replaceable(name)
	if staged {
		w, err := stage(name, Content(nil))
		if err != nil {
			return nil, err
		}
		at = w.name
		w.forget()
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

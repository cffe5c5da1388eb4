package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// writeWhole writes a file beside its place and moves it there once it is
// complete. A file that was there before leaves its permissions. What is no file,
// such as a device or a pipe, is written into as it is.
func writeWhole(name string, write func(*os.File) error) error {
	if !replaceable(name) {
		return writeInto(name, write)
	}
	staged, err := stage(name, write)
	if err != nil {
		return err
	}
	if err := os.Rename(staged, name); err != nil {
		os.Remove(staged) // the error that matters is the first one
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	return nil
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
	if err != nil {
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	return nil
}

// cause strips the operation and the path from an error of the operating system: the
// path may be that of a file beside the one that the user named.
func cause(err error) error {
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
			return "", fmt.Errorf("write %s: %w", name, syscall.EISDIR)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".packgate-*")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, cause(err))
	}
	err = write(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is the first one
		return "", fmt.Errorf("write %s: %w", name, cause(err))
	}
	return f.Name(), nil
}

// newFile is a file that is to be written, and what writes it.
type newFile struct {
	name  string
	write func(*os.File) error
}

// writeAll writes files as writeWhole does, none of them before all are complete.
func writeAll(files []newFile) error {
	staged := make([]string, len(files))
	for i, f := range files {
		if !replaceable(f.name) {
			continue
		}
		var err error
		if staged[i], err = stage(f.name, f.write); err != nil {
			return errors.Join(err, discard(staged))
		}
	}
	for i, f := range files {
		var err error
		if staged[i] == "" {
			err = writeInto(f.name, f.write)
		} else if err = os.Rename(staged[i], f.name); err != nil {
			err = fmt.Errorf("write %s: %w", f.name, cause(err))
		}
		if err != nil {
			return errors.Join(err, discard(staged[i:]))
		}
	}
	return nil
}

// fileEdit is what is to become of one file of a workspace: its new content, or
// nothing where the file is to go.
type fileEdit struct {
	name   string // relative to the root
	source []byte // nil for a file that is removed
}

// verb returns the word for what the edit does.
func (e fileEdit) verb(write, remove string) string {
	if e.source == nil {
		return remove
	}
	return write
}

// write makes all of the edits, or none of them. Every new content stands beside
// its place before the first file is touched, so that what can fail for want of
// room or permission has failed before; and where a file cannot be put in its place
// after all, those before it are put back.
func (w *workspace) write(edits []fileEdit) error {
	_, err := w.replace(edits)
	return err
}

// replace is write, and returns what takes the edits back once they are made.
func (w *workspace) replace(edits []fileEdit) (back func() error, err error) {
	names, staged := make([]string, len(edits)), make([]string, len(edits))
	for i, e := range edits {
		if names[i], err = w.onDisk(e.name); err == nil && e.source != nil {
			staged[i], err = stage(names[i], whole(e.source))
		}
		if err != nil {
			return nil, errors.Join(err, discard(staged))
		}
	}
	var undo []func() error
	back = func() error {
		var errs []error
		for _, one := range slices.Backward(undo) {
			errs = append(errs, one())
		}
		return errors.Join(errs...)
	}
	for i := range edits {
		one, err := put(names[i], staged[i])
		if err != nil {
			return nil, errors.Join(err, back(), discard(staged[i:]))
		}
		undo = append(undo, one)
	}
	return back, nil
}

// onDisk returns where a file of the workspace stands. A link stays one: what it
// leads to is written. Reading has made sure that this is inside of the repository.
func (w *workspace) onDisk(name string) (string, error) {
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return full, nil
	}
	return real, err
}

// put moves a staged file to its place, or removes the file there where nothing is
// staged. It returns what puts the file back as it was.
func put(name, staged string) (back func() error, err error) {
	src, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		back = func() error { return os.Remove(name) }
	case err != nil:
		return nil, err
	default:
		back = func() error { return writeWhole(name, whole(src)) }
	}
	if staged == "" {
		return back, os.Remove(name)
	}
	if err := os.Rename(staged, name); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, cause(err))
	}
	return back, nil
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

// whole writes a content at once.
func whole(src []byte) func(*os.File) error {
	return func(f *os.File) error { _, err := f.Write(src); return err }
}

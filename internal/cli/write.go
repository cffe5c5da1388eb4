package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// writeWhole writes a file beside its place and moves it there once it is
// complete. A file that was there before leaves its permissions.
func writeWhole(name string, write func(*os.File) error) error {
	staged, err := stage(name, write)
	if err != nil {
		return err
	}
	if err := os.Rename(staged, name); err != nil {
		os.Remove(staged) // the error that matters is the first one
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// stage writes the new content of a file beside its place, and returns under which
// name. Nothing is left where it fails.
func stage(name string, write func(*os.File) error) (staged string, err error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".packgate-*")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
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
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return f.Name(), nil
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
	names, staged := make([]string, len(edits)), make([]string, len(edits))
	var err error
	for i, e := range edits {
		if names[i], err = w.onDisk(e.name); err == nil && e.source != nil {
			staged[i], err = stage(names[i], whole(e.source))
		}
		if err != nil {
			return errors.Join(err, discard(staged))
		}
	}
	var undo []func() error
	for i := range edits {
		back, err := put(names[i], staged[i])
		if err == nil {
			undo = append(undo, back)
			continue
		}
		for _, back := range slices.Backward(undo) {
			err = errors.Join(err, back())
		}
		return errors.Join(err, discard(staged[i:]))
	}
	return nil
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
		return nil, fmt.Errorf("write %s: %w", name, err)
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

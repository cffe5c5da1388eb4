// Package repo knows the files of a pack repository: where packs are, what
// is beside them, and what the config and the environment catalogs say. It
// reads files and hands on documents and typed values; it judges nothing.
//
// All reading goes through one root folder, so that no path and no symbolic
// link points outside the repository.
package repo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo/atomicfile"
)

// ErrUse marks what the user can fix: a path that is not there, a repository
// without packs, a config that is not valid. Every other error of this package
// is a failure of the machine or its file system.
var ErrUse = errors.New("wrong use or configuration")

// Problem is an error with its place in a file and what to do about it. It
// matches ErrUse.
type Problem struct {
	Location finding.Location // File alone is set where there is no line
	Message  string
	Hint     string
}

// Error returns file, line and column, and the message.
func (p *Problem) Error() string {
	l := p.Location
	switch {
	case l.File == "":
		return p.Message
	case l.Start.Line == 0:
		return l.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", l.File, l.Start.Line, l.Start.Column, p.Message)
}

// Is reports that a Problem is one of wrong use.
func (p *Problem) Is(target error) bool { return target == ErrUse }

// fileProblem is a problem of a whole file.
func fileProblem(file, message, hint string) *Problem {
	return &Problem{Location: finding.Location{File: file}, Message: message, Hint: hint}
}

// Problemf returns a problem that has no place yet.
func Problemf(hint, format string, args ...any) *Problem {
	return &Problem{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// placed puts a problem at a value, whose path begins the message.
func (p *Problem) placed(at *pack.Node) *Problem {
	p.Location, p.Message = at.Location(), printable(at.KeyedPath())+": "+p.Message
	return p
}

// Files reads the files below one root: a folder of this machine (OpenFiles), or
// any other tree of files, such as that of a commit (FilesOf). Names are relative
// to it, with forward slashes.
type Files struct {
	tree  fs.FS
	close func() error
	// fenced says that the tree is a folder that refuses to be left over a
	// symbolic link.
	fenced bool
	noted  *notes          // of what is read; nil where nobody asks
	ctx    context.Context // ends reading; nil where nothing does
	// Prefix is the path from where the user is to the root; names in documents
	// and messages begin with it.
	Prefix string
	// Revision is the SHA of the commit that the tree is of, empty for the files
	// under review. Documents carry it.
	Revision string
}

// FilesOf returns the files of a tree. Prefix is how the user would name its root
// ("."), and revision the SHA of the commit that it is of, if it is of one. There
// is nothing to close.
func FilesOf(tree fs.FS, prefix, revision string) *Files {
	return &Files{tree: tree, close: func() error { return nil }, Prefix: filepath.ToSlash(prefix), Revision: revision}
}

// Tree returns the files as a file system. What it reads is not held against any
// limit.
func (f *Files) Tree() fs.FS { return f.tree }

// OpenFiles opens the root folder. Prefix is how the user would name it (".",
// "examples/acme-support").
func OpenFiles(dir, prefix string) (*Files, error) {
	info, err := os.Stat(dir)
	switch {
	case absent(err):
		return nil, fileProblem(prefix, "there is no such folder", "name the folder of a pack repository, or of one pack")
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", prefix, err)
	case !info.IsDir():
		return nil, fileProblem(prefix, "this is not a folder", "name the folder of a pack repository, or of one pack")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", prefix, err)
	}
	tree := &rootFS{root: root}
	return &Files{tree: tree, close: tree.Close, fenced: true, Prefix: filepath.ToSlash(prefix)}, nil
}

// Under returns the same files, reading of which ends with a context. Closing either
// closes both.
func (f *Files) Under(ctx context.Context) *Files {
	bound := *f
	bound.ctx = ctx
	return &bound
}

// ended returns why reading has ended, nil where it goes on.
func (f *Files) ended() error {
	if f.ctx == nil || f.ctx.Err() == nil {
		return nil
	}
	return context.Cause(f.ctx)
}

// Close releases the root folder.
func (f *Files) Close() error { return f.close() }

// Show returns the name as messages show it.
func (f *Files) Show(name string) string { return path.Join(f.Prefix, name) }

// Exists reports whether there is something of that name, be it a link that
// leads nowhere: reading it says what is wrong. The error is for what could not be
// looked at, of which nobody knows whether it is there.
func (f *Files) Exists(name string) (bool, error) {
	_, err := fs.Lstat(f.tree, name)
	if err == nil || absent(err) || errors.Is(err, fs.ErrInvalid) || f.escapes(err) {
		return err == nil, nil // what is read over a link that leads out is refused
	}
	return false, fmt.Errorf("look for %s: %w", f.Show(name), atomicfile.Cause(err))
}

// read returns the bytes and size of a regular file; no bytes where it is larger
// than most. The error is a *Problem where the name is not a regular file or leads
// out of the root.
func (f *Files) read(name string, most int64) (src []byte, size int64, err error) {
	if err := cmp.Or(f.ended(), f.inside(name)); err != nil {
		return nil, 0, err
	}
	src, size, err = readWhole(f.tree, path.Clean(name), most)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", f.Show(name), atomicfile.Cause(err))
	}
	if size <= most {
		f.noted.add(name, src)
	}
	return src, size, nil
}

// readWhole reads a regular file of a tree, which must not change meanwhile.
func readWhole(tree fs.FS, name string, most int64) (src []byte, size int64, err error) {
	file, err := tree.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close() // only read from
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular(): // it was when it was looked at
		return nil, 0, atomicfile.ErrChanged
	case info.Size() > most:
		return nil, info.Size(), nil
	}
	read := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err = read.ReadFrom(io.LimitReader(file, most+1)); err != nil {
		return nil, 0, err
	}
	src = read.Bytes()
	after, err := file.Stat()
	if size = int64(len(src)); err == nil && (size != info.Size() || after.Size() != size || !after.ModTime().Equal(info.ModTime())) {
		err = atomicfile.ErrChanged
	}
	return src, size, err
}

// within is read for a file that must not be larger: what says what it is, and hint
// what to do about one that is.
func (f *Files) within(name string, most int64, what, hint string) ([]byte, error) {
	src, size, err := f.read(name, most)
	if err == nil && size > most {
		err = tooLarge(f.Show(name), what, size, most, hint)
	}
	return src, err
}

func tooLarge(file, what string, size, most int64, hint string) error {
	return fileProblem(file, fmt.Sprintf("the %s has %d bytes, more than the limit of %d", what, size, most), hint)
}

// inside refuses what is not a regular file below the root. A symbolic link is
// followed only as long as it stays inside.
func (f *Files) inside(name string) error {
	problem := func(message, hint string) error { return fileProblem(f.Show(name), message, hint) }
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return problem("this path points outside the repository", "name a file below "+f.Show("."))
	}
	name = path.Clean(name) // which is all that a tree takes
	info, err := fs.Lstat(f.tree, name)
	if absent(err) {
		return problem("there is no such file", "name a file that exists, or remove its name")
	}
	if f.escapes(err) {
		return problem("this path points outside the repository through a symbolic link", "replace the link by the folder itself")
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Show(name), atomicfile.Cause(err))
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if !info.Mode().IsRegular() {
		info, err = fs.Stat(f.tree, name)
	}
	switch {
	case err != nil && link && f.nowhere(err):
		return problem("this symbolic link points to nothing inside the repository", "replace it by the file itself")
	case absent(err): // it went away between two looks
		return problem("there is no such file", "name a file that exists, or remove its name")
	case err != nil:
		return fmt.Errorf("read %s: %w", f.Show(name), atomicfile.Cause(err))
	case !info.Mode().IsRegular():
		return problem("this is not a regular file", "name a file, and no folder, pipe or device")
	}
	return nil
}

// absent reports whether an error says that there is nothing of a name.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// NotThere reports whether an error of the operating system says that there can be
// nothing of a name, be it too long or a ring of links.
func NotThere(err error) bool {
	return absent(err) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENAMETOOLONG)
}

// escapes reports whether an error is the folder's own refusal to be left. Every
// other error on a file in it comes from the operating system.
func (f *Files) escapes(err error) bool {
	var system syscall.Errno
	return f.fenced && err != nil && !errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid)
}

// nowhere reports whether an error on following a symbolic link says that it leads
// to nothing that could be read. Every other one leaves open where it leads.
func (f *Files) nowhere(err error) bool {
	return NotThere(err) || errors.Is(err, fs.ErrInvalid) || f.escapes(err)
}

// Document reads one JSON file. A file beyond the size limit is not loaded; the
// fault that says so is returned like any other.
func (f *Files) Document(name string, limits pack.Limits) (*pack.Document, []pack.Fault, error) {
	src, size, err := f.read(name, int64(limits.MaxBytes))
	if err != nil {
		return nil, nil, err
	}
	var d *pack.Document
	var faults []pack.Fault
	if size > int64(limits.MaxBytes) {
		d, faults = pack.TooLarge(f.Show(name), size, limits)
	} else {
		d, faults = pack.Read(f.Show(name), src, limits)
	}
	d.Revision = f.Revision
	for i := range faults {
		faults[i].Location.Revision = f.Revision
		for j := range faults[i].Related {
			faults[i].Related[j].Location.Revision = f.Revision
		}
	}
	return d, faults, nil
}

package repo

import (
	"io/fs"
	"os"
	"syscall"
)

// rootFS is a folder as a tree of files that cannot be left. It differs from that
// of os.Root in one thing: opening a name never waits. A named pipe that takes the
// place of a file after the file was looked at would else hold the program until
// somebody writes into it.
type rootFS struct{ root *os.Root }

func (r rootFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// ReadDir lists a folder, sorted by name.
func (r rootFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.root.FS(), name) }

// Stat describes what a name leads to.
func (r rootFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.root.FS(), name) }

// Lstat describes an entry, be it a symbolic link.
func (r rootFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.root.FS(), name) }

// ReadLink returns where a symbolic link leads.
func (r rootFS) ReadLink(name string) (string, error) { return fs.ReadLink(r.root.FS(), name) }

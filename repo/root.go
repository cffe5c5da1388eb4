package repo

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// mostFolders is how many folders a tree keeps open: those of the packs that are read at a time,
// which are as many as there are processors, and those above them.
func mostFolders() int { return min(6*runtime.GOMAXPROCS(0), 256) }

// rootFS is a folder as a tree of files that cannot be left. It differs from that
// of os.Root in two things. Opening a name never waits: a named pipe that takes the
// place of a file after the file was looked at would else hold the program until
// somebody writes into it. And the folders that files were last looked for in stay open, for
// finding the way to each file by itself is more work than reading it.
type rootFS struct {
	root    *os.Root
	lock    sync.Mutex
	folders []folder // those used last at the end
}

// folder is one that is open.
type folder struct {
	name string
	root *os.Root
}

func (r *rootFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if in, base := r.in(name); in != nil {
		if file, err := in.OpenFile(base, flags, 0); err == nil {
			return file, nil
		}
	}
	return r.root.OpenFile(name, flags, 0)
}

// in returns the open folder of a file, with the name that the file has there; nil where the
// way leads from the root. What cannot be found so is looked for on that way, which says what is
// wrong, and where a link leads that points out of the folder.
func (r *rootFS) in(name string) (*os.Root, string) {
	dir, base := path.Split(name)
	if dir == "" || !fs.ValidPath(name) {
		return nil, ""
	}
	return r.folder(path.Clean(dir)), base
}

// folder returns a folder that is open, or is from now on; nil for the root, and where it cannot be opened.
func (r *rootFS) folder(dir string) *os.Root {
	if dir == "." || !fs.ValidPath(dir) {
		return nil
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.open(dir)
}

// open is folder for who holds the lock. A folder is opened from the one that it is in, unless a link
// leads out of that.
func (r *rootFS) open(dir string) *os.Root {
	i := slices.IndexFunc(r.folders, func(f folder) bool { return f.name == dir })
	if i >= 0 {
		f := r.folders[i]
		r.folders = append(slices.Delete(r.folders, i, i+1), f)
		return f.root
	}
	var opened *os.Root
	err := fs.ErrNotExist
	if above, base := path.Split(dir); above != "" {
		if in := r.open(path.Clean(above)); in != nil {
			opened, err = in.OpenRoot(base)
		}
	}
	if err != nil {
		opened, err = r.root.OpenRoot(dir)
	}
	if err != nil {
		return nil
	}
	if len(r.folders) >= mostFolders() {
		_ = r.folders[0].root.Close() // it was only read from
		r.folders = slices.Delete(r.folders, 0, 1)
	}
	r.folders = append(r.folders, folder{dir, opened})
	return opened
}

// Close closes the folder, and all that are open in it.
func (r *rootFS) Close() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, f := range r.folders {
		_ = f.root.Close() // it was only read from
	}
	r.folders = nil
	return r.root.Close()
}

// ReadDir lists a folder, sorted by name.
func (r *rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if in := r.folder(name); in != nil {
		if entries, err := fs.ReadDir(in.FS(), "."); err == nil {
			return entries, nil
		}
	}
	return fs.ReadDir(r.root.FS(), name)
}

// Stat describes what a name leads to.
func (r *rootFS) Stat(name string) (fs.FileInfo, error) {
	if in, base := r.in(name); in != nil {
		if info, err := in.Stat(base); err == nil {
			return info, nil
		}
	}
	return fs.Stat(r.root.FS(), name)
}

// Lstat describes an entry, be it a symbolic link.
func (r *rootFS) Lstat(name string) (fs.FileInfo, error) {
	if in, base := r.in(name); in != nil {
		if info, err := in.Lstat(base); err == nil {
			return info, nil
		}
	}
	return fs.Lstat(r.root.FS(), name)
}

// ReadLink returns where a symbolic link leads.
func (r *rootFS) ReadLink(name string) (string, error) { return fs.ReadLink(r.root.FS(), name) }

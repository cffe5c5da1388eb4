package github

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// FS returns the files of the tree as a file system, so that whatever reads files
// can read those of a commit. Symbolic links are followed inside the repository; to open
// one that leads elsewhere, or a submodule, is a *NotFileError. Nothing has a time.
//
// The content of a file is unpacked when it is first read, and its size known
// before, so that a reader can refuse one that is too large.
func (t *Tree) FS() fs.FS { return treeFS{t} }

type treeFS struct{ tree *Tree }

// Open opens a file or a folder. Errors are *fs.PathError.
func (f treeFS) Open(name string) (fs.File, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file, nil
}

// Lstat describes an entry, be it a symbolic link.
func (f treeFS) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.info(name, false)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info, nil
}

// Stat describes what a name leads to.
func (f treeFS) Stat(name string) (fs.FileInfo, error) {
	info, err := f.info(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info, nil
}

// ReadLink returns where a symbolic link leads.
func (f treeFS) ReadLink(name string) (string, error) {
	info, err := f.info(name, false)
	if err == nil && info.kind != KindSymlink {
		err = fs.ErrInvalid
	}
	target := ""
	if err == nil {
		f.tree.store.Lock()
		defer f.tree.store.Unlock()
		target, err = f.tree.target(info.entry)
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target, nil
}

func (f treeFS) open(name string) (fs.File, error) {
	info, err := f.info(name, true)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		entries, err := f.entries(name)
		return &treeFolder{treeInfo: info, files: f, path: name, entries: entries}, err
	case !info.Mode().IsRegular():
		return nil, &NotFileError{Path: name, At: name, Kind: info.kind}
	}
	return &treeFile{treeInfo: info, tree: f.tree}, nil
}

// info describes an entry, or what it leads to where it is followed.
func (f treeFS) info(name string, follow bool) (treeInfo, error) {
	if !fs.ValidPath(name) {
		return treeInfo{}, fs.ErrInvalid
	}
	f.tree.store.Lock()
	defer f.tree.store.Unlock()
	at, err := f.tree.locate(name, follow)
	if err != nil {
		return treeInfo{}, err
	}
	info := treeInfo{name: path.Base(name), kind: kindOf(at.entry.Mode), entry: at.entry}
	if info.kind != KindFile {
		return info, nil
	}
	if info.size, err = f.tree.size(info.entry.Hash); err != nil {
		return info, f.tree.unreadable(name, err)
	}
	return info, nil
}

// entries returns what a folder holds, sorted by name.
func (f treeFS) entries(folder string) ([]treeInfo, error) {
	f.tree.store.Lock()
	defer f.tree.store.Unlock()
	level, err := f.tree.folder(folder)
	if err != nil {
		return nil, err
	}
	infos := make([]treeInfo, len(level.Entries))
	for i, e := range level.Entries {
		if oddName(e.Name) {
			return nil, f.tree.unreadable(folder, fmt.Errorf("the tree has an entry named %q", e.Name))
		}
		infos[i] = treeInfo{name: e.Name, kind: kindOf(e.Mode), entry: e}
	}
	slices.SortFunc(infos, func(a, b treeInfo) int { return strings.Compare(a.name, b.name) })
	return infos, nil
}

// treeInfo describes an entry of a tree.
type treeInfo struct {
	name  string
	kind  Kind
	entry object.TreeEntry
	size  int64
}

func (i treeInfo) Name() string       { return i.name }
func (i treeInfo) Size() int64        { return i.size }
func (i treeInfo) ModTime() time.Time { return time.Time{} }
func (i treeInfo) IsDir() bool        { return i.kind == KindDirectory }
func (i treeInfo) Sys() any           { return nil }
func (i treeInfo) Type() fs.FileMode  { return i.Mode().Type() }

func (i treeInfo) Mode() fs.FileMode {
	switch i.kind {
	case KindDirectory:
		return fs.ModeDir | 0o555
	case KindSymlink:
		return fs.ModeSymlink | 0o444
	case KindSubmodule:
		return fs.ModeIrregular | 0o444
	}
	return 0o444
}

// Stat returns the description itself.
func (i treeInfo) Stat() (fs.FileInfo, error) { return i, nil }

// Close does nothing: there is nothing to release.
func (i treeInfo) Close() error { return nil }

// treeFile is a file of a tree that is open for reading.
type treeFile struct {
	treeInfo
	tree    *Tree
	content io.Reader // nil until it is first read
}

func (f *treeFile) Read(p []byte) (int, error) {
	if f.content == nil {
		f.tree.store.Lock()
		defer f.tree.store.Unlock()
		src, err := f.tree.content(f.entry.Hash, f.size)
		if err != nil {
			return 0, f.tree.unreadable(f.name, err)
		}
		f.content = bytes.NewReader(src)
	}
	return f.content.Read(p)
}

// treeFolder is a folder of a tree that is open for reading.
type treeFolder struct {
	treeInfo
	files   treeFS
	path    string
	entries []treeInfo
	read    int
}

// treeEntry is an entry of a folder that is listed. Its size is looked up when it
// is asked for.
type treeEntry struct {
	treeInfo
	files  treeFS
	folder string
}

// Info describes the entry in full.
func (e treeEntry) Info() (fs.FileInfo, error) { return e.files.Lstat(path.Join(e.folder, e.name)) }

func (f *treeFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: errors.New("is a folder")}
}

// ReadDir returns the next n entries, or all where n is not positive.
func (f *treeFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := f.entries[f.read:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	f.read += len(rest)
	list := make([]fs.DirEntry, len(rest))
	for i, e := range rest {
		list[i] = treeEntry{e, f.files, f.path}
	}
	return list, nil
}

package lsp

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// unsaved is a tree of files with the texts of open documents over it. Their names are
// relative to the root of the tree.
type unsaved struct {
	fs.FS
	texts map[string]string
}

// Open opens a document that is open in the editor, or else a file of the tree.
func (u unsaved) Open(name string) (fs.File, error) {
	if src, ok := u.texts[name]; ok {
		return &openText{Reader: *bytes.NewReader([]byte(src)), info: textInfo{path.Base(name), len(src)}}, nil
	}
	file, err := u.FS.Open(name)
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(u.texts)), func(open string) bool { return path.Dir(open) == name }) {
		return file, err
	}
	entries, err := u.ReadDir(name)
	return &openFolder{File: file, entries: entries}, err
}

// Stat describes a name. A document that was never saved is a file like any other.
func (u unsaved) Stat(name string) (fs.FileInfo, error) {
	if src, ok := u.texts[name]; ok {
		return textInfo{path.Base(name), len(src)}, nil
	}
	return fs.Stat(u.FS, name)
}

// Lstat describes an entry.
func (u unsaved) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := u.texts[name]; ok {
		return u.Stat(name)
	}
	return fs.Lstat(u.FS, name)
}

// ReadLink returns where a symbolic link of the tree leads.
func (u unsaved) ReadLink(name string) (string, error) { return fs.ReadLink(u.FS, name) }

// ReadDir lists a folder, sorted by name, with the documents that were never saved.
func (u unsaved) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(u.FS, name)
	for open := range u.texts {
		if path.Dir(open) != name {
			continue
		}
		entry := fs.FileInfoToDirEntry(textInfo{path.Base(open), len(u.texts[open])})
		at := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == entry.Name() })
		if at < 0 {
			entries = append(entries, entry)
		} else {
			entries[at] = entry
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// openText is the text of a document as a file that is open.
type openText struct {
	bytes.Reader
	info textInfo
}

// Stat describes the document.
func (o *openText) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openText) Close() error { return nil }

// openFolder is a folder that is open, with the documents that were never saved.
type openFolder struct {
	fs.File
	entries []fs.DirEntry // that were not returned yet
}

// ReadDir returns the next entries, at most n of them where n is above 0.
func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(o.entries)
	} else if len(o.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(o.entries))
	next := o.entries[:n:n]
	o.entries = o.entries[n:]
	return next, nil
}

type textInfo struct {
	name string
	size int
}

func (i textInfo) Name() string       { return i.name }
func (i textInfo) Size() int64        { return int64(i.size) }
func (i textInfo) Mode() fs.FileMode  { return 0o644 }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) IsDir() bool        { return false }
func (i textInfo) Sys() any           { return nil }

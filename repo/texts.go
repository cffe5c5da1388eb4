package repo

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

// WithTexts returns a tree of files in which those of some names have another content,
// or are there at all. The names are relative to the root of the tree; the folders of new
// files have to be in it.
func WithTexts(tree fs.FS, texts map[string]string) fs.FS { return withTexts{tree, texts} }

type withTexts struct {
	fs.FS
	texts map[string]string
}

// Open opens one of the texts, or else a file of the tree.
func (u withTexts) Open(name string) (fs.File, error) {
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

// Stat describes a name. A text is a file like any other.
func (u withTexts) Stat(name string) (fs.FileInfo, error) {
	if src, ok := u.texts[name]; ok {
		return textInfo{path.Base(name), len(src)}, nil
	}
	return fs.Stat(u.FS, name)
}

// Lstat describes an entry.
func (u withTexts) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := u.texts[name]; ok {
		return u.Stat(name)
	}
	return fs.Lstat(u.FS, name)
}

// ReadLink returns where a symbolic link of the tree leads.
func (u withTexts) ReadLink(name string) (string, error) { return fs.ReadLink(u.FS, name) }

// ReadDir lists a folder, sorted by name, with the texts that are in it.
func (u withTexts) ReadDir(name string) ([]fs.DirEntry, error) {
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

// openText is a text as a file that is open.
type openText struct {
	bytes.Reader
	info textInfo
}

// Stat describes the text.
func (o *openText) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openText) Close() error { return nil }

// openFolder is a folder that is open, with the texts that are in it.
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

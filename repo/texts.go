package repo

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// WithTexts returns a tree of files in which those of some names have another content,
// or are there at all, with the folders that they are in. The names are relative to the root
// of the tree.
func WithTexts(tree fs.FS, texts map[string]string) fs.FS { return withTexts{tree, texts} }

type withTexts struct {
	fs.FS
	texts map[string]string
}

// below returns the names of the texts that are somewhere below a folder, relative to it.
func (u withTexts) below(folder string) (names []string) {
	for name := range u.texts {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			names = append(names, rest)
		} else if folder == "." {
			names = append(names, name)
		}
	}
	return names
}

// Open opens one of the texts, or else a file of the tree.
func (u withTexts) Open(name string) (fs.File, error) {
	if src, ok := u.texts[name]; ok {
		return &openText{Reader: *bytes.NewReader([]byte(src)), info: textInfo{path.Base(name), len(src), 0o644}}, nil
	}
	file, err := u.FS.Open(name)
	if len(u.below(name)) == 0 {
		return file, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		file = &openText{info: folderInfo(name)}
	} else if err != nil {
		return nil, err
	}
	entries, err := u.ReadDir(name)
	return &openFolder{File: file, entries: entries}, err
}

// Stat describes a name. A text is a file like any other.
func (u withTexts) Stat(name string) (fs.FileInfo, error) { return u.describe(name, fs.Stat) }

// Lstat describes an entry.
func (u withTexts) Lstat(name string) (fs.FileInfo, error) { return u.describe(name, fs.Lstat) }

func (u withTexts) describe(name string, of func(fs.FS, string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	if src, ok := u.texts[name]; ok {
		return textInfo{path.Base(name), len(src), 0o644}, nil
	}
	info, err := of(u.FS, name)
	if errors.Is(err, fs.ErrNotExist) && len(u.below(name)) > 0 {
		return folderInfo(name), nil
	}
	return info, err
}

// ReadLink returns where a symbolic link of the tree leads.
func (u withTexts) ReadLink(name string) (string, error) { return fs.ReadLink(u.FS, name) }

// ReadDir lists a folder, sorted by name, with the texts and the folders of texts that are in it.
func (u withTexts) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(u.FS, name)
	names := u.below(name)
	if errors.Is(err, fs.ErrNotExist) && len(names) > 0 {
		err = nil
	}
	for _, rest := range names {
		first, _, deeper := strings.Cut(rest, "/")
		entry := fs.FileInfoToDirEntry(folderInfo(first))
		if !deeper {
			entry = fs.FileInfoToDirEntry(textInfo{first, len(u.texts[path.Join(name, first)]), 0o644})
		}
		at := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == first })
		if at < 0 {
			entries = append(entries, entry)
		} else if !deeper {
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
	mode fs.FileMode
}

func folderInfo(name string) textInfo { return textInfo{path.Base(name), 0, fs.ModeDir | 0o755} }

func (i textInfo) Name() string       { return i.name }
func (i textInfo) Size() int64        { return int64(i.size) }
func (i textInfo) Mode() fs.FileMode  { return i.mode }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) IsDir() bool        { return i.mode.IsDir() }
func (i textInfo) Sys() any           { return nil }

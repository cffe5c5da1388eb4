package github

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Kind says what a path of a tree is.
type Kind string

// The kinds of entries. Only regular files have content that is read.
const (
	KindFile      Kind = "file"
	KindDirectory Kind = "directory"
	KindSymlink   Kind = "symbolic link"
	KindSubmodule Kind = "submodule"
)

// Entry is one path of a tree.
type Entry struct {
	Path string // the repository path
	Real string // the repository path without symbolic links
	Kind Kind   // KindFile, KindSymlink or KindSubmodule; directories are not listed
	ID   string // the SHA of the content (of the commit, for a submodule). Equal IDs mean equal content.
}

// NotFileError says that a path exists and is not a regular file, or that it leads
// through a submodule, which is another repository, or over a symbolic link to nothing
// inside the repository. A link that stays inside is followed.
type NotFileError struct {
	Path, At string // the repository path that was asked for; At is the part of it that is not a regular file, often the whole
	Kind     Kind   // what was found at At
}

// Error returns what was found and what was wanted.
func (e *NotFileError) Error() string {
	return fmt.Sprintf("%q is a %s, wanted a regular file for %q", e.At, e.Kind, e.Path)
}

// Is reports that what was asked for is no name of a file, which is not the same as
// that it could not be read.
func (e *NotFileError) Is(target error) bool { return target == fs.ErrInvalid }

// Tree is the tree of files of one commit. It may be used by several
// goroutines.
type Tree struct {
	store   *store
	commit  plumbing.Hash
	root    plumbing.Hash
	folders map[plumbing.Hash]*object.Tree // some that were read; most files are looked up in the same few
}

// mostFolders is how many folders of a tree are kept in memory.
const mostFolders = 64

// level returns a folder. The store is locked by who calls.
func (t *Tree) level(hash plumbing.Hash) (*object.Tree, error) {
	if known := t.folders[hash]; known != nil {
		return known, nil
	}
	level, err := object.GetTree(t.store, hash)
	if err != nil {
		return nil, err
	}
	if len(t.folders) >= mostFolders || t.folders == nil {
		t.folders = map[plumbing.Hash]*object.Tree{}
	}
	t.folders[hash] = level
	return level, nil
}

// Tree returns the files of the commit with that full SHA, as Resolve returns
// it. A commit that is not in the store is an error of kind ErrBaseUnreadable.
func (r *Repository) Tree(sha string) (*Tree, error) {
	if !plumbing.IsHash(sha) {
		return nil, &fault.Error{Kind: ErrUnknownRevision, Message: fmt.Sprintf("%q is not a full SHA", sha)}
	}
	return newTree(r.store, plumbing.NewHash(sha))
}

func newTree(s *store, commit plumbing.Hash) (*Tree, error) {
	s.Lock()
	defer s.Unlock()
	c, err := object.GetCommit(s, commit)
	if err != nil {
		return nil, unreadable(commit.String(), err)
	}
	t := &Tree{store: s, commit: commit, root: c.TreeHash}
	if _, err := object.GetTree(s, c.TreeHash); err != nil {
		return nil, unreadable(commit.String(), err)
	}
	return t, nil
}

// Parent returns the files of the commit's first parent; nil where it has none. The
// error wraps plumbing.ErrObjectNotFound where the clone has no more of the history.
func (t *Tree) Parent() (*Tree, error) {
	t.store.Lock()
	c, err := object.GetCommit(t.store, t.commit)
	t.store.Unlock()
	if err != nil {
		return nil, unreadable(t.SHA(), err)
	}
	if len(c.ParentHashes) == 0 {
		return nil, nil
	}
	return newTree(t.store, c.ParentHashes[0])
}

// Title returns the first line of the commit's message.
func (t *Tree) Title() (string, error) {
	t.store.Lock()
	defer t.store.Unlock()
	c, err := object.GetCommit(t.store, t.commit)
	if err != nil {
		return "", unreadable(t.SHA(), err)
	}
	title, _, _ := strings.Cut(c.Message, "\n")
	return strings.TrimSpace(title), nil
}

// Time returns when the commit was made, as it says itself.
func (t *Tree) Time() (time.Time, error) {
	t.store.Lock()
	defer t.store.Unlock()
	c, err := object.GetCommit(t.store, t.commit)
	if err != nil {
		return time.Time{}, unreadable(t.SHA(), err)
	}
	return c.Committer.When, nil
}

// SHA returns the full SHA of the commit.
func (t *Tree) SHA() string { return t.commit.String() }

// ReadFile returns the content of the regular file at a repository path, of at
// most limit bytes. The error wraps fs.ErrNotExist only if the commit truly has
// no such path; it is a *NotFileError for a directory, a symbolic link or a
// submodule on the way, of kind ErrTooLarge above the limit, and of kind
// ErrBaseUnreadable if the content is absent from the store or damaged.
func (t *Tree) ReadFile(name string, limit int64) ([]byte, error) {
	clean, err := cleanPath(name)
	if err != nil {
		return nil, err
	}
	t.store.Lock()
	defer t.store.Unlock()
	entry, err := t.find(clean)
	if err != nil {
		return nil, err
	}
	data, err := t.content(entry.Hash, limit)
	var size sizeError
	if errors.As(err, &size) {
		return nil, &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("%q has %d bytes in commit %s, wanted at most %d", clean, int64(size), t.SHA(), limit)}
	}
	if err != nil {
		return nil, t.unreadable(clean, err)
	}
	return data, nil
}

// sizeError is the size, in bytes, of a blob that is larger than its bound.
type sizeError int64

func (e sizeError) Error() string { return fmt.Sprintf("has %d bytes", int64(e)) }

// content reads a whole blob of at most limit bytes. The size is asked for
// first, so that a large blob is not unpacked only to be refused.
func (t *Tree) content(hash plumbing.Hash, limit int64) ([]byte, error) {
	size, err := t.size(hash)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, sizeError(size)
	}
	return t.store.blob(hash)
}

func (t *Tree) size(hash plumbing.Hash) (int64, error) {
	size, err := t.store.EncodedObjectSize(hash)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return size, err
	}
	// It may be borrowed from another repository.
	blob, err := object.GetBlob(t.store, hash)
	if err != nil {
		return 0, err
	}
	return blob.Size, nil
}

// find walks down to a regular file.
func (t *Tree) find(name string) (*object.TreeEntry, error) {
	at, err := t.locate(name, true)
	if err != nil {
		return nil, err
	}
	switch kind := kindOf(at.entry.Mode); {
	case at.path == ".":
		return nil, t.notExist(name)
	case kind != KindFile:
		return nil, &NotFileError{Path: name, At: name, Kind: kind}
	}
	return &at.entry, nil
}

// folder walks down to a folder, "." for the root. The error wraps
// fs.ErrNotExist where there is none, a file in its place included.
func (t *Tree) folder(name string) (*object.Tree, error) {
	at, err := t.locate(name, true)
	if err != nil {
		return nil, err
	}
	switch kind := kindOf(at.entry.Mode); kind {
	case KindDirectory:
	case KindSubmodule:
		return nil, &NotFileError{Path: name, At: name, Kind: kind}
	default:
		return nil, t.notExist(name)
	}
	level, err := t.level(at.entry.Hash)
	if err != nil {
		return nil, t.unreadable(name, err)
	}
	return level, nil
}

// walk adds what is in a folder and below it and is kept, all of it where keep is nil.
func (t *Tree) walk(ctx context.Context, hash plumbing.Hash, prefix string, keep func(string, Kind) bool, list *[]Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	level, err := object.GetTree(t.store, hash)
	if err != nil {
		return t.unreadable(prefix, err)
	}
	for _, entry := range level.Entries {
		path, kind := prefix+entry.Name, kindOf(entry.Mode)
		switch {
		case oddName(entry.Name):
			return t.unreadable(path, fmt.Errorf("the tree has an entry named %q", entry.Name))
		case kind == KindDirectory:
			if err := t.walk(ctx, entry.Hash, path+"/", keep, list); err != nil {
				return err
			}
		case keep == nil || keep(path, kind):
			*list = append(*list, Entry{Path: path, Real: path, Kind: kind, ID: entry.Hash.String()})
		}
	}
	return nil
}

// oddName reports whether no file system could have an entry of that name.
func oddName(name string) bool { return name == "." || name == ".." || strings.Contains(name, "/") }

// kindOf maps git's modes; executable files and the group-writable mode of old
// repositories are files.
func kindOf(mode filemode.FileMode) Kind {
	switch mode {
	case filemode.Dir:
		return KindDirectory
	case filemode.Symlink:
		return KindSymlink
	case filemode.Submodule:
		return KindSubmodule
	}
	return KindFile
}

func (t *Tree) notExist(path string) error {
	return fmt.Errorf("%q is not in commit %s: %w", path, t.SHA(), fs.ErrNotExist)
}

// unreadable reports an object that a commit names and the store does not give.
func (t *Tree) unreadable(path string, cause error) error {
	return &fault.Error{
		Kind:    ErrBaseUnreadable,
		Message: fmt.Sprintf("%q of commit %s cannot be read", path, t.SHA()),
		Hint:    deepen,
		Cause:   cause,
	}
}

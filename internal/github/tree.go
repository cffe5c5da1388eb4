package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

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
	Path, At string // the repository path that was asked for; At is the part of it that is no regular file, often the whole
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

// mostLinks is how many symbolic links lead to one entry, and mostFollowed how many
// lead to folders that are listed.
const (
	mostLinks    = 40
	mostFollowed = 1000
	mostTarget   = 4096 // bytes of the path in a link
)

// located is what a path leads to.
type located struct {
	entry object.TreeEntry
	path  string   // without symbolic links
	via   []string // the links on the way
}

// locate walks down to an entry, over the symbolic links that stay inside the repository.
// It looks at each level itself because go-git's own lookups answer "not found" for an
// absent object too. Unless the last entry is followed it may be a link itself.
func (t *Tree) locate(name string, follow bool) (located, error) {
	root := object.TreeEntry{Mode: filemode.Dir, Hash: t.root}
	above, done, todo := []object.TreeEntry{root}, []string{}, strings.Split(name, "/")
	at := located{entry: root, path: "."}
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		here := path.Join(path.Join(done...), part)
		outside := &NotFileError{Path: name, At: here, Kind: KindSymlink}
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(done) == 0:
			return at, outside
		case part == "..":
			above, done = above[:len(above)-1], done[:len(done)-1]
			at.entry, at.path = above[len(above)-1], path.Join(".", path.Join(done...))
			continue
		}
		level, err := t.level(above[len(above)-1].Hash)
		if err != nil {
			return at, t.unreadable(name, err)
		}
		i := slices.IndexFunc(level.Entries, func(e object.TreeEntry) bool { return e.Name == part })
		if i < 0 {
			return at, t.notExist(name)
		}
		entry := level.Entries[i]
		switch kind := kindOf(entry.Mode); {
		case kind == KindSymlink && (follow || len(todo) > 0):
			target, err := t.target(entry)
			if err != nil {
				return at, t.unreadable(name, err)
			}
			if at.via = append(at.via, here); len(at.via) > mostLinks || path.IsAbs(target) || len(target) > mostTarget {
				return at, outside
			}
			todo = append(strings.Split(target, "/"), todo...)
		case kind == KindDirectory:
			above, done = append(above, entry), append(done, part)
			at.entry, at.path = entry, here
		case kind == KindSubmodule && len(todo) > 0:
			return at, &NotFileError{Path: name, At: here, Kind: kind}
		case len(todo) > 0:
			return at, t.notExist(name)
		default:
			at.entry, at.path = entry, here
		}
	}
	return at, nil
}

// target returns the path in a symbolic link. One that is too long leads nowhere.
func (t *Tree) target(link object.TreeEntry) (string, error) {
	src, err := t.content(link.Hash, mostTarget)
	var size sizeError
	if errors.As(err, &size) {
		return "/", nil
	}
	return string(src), err
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

// Link is a symbolic link of a tree.
type Link struct {
	Path   string
	Target string   // the path that it leads to, without links; "" for nothing inside the repository
	Via    []string // the links on the way, itself among them
}

// Links returns the symbolic links of the tree, sorted by path.
func (t *Tree) Links(ctx context.Context) ([]Link, error) {
	t.store.Lock()
	defer t.store.Unlock()
	var entries []Entry
	if err := t.walk(ctx, t.root, "", func(_ string, kind Kind) bool { return kind == KindSymlink }, &entries); err != nil {
		return nil, err
	}
	var links []Link
	for _, e := range entries {
		at, err := t.locate(e.Path, true)
		switch {
		case err == nil:
			links = append(links, Link{e.Path, at.path, at.via})
		case errors.Is(err, ErrBaseUnreadable):
			return nil, err
		default:
			links = append(links, Link{Path: e.Path, Via: at.via})
		}
	}
	slices.SortFunc(links, func(a, b Link) int { return cmp.Compare(a.Path, b.Path) })
	return links, nil
}

// List returns the entries whose repository path match accepts, sorted by path; a nil
// match accepts all. What a symbolic link leads to inside the repository, a file or all
// that is in a folder, is listed by the link's name; a folder above the link is not.
// Links that lead elsewhere and submodules are among the entries, with their kind, and
// nothing below them is.
func (t *Tree) List(ctx context.Context, match func(path string) bool) ([]Entry, error) {
	t.store.Lock()
	defer t.store.Unlock()
	var all, list []Entry
	wanted := func(name string, kind Kind) bool { return kind == KindSymlink || match == nil || match(name) }
	if err := t.walk(ctx, t.root, "", wanted, &all); err != nil {
		return nil, err
	}
	followed := 0
	for i := 0; i < len(all); i++ { // grows by what links lead to
		e := all[i]
		if e.Kind == KindSymlink {
			at, err := t.locate(e.Path, true)
			switch {
			case errors.Is(err, ErrBaseUnreadable):
				return nil, err
			case err == nil && kindOf(at.entry.Mode) != KindDirectory:
				e.Kind, e.ID = kindOf(at.entry.Mode), at.entry.Hash.String()
			case err == nil && !leadsBack(e.Real, at.path):
				if followed++; followed > mostFollowed {
					return nil, &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("commit %s has more than %d symbolic links to folders", t.SHA(), mostFollowed)}
				}
				from := len(all)
				byLink := func(name string) string { return e.Path + strings.TrimPrefix(name, at.path) }
				below := func(name string, kind Kind) bool { return wanted(byLink(name), kind) }
				if err := t.walk(ctx, at.entry.Hash, at.path+"/", below, &all); err != nil {
					return nil, err
				}
				for j := from; j < len(all); j++ {
					all[j].Path = byLink(all[j].Real)
				}
				continue
			}
		}
		if match == nil || match(e.Path) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// leadsBack reports whether a link leads to a folder that it is in.
func leadsBack(link, target string) bool {
	return target == "." || strings.HasPrefix(link, target+"/")
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

package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

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
		entry, err := t.entry(above[len(above)-1].Hash, part, name)
		if err != nil {
			return at, err
		}
		switch kind := kindOf(entry.Mode); {
		case kind == KindSymlink && (follow || len(todo) > 0):
			target, err := t.target(entry)
			if err != nil {
				return at, t.unreadable(name, err)
			}
			if at.via = append(at.via, here); len(at.via) > mostLinks || path.IsAbs(target) {
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

// entry returns what a folder has by a name, on the way to a path.
func (t *Tree) entry(folder plumbing.Hash, name, of string) (object.TreeEntry, error) {
	level, err := t.level(folder)
	if err != nil {
		return object.TreeEntry{}, t.unreadable(of, err)
	}
	i := slices.IndexFunc(level.Entries, func(e object.TreeEntry) bool { return e.Name == name })
	if i < 0 {
		return object.TreeEntry{}, t.notExist(of)
	}
	return level.Entries[i], nil
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

// leadsBack reports whether a link points to a folder that contains it.
func leadsBack(link, target string) bool {
	return target == "." || strings.HasPrefix(link, target+"/")
}

package gating

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/repo"
)

// Place is where a path that a user named leads: the root of the repository
// that it belongs to, and the part of it that was intended (file or folder,
// relative to the root; "." for all).
type Place struct {
	Root, Scope string
	Found       bool // the root has a config or an environments folder
	file        bool // the scope is a file
}

// FindPlace finds the repository of a path: the nearest folder, from the path
// upwards, that has a config or an environments folder; else the path's own
// folder. It does not look beyond the root of a git repository.
func FindPlace(name string) (Place, error) {
	info, err := os.Stat(name)
	if repo.NotThere(err) {
		return Place{}, &repo.Problem{Location: finding.Location{File: name}, Message: "there is no such file or folder", Hint: "name a pack repository, the folder of a pack, or a pack file"}
	}
	if err != nil {
		return Place{}, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return Place{}, err
	}
	start := abs
	if !info.IsDir() {
		start = filepath.Dir(abs)
	}
	root, found, err := Above(start, repo.ConfigName, "environments", ".git")
	if err != nil {
		return Place{}, err
	}
	if found {
		found, err = holds(root, repo.ConfigName, "environments")
	}
	if err != nil {
		return Place{}, err
	}
	if !found {
		root = start
	}
	scope, err := filepath.Rel(root, abs)
	return Place{Root: root, Scope: filepath.ToSlash(scope), Found: found, file: !info.IsDir()}, err
}

// Above returns the nearest folder, from a folder upwards, that has an entry of any of
// the names. Found is false where there is none.
func Above(dir string, names ...string) (folder string, found bool, err error) {
	for {
		if found, err = holds(dir, names...); found || err != nil {
			return dir, found, err
		}
		if dir == filepath.Dir(dir) {
			return "", false, nil
		}
		dir = filepath.Dir(dir)
	}
}

// under puts the place into the repository of a config, whose folder is its
// root. A folder around that root means all of it; a path beside it has nothing
// to do with the config and is refused.
func (p *Place) under(config, name string) error {
	root, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return err
	}
	// Compared without links, since either may have been reached over one.
	from, err := filepath.EvalSymlinks(root)
	if err != nil && !repo.NotThere(err) {
		return err
	}
	if err != nil {
		return &repo.Problem{Location: finding.Location{File: config}, Message: "there is no such file", Hint: "name a config that is there, or leave it out"}
	}
	to, err := filepath.EvalSymlinks(filepath.Join(p.Root, p.Scope))
	if err != nil {
		return err
	}
	scope, err := filepath.Rel(from, to)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(scope) {
		if around, err := filepath.Rel(to, from); err != nil || !filepath.IsLocal(around) {
			return &repo.Problem{
				Message: fmt.Sprintf("%s is not in the repository of the config %s", name, config),
				Hint:    "name a path below the config's folder, or leave out the config",
			}
		}
		scope = "."
	}
	p.Root, p.Scope = root, filepath.ToSlash(scope)
	return nil
}

// holds reports whether a folder has an entry of any of the names. The error is for a
// folder that cannot be looked into.
func holds(dir string, names ...string) (bool, error) {
	for _, name := range names {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil || !repo.NotThere(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// Display returns how messages name the root: relative to the current folder
// where it is at or below it, else in full.
func Display(root string) string {
	here, err := os.Getwd()
	if err != nil {
		return root
	}
	rel, err := filepath.Rel(here, root)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return root
	}
	return rel
}

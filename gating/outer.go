package gating

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/repo"
)

// outer returns the place whose config in the commit gates the packs of a place, and the commit as seen
// from there: the folder of the nearest config above, if the commit has neither a config nor catalogs in
// the place itself. So a change that adds them cannot take a pack out of the repository that gates it.
// Otherwise it is the place itself.
func (c *Commit) outer(at Place) (Place, *Commit, error) {
	if c.has(c.prefix, repo.ConfigName) || c.has(c.prefix, "environments") {
		return at, c, nil
	}
	root, err := filepath.EvalSymlinks(at.Root) // which the prefix leads to
	if err != nil {
		return at, nil, err
	}
	around := *c
	for scope := at.Scope; around.prefix != "."; {
		scope = path.Join(path.Base(around.prefix), scope)
		root, around.prefix = filepath.Dir(root), path.Dir(around.prefix)
		if around.has(around.prefix, repo.ConfigName) {
			around.dir = root
			place := Place{Root: root, Scope: scope, Found: true, file: at.file}
			if gated, err := around.finds(place); err != nil || gated {
				return place, &around, err
			}
			break
		}
	}
	return at, c, nil
}

// has reports whether a folder of the commit has an entry of a name, whatever it is.
func (c *Commit) has(dir, name string) bool {
	_, err := c.Tree.ReadFile(path.Join(dir, name), 0)
	return !errors.Is(err, fs.ErrNotExist)
}

// finds reports whether the config of the commit finds a pack in the scope of a place.
func (c *Commit) finds(at Place) (bool, error) {
	config, err := c.Config(repo.ConfigName, true)
	if errors.Is(err, repo.ErrUse) {
		return true, nil // opening it reports what is wrong with it
	}
	if err != nil {
		return false, err
	}
	files, err := repo.OpenFiles(at.Root, Display(at.Root))
	if err != nil {
		return false, err
	}
	defer files.Close() // only read from
	all, err := files.Find(nil, repo.PackPatterns(config)...)
	if unseen := new(repo.Unseen); err != nil && !errors.As(err, &unseen) {
		return false, err
	}
	return slices.ContainsFunc(all, func(name string) bool { return name == at.Scope || strings.HasPrefix(name, at.Scope+"/") }), nil
}

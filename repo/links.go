package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The bounds of following symbolic links: how many lead to one name, and how many folders
// behind links one search looks into.
const (
	mostLinks  = 40
	mostLinked = 1000
)

// real returns a name without the symbolic links in it. The error is for one that leads to
// nothing inside the repository, and for what could not be looked at.
func (f *Files) real(name string) (string, error) {
	var done []string
	links, todo := 0, strings.Split(name, "/")
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(done) == 0:
			return "", fs.ErrInvalid
		case part == "..":
			done = done[:len(done)-1]
			continue
		}
		here := path.Join(append(slices.Clone(done), part)...)
		info, err := fs.Lstat(f.tree, here)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, part)
			continue
		}
		target, err := fs.ReadLink(f.tree, here)
		if err != nil {
			return "", err
		}
		if links++; links > mostLinks || path.IsAbs(target) {
			return "", fs.ErrInvalid
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return path.Join(".", path.Join(done...)), nil
}

// Unseen says which folders a search could not look into. What it found elsewhere is
// nevertheless there.
type Unseen struct{ Errors []error }

// Error returns what is wrong with each.
func (u *Unseen) Error() string { return errors.Join(u.Errors...).Error() }

// Unwrap returns them.
func (u *Unseen) Unwrap() []error { return u.Errors }

// link reports whether an entry is a link to a folder that is looked into, later. Only a
// pattern that asks for a folder of some name is told that a link leads out: "**" passes by.
func (g *globbing) link(name string, e fs.DirEntry, next []state) (bool, error) {
	if e.Type()&fs.ModeSymlink == 0 || len(next) == 0 {
		return false, nil
	}
	info, err := fs.Stat(g.tree, name)
	switch {
	case g.escapes(err) && slices.ContainsFunc(next, func(s state) bool { return !s[0].anyFolders() }):
		return false, fileProblem(g.Show(name), "this symbolic link points outside the repository", "replace the link by the folder itself")
	case err != nil || !info.IsDir():
		return false, nil
	}
	g.later = append(g.later, linkedFolder{name, next})
	return true, nil
}

// linkedFolder is a folder behind a link that a search came upon.
type linkedFolder struct {
	name   string
	states []state
}

// beyond looks into the folders behind links, once all others were looked into, so that a
// file is found by its own name first. Each is looked into once.
func (g *globbing) beyond() error {
	type visit struct {
		real string
		left *piece
	}
	seen := map[visit]bool{}
	plain := len(g.found)
	for i := 0; i < len(g.later); i++ {
		l := g.later[i]
		real, err := g.real(l.name)
		if err != nil {
			return fmt.Errorf("look into %s: %w", g.Show(l.name), err)
		}
		at, err := g.real(path.Dir(l.name))
		if err != nil {
			return fmt.Errorf("look into %s: %w", g.Show(l.name), err)
		}
		if real == "." || at == real || strings.HasPrefix(at, real+"/") {
			g.wrong = append(g.wrong, fileProblem(g.Show(l.name), "this symbolic link points to a folder that contains it", "remove it, or let it point to another folder"))
			continue
		}
		states := slices.DeleteFunc(slices.Clone(l.states), func(s state) bool {
			v := visit{real, &s[0]}
			defer func() { seen[v] = true }()
			return seen[v]
		})
		if i == mostLinked {
			return Problemf("name the pack files in the config", "%s has more than %d symbolic links to folders", g.Show("."), mostLinked)
		}
		if len(states) > 0 {
			if err := g.folder(l.name, states); err != nil {
				return err
			}
		}
	}
	return g.once(plain)
}

// once leaves out of the files that were found behind links those that were found before:
// a file is the one of its name in a folder, by whichever way that was come to.
func (g *globbing) once(plain int) error {
	if len(g.found) == plain {
		return nil
	}
	known := map[string]bool{}
	kept := g.found[:0:0]
	for i, name := range g.found {
		dir, err := g.real(path.Dir(name))
		if err != nil {
			return fmt.Errorf("look into %s: %w", g.Show(path.Dir(name)), err)
		}
		file := path.Join(dir, path.Base(name))
		if i < plain || !known[file] {
			kept = append(kept, name)
		}
		known[file] = true
	}
	g.found = kept
	return nil
}

// MayHold reports whether a file below a folder may match any of the patterns, all of
// which are valid.
func MayHold(patterns []string, folder string) bool {
	states := []state(NewPatterns(patterns))
	for part := range strings.SplitSeq(folder, "/") {
		if states, _ = step(opened(states), part); len(states) == 0 {
			return false
		}
	}
	return true
}

// Holds reports whether a folder is above a pack file, or has files that belong to it or
// may have: both names are relative to the root.
func Holds(packName, folder string) bool {
	if strings.HasPrefix(packName, folder+"/") {
		return true
	}
	return slices.ContainsFunc(sideKinds, func(k sideKind) bool {
		return path.Dir(k.pattern) != "." && path.Join(path.Dir(packName), path.Dir(k.pattern)) == folder
	})
}

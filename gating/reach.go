package gating

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// mostReached bounds the names by which changed files are reached through links. Beyond it, a change
// concerns every pack.
const mostReached = 100_000

// links returns the symbolic links of the baseline and of the head, by their names relative
// to the workspace.
func (b *Baseline) links(ctx context.Context, head *Commit) ([]github.Link, error) {
	var all []github.Link
	for _, tree := range []*github.Tree{b.Tree, head.Tree} {
		links, err := tree.Links(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, links...)
	}
	return all, nil
}

// reach returns the files of a change and the names by which links lead to them, also through the
// folders above them; all names are those in the git repository. The former target of a link counts
// like its present one. All is set if there are too many names.
func reach(changed []github.Change, links []github.Link) (names map[string]github.ChangeKind, all bool) {
	names = make(map[string]github.ChangeKind, len(changed))
	todo := make([]string, 0, len(changed))
	for _, c := range changed {
		names[c.Path] = c.Kind
		todo = append(todo, c.Path)
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, l := range links {
			by, ok := over(l, name)
			if !ok || names[by] != "" {
				continue
			}
			if len(names) >= mostReached {
				return names, true
			}
			names[by] = github.Modified
			todo = append(todo, by)
		}
	}
	return names, false
}

// over returns the name by which a link leads to a file. It is the link itself if the file is on the
// link's way, or is its target or above it. A link that leads to a folder above itself gives none.
func over(l github.Link, name string) (string, bool) {
	switch {
	case slices.Contains(l.Via, name), l.Target == name, strings.HasPrefix(l.Target, name+"/"):
		return l.Path, true
	case l.Target == "", strings.HasPrefix(l.Path, l.Target+"/"), l.Target == ".":
		return "", false
	}
	rest, ok := strings.CutPrefix(name, l.Target+"/")
	return path.Join(l.Path, rest), ok
}

// touches reports whether the change has a file of a pack, or a link or a submodule that has files of
// it.
func (c *Change) touches(pack string) bool {
	if c.all {
		return true
	}
	for name := range c.names {
		if repo.Belongs(pack, name) || repo.Holds(pack, name) {
			return true
		}
	}
	return false
}

// shared reports whether the change has one of the files that all packs are gated with. Lines of pins
// files are not among them: they are about versions, which are judged by themselves.
func (c *Change) shared(since Progress) bool {
	for name := range c.names {
		if c.onlyLines(name, since) {
			continue
		}
		if c.catalogs(name) || c.w.isTrustedRoot(name) || name == repo.AcceptedName {
			return true
		}
	}
	return c.Config || c.all
}

// onlyLines reports whether a name is that of a pins file in which only lines can have changed: it is
// there and can be read, and so could its earlier version.
func (c *Change) onlyLines(name string, since Progress) bool {
	return repo.IsPins(name) && c.files[name] != github.Deleted && !since.pinsUnread && c.w.unread == nil &&
		slices.ContainsFunc(c.w.Environments, func(e *repo.Environment) bool {
			own, err := repo.PinsName(e.Name())
			return err == nil && own == name && e.PinsFile != nil
		})
}

// catalogs reports whether a name is that of a catalog, or of what leads to one.
func (c *Change) catalogs(name string) bool { return c.w.IsCatalog(name) || c.holdsCatalogs(name) }

// judged returns the first name of the change that gating reads for a pack, present or removed, or for
// a catalog; ok is false if it reads none.
func (c *Change) judged() (name string, ok bool) {
	names := slices.Sorted(maps.Keys(c.names))
	i := slices.IndexFunc(names, func(name string) bool {
		return name != c.config && (c.all || c.w.IsPack(name) || c.catalogs(name) || slices.ContainsFunc(c.w.Packs, func(p string) bool {
			return repo.Belongs(p, name) || repo.Holds(p, name)
		}))
	})
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// brings reports whether a file is part of the change, by itself or in a folder that is a link or a
// submodule.
func (c *Change) brings(name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if c.names[at] != "" {
			return true
		}
	}
	return c.all
}

// brought returns the files and links of the change that could be loaded as a pack: see repo.Files.Loadable. It goes
// into no folder that the change leaves as it is.
func (c *Change) brought(files *repo.Files) (names, links []string, err error) {
	above := map[string]bool{}
	for name := range c.names {
		for at := path.Dir(name); !above[at]; at = path.Dir(at) {
			above[at] = true
		}
	}
	names, links, err = files.Loadable([]string{"."}, func(dir string) bool { return !above[dir] && !c.brings(dir) })
	other := func(name string) bool { return !c.brings(name) }
	return slices.DeleteFunc(names, other), slices.DeleteFunc(links, other), err
}

func (c *Change) holdsCatalogs(folder string) bool {
	patterns := append(pack.Values(c.w.Config.Environments), "environments/*.json", repo.PinsPattern)
	return !strings.Contains(path.Base(folder), ".json") && repo.MayHold(patterns, folder) && c.folder(folder)
}

// folder reports whether a name is a folder of the working tree or a link to one, or cannot be looked
// at, and so may have been one.
func (c *Change) folder(name string) bool {
	info, err := os.Stat(filepath.Join(c.w.Dir, filepath.FromSlash(name)))
	return err != nil || info.IsDir()
}

// submodule returns an error if the working tree lacks the files of a changed submodule and gating may
// read any of them.
func (c *Change) submodule(name string) error {
	may := repo.MayHold(c.w.Patterns, name) || c.holdsCatalogs(name) ||
		slices.ContainsFunc(c.w.Packs, func(p string) bool { return repo.Holds(p, name) })
	if !may {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(c.w.Dir, filepath.FromSlash(name)))
	if err != nil || len(entries) > 0 {
		return err
	}
	return &fault.Error{
		Kind:    github.ErrIncomplete,
		Message: fmt.Sprintf("the submodule %q is part of the change, and its files are not in the working tree", c.w.Files.Show(name)),
		Hint:    "set `submodules: true` on actions/checkout, or run git submodule update --init",
	}
}

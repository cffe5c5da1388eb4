package gating

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// Commit is the files of a git commit, as they are seen from a folder of the repository.
type Commit struct {
	Git  *github.Repository
	Tree *github.Tree
	Ref  string // how the user named it
	dir  string // the folder
	// prefix leads from the root of the git repository to the folder.
	prefix string
}

// Choice chooses a commit of a git repository, and returns its files and what it is called. The tree
// is nil if there is none to choose.
type Choice func(*github.Repository) (tree *github.Tree, ref string, err error)

// Revision chooses the commit that a user named.
func Revision(name string) Choice {
	return found(func(git *github.Repository) (sha, ref string, err error) {
		sha, err = git.Resolve(name)
		return sha, name, err
	})
}

// forkPoint chooses the commit that the work started from.
var forkPoint = found((*github.Repository).ForkPoint)

func found(find func(*github.Repository) (sha, ref string, err error)) Choice {
	return func(git *github.Repository) (*github.Tree, string, error) {
		sha, ref, err := find(git)
		if err != nil {
			return nil, "", err
		}
		tree, err := git.Tree(sha)
		return tree, ref, err
	}
}

// OpenCommit opens a commit of the git repository that a folder is in. The client fetches what a clone
// lacks; it may be nil. The caller closes the commit, which is nil if none was chosen.
func OpenCommit(dir string, client *github.Client, choose Choice) (*Commit, error) {
	git, err := github.OpenWith(dir, client)
	if err != nil {
		return nil, err
	}
	tree, ref, err := choose(git)
	if err != nil || tree == nil {
		return nil, errors.Join(err, git.Close())
	}
	c := &Commit{Git: git, Tree: tree, Ref: ref, dir: dir}
	if c.prefix, err = prefixOf(git, dir); err != nil {
		return nil, errors.Join(err, git.Close())
	}
	return c, nil
}

// prefixOf returns where a folder is in a git repository.
func prefixOf(git *github.Repository, dir string) (string, error) {
	// Both sides without links, since the repository's root is.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(git.Root())
	if err != nil {
		return "", err
	}
	prefix, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(prefix) {
		return "", fmt.Errorf("%s is not inside the git repository %s", dir, root)
	}
	return filepath.ToSlash(prefix), nil
}

// Close releases the repository. The nil commit holds none.
func (c *Commit) Close() error {
	if c == nil {
		return nil
	}
	return c.Git.Close()
}

// Revision returns the commit in the report's form.
func (c *Commit) Revision() *model.Revision {
	if c == nil {
		return nil
	}
	return &model.Revision{Ref: c.Ref, SHA: c.Tree.SHA()}
}

// Path returns the name that a file of the folder has in the git repository.
func (c *Commit) Path(name string) string { return path.Join(c.prefix, name) }

// Relative returns a path of the git repository relative to the folder; ok is
// false where it lies outside.
func (c *Commit) Relative(name string) (string, bool) {
	if c.prefix == "." {
		return name, true
	}
	return strings.CutPrefix(name, c.prefix+"/")
}

// Read returns a file of the folder in the commit, of at most limit bytes; ok is false if it has none of
// that name. A file that is there and cannot be read is an error, and never taken for a missing one.
func (c *Commit) Read(name string, limit int) (src []byte, ok bool, err error) {
	src, err = c.Tree.ReadFile(c.Path(name), int64(limit))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return src, err == nil, err
}

// list returns the entries of the folder and those below it that are wanted, with names
// relative to it.
func (c *Commit) list(ctx context.Context, wanted func(name string) bool) ([]github.Entry, error) {
	entries, err := c.Tree.List(ctx, func(name string) bool {
		name, ok := c.Relative(name)
		return ok && wanted(name)
	})
	for i := range entries {
		entries[i].Path, _ = c.Relative(entries[i].Path)
	}
	return entries, err
}

// maxConfig bounds the config of a commit, in bytes.
const maxConfig = 1 << 20

// Config reads the config of the commit, and returns the default one if it has none. If one is
// required, it is an error that neither the commit nor the working tree has it.
func (c *Commit) Config(name string, required bool) (*repo.Config, error) {
	src, ok, err := c.Read(name, maxConfig)
	if err != nil {
		return nil, err
	}
	if ok {
		config, err := repo.ParseConfig(path.Join(filepath.ToSlash(Display(c.dir)), name), src)
		return config, OfSide("the base", err)
	}
	if required {
		_, err := os.Stat(filepath.Join(c.dir, filepath.FromSlash(name)))
		if repo.NotThere(err) {
			return nil, &repo.Problem{Location: finding.Location{File: name}, Message: "there is no such config, neither in the base nor in the change", Hint: "name it relative to the workspace"}
		}
		if err != nil {
			return nil, err
		}
	}
	return repo.DefaultConfig(), nil
}

// Unit reads a pack of the commit with its side files; name is relative to the
// root of the git repository.
func (c *Commit) Unit(w *Workspace, name string) (*repo.Unit, error) {
	root := c.prefix
	short, ok := c.Relative(name)
	if !ok { // the pack repository was elsewhere then
		root, short = path.Dir(name), path.Base(name)
	}
	files, err := c.files(root, w.Files.Prefix)
	if err != nil {
		return nil, err
	}
	return files.Unit(short, w.Config)
}

// files returns the files below a folder of the git repository. Messages name them as if
// the folder had the prefix.
func (c *Commit) files(root, prefix string) (*repo.Files, error) {
	tree, err := fs.Sub(c.Tree.FS(), root)
	if err != nil {
		return nil, err
	}
	return repo.FilesOf(tree, prefix, c.Tree.SHA()), nil
}

// OfSide puts the side, such as "the base", in front of the message of an error, so that it is clear
// which of two versions the error is about; nil stays nil.
func OfSide(side string, err error) error {
	if err == nil {
		return nil
	}
	var many repo.Problems
	var one *repo.Problem
	if errors.As(err, &one) {
		many = repo.Problems{one}
	} else if !errors.As(err, &many) {
		return fmt.Errorf("%s: %w", side, err)
	}
	out := make(repo.Problems, len(many))
	for i, p := range many {
		out[i] = &repo.Problem{Location: p.Location, Message: side + ": " + p.Message, Hint: p.Hint}
	}
	return out
}

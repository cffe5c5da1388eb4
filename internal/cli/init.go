package cli

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/scaffold"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

type initOptions struct {
	packID, tenant, owner, branch string
	matrix, force, dryRun         bool
}

func newInit(env *Env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init [DIR]", Short: "begin a pack repository, or put the gate into one that is there",
		Long: `Writes what a pack repository needs: the config, an environment catalog, a small
pack with its golden cases and their snapshots, the workflows (the gate, its second
stage for forks, publishing with a nightly audit), and lines for git, CODEOWNERS and
pre-commit. The result passes packgate check. DIR is the repository; the current
folder by default. In a folder of a git repository the workflows go to the root of
it, where GitHub looks for them.

Where packs are there already, no pack and no catalog are written; where another
workflow runs packgate, no workflow. A file that is there and differs is never
overwritten without --force: then nothing is written at all. The config,
CODEOWNERS, .gitattributes, .gitignore and .pre-commit-config.yaml are left as they
are even then, and the lines that the last four lack are printed.

Exit status: 0 the files are there, 2 a file is in the way or a flag is wrong; 3 as
everywhere.`,
		Example: "  packgate init\n  packgate init acme-packs --pack-id ctxpack.support --owner @acme/packs\n  packgate init --dry-run",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wants("DIR")(c, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return initRepository(env, append(args, ".")[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.packID, "pack-id", "", "`pack_id` of the first pack (default: ctxpack. and the name of the folder)")
	f.StringVar(&o.tenant, "tenant", "", "`tenant_id` of the first pack (default: tenant_ and the name of the pack)")
	f.StringVar(&o.owner, "owner", "", "`owner` for CODEOWNERS of what the gate decides by, @org/team or @login (default: lines to fill in)")
	f.StringVar(&o.branch, "branch", "", "default `branch`, on which the workflows run (default: that of origin, else main)")
	f.BoolVar(&o.matrix, "matrix", false, "gate in several jobs, for a repository with many packs")
	f.BoolVar(&o.force, "force", false, "overwrite files that are there and differ")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be written, and write nothing")
	return c
}

// initialising is one run of init.
type initialising struct {
	env     *Env
	options initOptions
	dir     string // the pack repository
	root    string // the git repository that it is in, or dir itself
	git     bool   // there is a git repository
	made    scaffold.Options
	lines   []string
}

func initRepository(env *Env, dir string, o initOptions) error {
	i, err := newInitialising(env, dir, o)
	if err != nil {
		return err
	}
	if err := i.choose(); err != nil {
		return err
	}
	files, err := scaffold.Files(i.made)
	var refused *scaffold.Refused
	if errors.As(err, &refused) {
		return &repo.Problem{Message: refused.Message, Hint: refused.Hint}
	}
	if err != nil {
		return err
	}
	edits, err := i.compare(files)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if _, err := gating.Replace(i.root, edits); err != nil {
			return err
		}
	}
	i.next(len(edits))
	_, err = fmt.Fprintln(env.Stdout, render.Inert(strings.Join(i.lines, "\n")))
	return err
}

// newInitialising finds out where the files go. The folder itself need not be there.
func newInitialising(env *Env, dir string, o initOptions) (*initialising, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return nil, &repo.Problem{Message: fmt.Sprintf("%q is no folder", dir), Hint: "name the folder of a repository, or one that is to be made"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	i := &initialising{env: env, options: o, dir: abs, root: abs}
	root, found, err := gating.Above(abs, ".git")
	if err != nil {
		return nil, err
	}
	if found {
		i.root, i.git = root, true
	}
	folder, err := filepath.Rel(i.root, abs)
	if err != nil {
		return nil, err
	}
	if folder != "." {
		i.made.Folder = filepath.ToSlash(folder)
	}
	return i, nil
}

// show returns how messages name a file of the git repository.
func (i *initialising) show(name string) string { return path.Join(gating.Display(i.root), name) }

// showPack returns how messages name a file of the pack repository.
func (i *initialising) showPack(name string) string { return path.Join(gating.Display(i.dir), name) }

func (i *initialising) say(format string, args ...any) {
	i.lines = append(i.lines, render.Visible(fmt.Sprintf(format, args...)))
}

// problem is a file that is in the way.
func (i *initialising) problem(name, message, hint string) *repo.Problem {
	return &repo.Problem{Location: finding.Location{File: i.show(name)}, Message: message, Hint: hint}
}

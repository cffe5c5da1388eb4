package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/scaffold"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

type initOptions struct {
	packID, tenant, owner, branch string
	matrix, freshness             bool
	force, dryRun                 bool
}

func newInit(env *Env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init [DIR]", Short: "set up a pack repository, or add the gate to an existing one",
		Long: `Writes what a pack repository needs: the config, an environment catalog, a small pack
with its golden cases and their snapshots, the workflows (the gate, its second stage for
forks, publishing, a nightly audit, and timestamps if the config has publish.freshness),
and lines for git, CODEOWNERS and pre-commit. The result passes packgate check. DIR is
the repository, by default the current folder. If DIR is a folder of a git repository,
the workflows are written to the root of the repository, where GitHub looks for them.

If there are packs already, no pack is written, and a catalog for each environment that
they name, with what they name in it, unless there is one. Such a catalog is unconfirmed:
nothing is checked against it until a person has read it and removed the mark. If another
workflow runs packgate, no workflow is written. A file that exists and differs is never overwritten
without --force: if there is one, nothing is written. The config, CODEOWNERS,
.gitattributes, .gitignore and .pre-commit-config.yaml are not changed even with --force;
the lines that the last four lack are printed.

Exit status: 0 the files are there, 2 a file is in the way or a flag is wrong; 3 as for
all commands.`,
		Example: "  packgate init\n  packgate init acme-packs --pack-id ctxpack.support --owner @acme/packs\n  packgate init --dry-run",
		Args:    mayTake("DIR"),
		RunE:    func(_ *cobra.Command, args []string) error { return initRepository(env, append(args, ".")[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.packID, "pack-id", "", "`pack_id` of the first pack (default: ctxpack. and the name of the folder)")
	f.StringVar(&o.tenant, "tenant", "", "`tenant_id` of the first pack (default: tenant_ and the name of the pack)")
	f.StringVar(&o.owner, "owner", "", "`owner` in CODEOWNERS of the files that the gate depends on, @org/team or @login (default: lines to complete)")
	f.StringVar(&o.branch, "branch", "", "default `branch`, on which the workflows run (default: that of origin, else main)")
	f.BoolVar(&o.matrix, "matrix", false, "check in several jobs, for a repository with many packs")
	f.BoolVar(&o.freshness, "freshness", false, "write the workflow that signs timestamps even if no config names it yet")
	f.BoolVar(&o.force, "force", false, "overwrite existing files that differ")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
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
	notes
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
	if err != nil {
		return err
	}
	edits, err := i.compare(files)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := gating.Replace(i.root, edits); err != nil {
			return err
		}
	}
	i.next(len(edits))
	return i.print(env.Stdout)
}

// newInitialising finds out where the files go. The folder itself need not be there.
func newInitialising(env *Env, dir string, o initOptions) (*initialising, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return nil, misuse("name the folder of a repository, or one that is to be made", "%q is not a folder", dir)
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
	recovered, err := gating.Recover(i.root)
	if err != nil {
		return nil, err
	}
	if len(recovered) > 0 {
		fmt.Fprintln(env.Stderr, render.Visible(gating.RecoveredWords(recovered)))
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

// problem is a file that is in the way.
func (i *initialising) problem(name, message, hint string) *repo.Problem {
	return &repo.Problem{Location: finding.Location{File: i.show(name)}, Message: message, Hint: hint}
}

// choose says what is to be made, which depends on what the repository has.
func (i *initialising) choose() error {
	o := i.options
	i.made.Version, i.made.Commit = i.env.Version, i.env.Commit
	i.made.Owner, i.made.Matrix, i.made.Branch = o.owner, o.matrix, cmp.Or(o.branch, defaultBranch(i.root))
	if err := i.choosePack(); err != nil {
		return err
	}
	gating, err := i.otherWorkflow()
	if err != nil {
		return err
	}
	if i.made.Workflows = gating == ""; gating != "" {
		i.say("no workflow: %s runs packgate already; packgate doctor says whether it does so well", gating)
	}
	return i.chooseTimestamp()
}

// choosePack says which pack is to be made: none where there is any, since that one is
// somebody's work, though it began as the one that init writes.
func (i *initialising) choosePack() error {
	o := i.options
	id := cmp.Or(o.packID, scaffold.DefaultPackID(filepath.Base(i.dir)))
	// A pack that no registry can name would be found out much later.
	if _, err := registry.NewArtifact(id, "1.0.0", []byte("{}")); err != nil {
		return err
	}
	packs, err := i.packs()
	switch {
	case err != nil:
		return err
	case len(packs) == 0 && len(i.made.Packs) == 0:
		i.made.PackID, i.made.Tenant = id, o.tenant
		return nil
	case (o.packID != "" || o.tenant != "") && !slices.Contains(packs, scaffold.PackFile(id)):
		return misuse("leave them out; to begin another pack, copy the folder of one",
			"--pack-id and --tenant are about a first pack, and the repository has %s", i.showPack(packs[0]))
	}
	if err := i.chooseCatalogs(packs); err != nil {
		return err
	}
	none := "no pack"
	if len(i.made.Catalogs) == 0 {
		none += " and no catalog"
	}
	i.say("%s: the repository has %s already, the first is %s", none, pack.Counted(len(packs), "pack"), i.showPack(packs[0]))
	return nil
}

// compare returns the files that have to be written, and says what becomes of each.
// Where one is in the way, the error names all that are.
func (i *initialising) compare(files []scaffold.File) (edits []gating.Edit, err error) {
	var inTheWay repo.Problems
	var differs *repo.Problem // the last of those that --force would overwrite
	same := 0
	for n := range files {
		f := &files[n]
		there, problem, err := i.content(f)
		switch {
		case err != nil:
			return nil, err
		case problem != nil:
			if len(inTheWay) == 0 || inTheWay[len(inTheWay)-1].Location != problem.Location {
				inTheWay = append(inTheWay, problem)
			}
		case there == nil:
			edits = append(edits, i.edit(f, "wrote", "would write"))
		case f.Shared && len(f.Missing(there)) > 0:
			i.say("left %s as it is; it lacks:", i.show(f.Name))
			for _, line := range f.Missing(there) {
				i.say("    %s", line)
			}
		case f.Shared || bytes.Equal(there, f.Content), !i.options.force && f.SameButRelease(there):
			same++
		case i.options.force:
			edits = append(edits, i.edit(f, "overwrote", "would overwrite"))
		default:
			differs = i.problem(f.Name, "this file is there, and differs from what would be written", "")
			inTheWay = append(inTheWay, differs)
		}
	}
	if differs != nil {
		differs.Hint = "nothing was written; use --force to overwrite the files that differ, and --force --dry-run to see which"
	}
	if len(inTheWay) > 0 {
		return nil, inTheWay
	}
	if same > 0 {
		i.say("there already: %s", pack.Counted(same, "file"))
	}
	return edits, nil
}

func (i *initialising) edit(f *scaffold.File, did, would string) gating.Edit {
	if i.options.dryRun {
		did = would
	}
	i.say("%s %s", did, i.show(f.Name))
	return gating.Edit{Name: f.Name, Source: f.Content}
}

// content returns what is there in the place of a file, nil where nothing is. A
// problem is something that cannot be overwritten.
func (i *initialising) content(f *scaffold.File) ([]byte, *repo.Problem, error) {
	root, err := os.OpenRoot(i.root)
	if repo.NotThere(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() // only read from
	for _, name := range append([]string{f.Name}, f.Elsewhere...) {
		info, err := root.Stat(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) && !dangling(root, name) {
			continue
		}
		switch {
		case errors.Is(err, syscall.ENOTDIR):
			return nil, i.problem(standing(root, name), "this is a file, and a folder of this name is wanted", "move it away"), nil
		case err != nil:
			return nil, i.problem(name, "a symbolic link points outside the repository, or nowhere", "replace the link by what it points to"), nil
		case !info.Mode().IsRegular():
			return nil, i.problem(name, "there is something else with this name, which is not a file", "move it away"), nil
		}
		f.Name = name
		src, err := root.ReadFile(filepath.FromSlash(name))
		return append([]byte{}, src...), nil, err
	}
	return nil, nil, nil
}

// dangling reports whether a name, or a folder above it, is a link that leads nowhere.
func dangling(root *os.Root, name string) bool {
	_, err := root.Stat(filepath.FromSlash(standing(root, name)))
	return err != nil
}

// standing returns what is there of a name: the file, link or folder itself, or the
// nearest above it; "." where that is the root.
func standing(root *os.Root, name string) string {
	for ; name != "."; name = path.Dir(name) {
		if _, err := root.Lstat(filepath.FromSlash(name)); err == nil {
			break
		}
	}
	return name
}

// next says what comes next.
func (i *initialising) next(written int) {
	switch {
	case i.options.dryRun:
		i.say("nothing was written")
		return
	case written == 0:
		i.say("nothing to write")
		return
	}
	at := ""
	if show := filepath.ToSlash(gating.Display(i.dir)); strings.HasPrefix(show, "-") {
		at = " " + shellWord("./"+show) // no program takes it for a flag
	} else if show != "." {
		at = " " + shellWord(show)
	}
	cases := "packgate golden init PACK: golden cases for a pack that has none"
	if i.made.PackID != "" {
		cases = fmt.Sprintf("make %s yours, with the golden cases beside it", i.showPack(scaffold.PackFile(i.made.PackID)))
	}
	status := `"gate"`
	if !i.made.Workflows {
		status = "that packgate doctor names"
	}
	push := fmt.Sprintf("commit and push, and require the status %s for the branch %s", status, i.made.Branch)
	if !i.git {
		push = "git init -b " + i.made.Branch + at + ", " + push
	}
	steps := []string{"packgate check" + at + ": the gate, as the workflow runs it", cases, push}
	if i.made.PackID == "" {
		old := "packgate baseline write" + at + " --owner OWNER --reason REASON: what is found today does not count until a day"
		steps = slices.Insert(steps, 1, old)
	}
	if len(i.made.Catalogs) > 0 {
		steps = append(steps, "read the catalogs: packgate made them from the packs, and checks nothing against one that has \"unconfirmed\"")
	}
	i.say("next:")
	for n, step := range steps {
		i.say("  %d. %s", n+1, step)
	}
}

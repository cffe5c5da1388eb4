package cli

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/doctor"
	"github.com/contextosai/packgate/internal/scaffold"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
)

// choose says what is to be made, which depends on what the repository has.
func (i *initialising) choose() error {
	o := i.options
	i.made.Owner, i.made.Matrix, i.made.Branch = o.owner, o.matrix, o.branch
	if o.branch == "" {
		i.made.Branch = defaultBranch(i.root)
	}
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
	return nil
}

// choosePack says which pack is to be made: none where there is any, since that one is
// somebody's work, though it began as the one that init writes.
func (i *initialising) choosePack() error {
	o := i.options
	id := o.packID
	if id == "" {
		id = scaffold.DefaultPackID(filepath.Base(i.dir))
	}
	// A pack that no registry can name would be found out much later.
	if _, err := registry.NewArtifact(id, "1.0.0", []byte("{}")); err != nil {
		return err
	}
	packs, err := i.packs()
	switch {
	case err != nil:
		return err
	case len(packs) == 0:
		i.made.PackID, i.made.Tenant = id, o.tenant
		return nil
	case (o.packID != "" || o.tenant != "") && !slices.Contains(packs, scaffold.PackFile(id)):
		return &repo.Problem{Message: "--pack-id and --tenant are about a first pack, and the repository has " + i.showPack(packs[0]),
			Hint: "leave them out; to begin another pack, copy the folder of one"}
	}
	i.say("no pack and no catalog: the repository has %s already, the first is %s", pack.Counted(len(packs), "pack"), i.showPack(packs[0]))
	return nil
}

// packs returns the packs that are there, relative to the folder of the pack
// repository.
func (i *initialising) packs() ([]string, error) {
	files, err := openIfThere(i.dir)
	if files == nil {
		return nil, err
	}
	defer files.Close() // only read from
	config, err := files.Config("")
	if err != nil {
		return nil, err
	}
	return files.Find(config)
}

// openIfThere opens a folder, and returns nil where there is none.
func openIfThere(dir string) (*repo.Files, error) {
	if _, err := os.Stat(dir); repo.NotThere(err) {
		return nil, nil
	}
	return repo.OpenFiles(dir, gating.Display(dir))
}

// otherWorkflow returns a workflow that runs packgate and is none of those that init
// writes, "" where there is none. Two that gate the same packs would be one too many.
func (i *initialising) otherWorkflow() (string, error) {
	files, err := openIfThere(i.root)
	if files == nil {
		return "", err
	}
	defer files.Close() // only read from
	names, err := doctor.Workflows(files)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		doc, err := files.YAML(name)
		if errors.Is(err, repo.ErrUse) {
			continue // it is no reason to write nothing; packgate doctor names it as not checked
		}
		if err != nil {
			return "", err
		}
		var own func(config string) bool
		if slices.Contains(scaffold.WorkflowFiles(), name) {
			own = i.ownConfig
		}
		if doctor.RunsPackgate(doc, own) {
			return files.Show(name), nil
		}
	}
	return "", nil
}

// ownConfig reports whether a step with a config is about the packs that init is for, and
// not about those of another folder of the git repository.
func (i *initialising) ownConfig(config string) bool {
	own := ""
	if i.made.Folder != "" {
		own = path.Join(i.made.Folder, repo.ConfigName)
	}
	return config == own
}

// defaultBranch returns the default branch of origin, as a clone notes it, else main.
// The branch that happens to be checked out says nothing.
func defaultBranch(root string) string {
	src, err := os.ReadFile(filepath.Join(root, ".git", "refs", "remotes", "origin", "HEAD"))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(src)), "ref: refs/remotes/origin/")
	if err != nil || !ok {
		return "main"
	}
	return name
}

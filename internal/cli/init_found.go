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
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/workflows"
)

// packs returns the packs that are there, relative to the pack repository.
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
	packs, err := files.Find(config)
	if err != nil || config.Document != nil {
		return packs, err
	}
	others, err := i.otherPacks(files, packs)
	if len(others) > 0 {
		i.made.Packs = append(slices.Clone(repo.PackPatterns(config)), others...)
	}
	return append(packs, others...), err
}

// chooseCatalogs drafts the catalogs of a repository that has packs and no catalog.
func (i *initialising) chooseCatalogs(packs []string) error {
	files, err := openIfThere(i.dir)
	if files == nil {
		return err
	}
	defer files.Close() // only read from
	config, err := files.Config("")
	if err != nil {
		return err
	}
	there, err := files.Environments(config)
	if len(there) > 0 || errors.Is(err, repo.ErrUse) { // one that is not valid is one too
		return nil
	}
	if err != nil {
		return err
	}
	var units []*repo.Unit
	for _, name := range packs {
		u, err := files.Unit(name, config)
		if err != nil {
			return err
		}
		units = append(units, u)
	}
	drafts, err := scaffold.Catalogs(units, pack.Values(config.EndpointScheme))
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		if !repo.Matches(repo.CatalogPatterns(config), draft.Name) {
			i.say("no catalog %s: no pattern under environments in the config matches it", i.showPack(draft.Name))
			continue
		}
		i.made.Catalogs = append(i.made.Catalogs, draft)
	}
	return nil
}

// otherPacks returns the packs that are under other names than those which are found without a config.
func (i *initialising) otherPacks(files *repo.Files, packs []string) (others []string, err error) {
	names, _, err := files.Loadable([]string{"."}, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.Contains(packs, name) {
			continue
		}
		g, _, err := files.Glance(name, pack.DefaultLimits().MaxBytes)
		switch {
		case err != nil:
			return nil, err
		case !g.LooksLikePack():
		case path.Ext(name) != ".json" || strings.ContainsAny(name, "*?[]{}\\"):
			i.say("%s looks like a pack, and cannot be listed: write it as JSON, under a name without * ? [ ] { } and \\", i.showPack(name))
		default:
			others = append(others, name)
		}
	}
	return others, nil
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
	names, err := workflows.Find(files)
	if err != nil {
		return "", err
	}
	mine := "" // how a step names the config of the packs that init is for
	if i.made.Folder != "" {
		mine = path.Join(i.made.Folder, repo.ConfigName)
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
			own = func(config string) bool { return config == mine }
		}
		if doctor.RunsPackgate(doc, own) {
			return files.Show(name), nil
		}
	}
	return "", nil
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

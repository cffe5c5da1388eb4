package cli

import (
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
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// workspace is a pack repository that is open for reading: its files, config
// and environment catalogs, and the packs in it that were asked for.
type workspace struct {
	dir          string // the root folder
	files        *repo.Files
	config       *repo.Config
	environments []*repo.Environment
	patterns     []string // of pack files
	packs        []string // pack files, relative to the root
	whole        bool     // all packs that the repository has were asked for
}

// place is where a path that a user named leads: the root of the repository
// that it belongs to, and the part of it that was meant (file or folder,
// relative to the root; "." for all).
type place struct {
	root, scope string
	file        bool // scope is a file
}

// findPlace finds the repository of a path: the nearest folder, from the path
// upwards, that has a config or an environments folder; else the path's own
// folder. It does not look beyond the root of a git repository.
func findPlace(name string) (place, error) {
	info, err := os.Stat(name)
	if leadsNowhere(err) {
		return place{}, &repo.Problem{Location: finding.Location{File: name}, Message: "there is no such file or folder", Hint: "name a pack repository, the folder of a pack, or a pack file"}
	}
	if err != nil {
		return place{}, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return place{}, err
	}
	start := abs
	if !info.IsDir() {
		start = filepath.Dir(abs)
	}
	root := start
	for dir := start; ; dir = filepath.Dir(dir) {
		isRoot, err := holds(dir, repo.ConfigName, "environments")
		if err != nil {
			return place{}, err
		}
		if isRoot {
			root = dir
			break
		}
		last, err := holds(dir, ".git")
		if err != nil {
			return place{}, err
		}
		if last || dir == filepath.Dir(dir) {
			break
		}
	}
	scope, err := filepath.Rel(root, abs)
	return place{root: root, scope: filepath.ToSlash(scope), file: !info.IsDir()}, err
}

// leadsNowhere reports whether an error says that a path cannot be one of
// anything, be it too long or a ring of links.
func leadsNowhere(err error) bool {
	for _, nowhere := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG} {
		if errors.Is(err, nowhere) {
			return true
		}
	}
	return false
}

// under puts the place into the repository of a config, whose folder is its
// root. A folder around that root means all of it; a path beside it has nothing
// to do with the config and is refused.
func (p *place) under(config, name string) error {
	root, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return err
	}
	// Compared without links, since either may have been reached over one.
	from, err := filepath.EvalSymlinks(root)
	if err != nil && !leadsNowhere(err) {
		return err
	}
	if err != nil {
		return &repo.Problem{Location: finding.Location{File: config}, Message: "there is no such file", Hint: "name a config that is there, or leave it out"}
	}
	to, err := filepath.EvalSymlinks(filepath.Join(p.root, p.scope))
	if err != nil {
		return err
	}
	scope, err := filepath.Rel(from, to)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(scope) {
		if around, err := filepath.Rel(to, from); err != nil || !filepath.IsLocal(around) {
			return &usageError{
				message: fmt.Sprintf("%s is not in the repository of the config %s", name, config),
				hint:    "name a path below the config's folder, or leave out the config",
			}
		}
		scope = "."
	}
	p.root, p.scope = root, filepath.ToSlash(scope)
	return nil
}

// holds reports whether a folder has an entry of any of the names. The error is for a
// folder that cannot be looked into.
func holds(dir string, names ...string) (bool, error) {
	for _, name := range names {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil || !leadsNowhere(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// display returns how messages name the root: relative to the current folder
// where it is at or below it, else in full.
func display(root string) string {
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

// settings are what the command line or the action's inputs say about reading a
// repository. They win over the config.
type settings struct {
	config string       // config file; "" for the repository's own
	packs  []string     // patterns of pack files; none for the config's
	policy *repo.Config // config to take instead of the file, such as the base commit's
}

// openWorkspace opens the repository of a path. The caller closes its files.
func openWorkspace(name string, s settings) (*workspace, error) {
	at, err := findPlace(name)
	if err != nil {
		return nil, err
	}
	configName := ""
	if s.config != "" {
		if err := at.under(s.config, name); err != nil {
			return nil, err
		}
		configName = filepath.Base(s.config)
	}
	files, err := repo.OpenFiles(at.root, display(at.root))
	if err != nil {
		return nil, err
	}
	w := &workspace{dir: at.root, files: files}
	if err := w.load(at, configName, s); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return w, nil
}

func (w *workspace) load(at place, configName string, s settings) error {
	var err error
	if w.config = s.policy; w.config == nil {
		if w.config, err = w.files.Config(configName); err != nil {
			return err
		}
	}
	if w.environments, err = w.files.Environments(w.config); err != nil {
		return err
	}
	if w.patterns = s.packs; len(w.patterns) == 0 {
		w.patterns = repo.PackPatterns(w.config)
	}
	if at.file && strings.HasSuffix(at.scope, ".json") {
		w.packs = []string{at.scope}
		return nil
	}
	all, err := w.files.Find(w.config, s.packs...)
	if err != nil {
		return err
	}
	for _, p := range all {
		if at.scope == "." || strings.HasPrefix(p, at.scope+"/") {
			w.packs = append(w.packs, p)
		}
	}
	w.whole = len(w.packs) == len(all) && len(s.packs) == 0
	if len(w.packs) == 0 && len(all) > 0 {
		return &repo.Problem{Location: finding.Location{File: path.Join(w.files.Prefix, at.scope)}, Message: "there is no pack here",
			Hint: fmt.Sprintf("name one that is there: the repository has %s, the first is %s", pack.Counted(len(all), "pack"), w.files.Show(all[0]))}
	}
	return nil
}

// isPack reports whether a file has the name of a pack, whether it exists or not.
func (w *workspace) isPack(name string) bool { return repo.Matches(w.patterns, name) }

// onePack opens the repository of a path that has to lead to exactly one pack.
func onePack(name string, s settings) (*workspace, *repo.Unit, error) {
	w, err := openWorkspace(name, s)
	if err != nil {
		return nil, nil, err
	}
	unit, err := w.one(name)
	if err != nil {
		return nil, nil, errors.Join(err, w.files.Close())
	}
	return w, unit, nil
}

func (w *workspace) one(name string) (*repo.Unit, error) {
	switch len(w.packs) {
	case 0:
		return nil, w.files.NoPacks(w.config)
	case 1:
	default:
		shown := make([]string, len(w.packs))
		for i, p := range w.packs {
			shown[i] = w.files.Show(p)
		}
		return nil, &usageError{message: fmt.Sprintf("%s has %d packs and one is wanted", name, len(shown)), hint: "name one of " + strings.Join(slices.Sorted(slices.Values(shown)), ", ")}
	}
	unit, err := w.files.Unit(w.packs[0], w.config)
	if err != nil {
		return nil, err
	}
	return unit, repo.Unreadable(unit.Faults)
}

package gating

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Workspace is a pack repository that is open for reading: its files, config
// and environment catalogs, and the packs in it that were asked for.
type Workspace struct {
	Dir          string // the root folder
	Files        *repo.Files
	Config       *repo.Config
	Environments []*repo.Environment
	Patterns     []string // of pack files
	Packs        []string // pack files, relative to the root
	Recovered    []string // files that an interrupted run had begun to write, and that were put back
	scope        string   // what was asked for: a folder or a pack file; "." for all
	whole        bool     // all packs of the repository were asked for
	inForce      *InForce // the config, if it is not that of the files
	evaluator    evaluator
	unseen       error // about folders that could not be searched for packs
	unread       error // about catalogs that could not be read
	packs        repo.Patterns
	catalogs     repo.Patterns
}

// Settings are the settings of the command line or of the action's inputs for reading a repository.
// They override the config.
type Settings struct {
	Config  string   // config file; "" for the repository's own
	Packs   []string // patterns of pack files: added to those of InForce, or else instead of the config's
	InForce *InForce // config to use instead of the file
	// Partial is set if everything else is judged although catalogs cannot be read: the run then fails
	// because of the catalogs.
	Partial bool
	// Evaluators returns what checks the signatures of scorecards; nil if nothing is gated.
	Evaluators Evaluators
}

// Open opens the repository of a path. Once the context has ended, its files can no longer be read.
// The error is for a path or config that does not exist or is not valid (it matches repo.ErrUse), and
// for files that cannot be read. The caller closes the workspace.
func Open(ctx context.Context, name string, s Settings) (*Workspace, error) {
	at, err := s.place(name)
	if err != nil {
		return nil, err
	}
	return at.open(ctx, s)
}

// place finds the repository of a path, which is that of the config if one is named.
func (s Settings) place(name string) (Place, error) {
	at, err := FindPlace(name)
	if err == nil && s.Config != "" {
		err = at.under(s.Config, name)
	}
	return at, err
}

func (p Place) open(ctx context.Context, s Settings) (*Workspace, error) {
	recovered, err := Recover(p.Root)
	if err != nil {
		return nil, err
	}
	files, err := repo.OpenFiles(p.Root, Display(p.Root))
	if err != nil {
		return nil, err
	}
	w := &Workspace{Dir: p.Root, Files: files.Under(ctx), Recovered: recovered, inForce: s.InForce}
	if err := w.load(p, s); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	w.TakeEvaluators(s.Evaluators)
	return w, nil
}

func (w *Workspace) load(at Place, s Settings) (err error) {
	if s.InForce != nil {
		w.Config = s.InForce.Config
	} else if w.Config, err = w.Files.Config(s.configName()); err != nil {
		return err
	}
	if w.Environments, err = w.Files.Environments(w.Config); s.Partial && errors.Is(err, repo.ErrUse) {
		w.unread, err = err, nil
	}
	if err != nil {
		return err
	}
	if err := w.checkRoles(); err != nil {
		return err
	}
	w.scope = at.Scope
	switch w.Patterns = repo.PackPatterns(w.Config); {
	case s.InForce != nil: // a change takes nothing away from its patterns
		w.Patterns = slices.Concat(w.Patterns, s.InForce.Packs, s.Packs)
	case len(s.Packs) > 0:
		w.Patterns = s.Packs
	}
	w.packs, w.catalogs = repo.NewPatterns(w.Patterns), repo.NewPatterns(pack.Values(w.Config.Environments))
	if at.file && strings.HasSuffix(at.Scope, ".json") {
		w.Packs = []string{at.Scope}
		return nil
	}
	all, err := w.Files.Find(nil, w.Patterns...)
	if unseen := new(repo.Unseen); errors.As(err, &unseen) && len(all) > 0 {
		w.unseen, err = unseen, nil
	}
	if err != nil {
		return err
	}
	for _, p := range all {
		if w.inScope(p) {
			w.Packs = append(w.Packs, p)
		}
	}
	w.whole = len(w.Packs) == len(all) && len(s.Packs) == 0
	if len(w.Packs) == 0 && len(all) > 0 {
		return &repo.Problem{Location: finding.Location{File: path.Join(w.Files.Prefix, at.Scope)}, Message: "there is no pack here",
			Hint: fmt.Sprintf("name an existing one: the repository has %s, the first is %s", pack.Counted(len(all), "pack"), w.Files.Show(all[0]))}
	}
	return nil
}

// checkRoles checks that somebody holds each role that environments demand. The holders are those of the
// files' own config, even if another one is in force: a change may bring both.
func (w *Workspace) checkRoles() error {
	problems := w.Config.UnheldRoles(w.Environments)
	if len(problems) > 0 && w.inForce != nil {
		own, err := w.Files.Config(w.ConfigName())
		if err != nil {
			return err
		}
		problems = own.UnheldRoles(w.Environments)
	}
	return problems.Err()
}

// Fit returns an error for a config with which no pack can be judged, valid as its file may be: it names
// rules or classes that do not exist, or a catalog demands a role that nobody holds.
func (w *Workspace) Fit(now time.Time) error {
	if err := w.checkRoles(); err != nil {
		return err
	}
	_, err := w.Policy(nil, now)
	if err == nil {
		_, err = diffing.Overrides(w.Config)
	}
	return err
}

// configName returns the base name of the config that was named; "" for the repository's own.
func (s Settings) configName() string {
	if s.Config == "" {
		return ""
	}
	return filepath.Base(s.Config)
}

// Close releases the files, which were only read.
func (w *Workspace) Close() { _ = w.Files.Close() }

// ConfigName returns the config file relative to the root.
func (w *Workspace) ConfigName() string {
	if doc := w.Config.Document; doc != nil {
		return path.Base(filepath.ToSlash(doc.File))
	}
	return repo.ConfigName
}

// inScope reports whether a file is in what was asked for.
func (w *Workspace) inScope(name string) bool {
	return w.scope == "." || name == w.scope || strings.HasPrefix(name, w.scope+"/")
}

// IsPack reports whether a file has the name of a pack, whether it exists or not.
func (w *Workspace) IsPack(name string) bool { return w.packs.Match(name) }

// IsCatalog reports whether a file has the name of an environment catalog or a pins file, whether it
// exists or not: every pack is checked against each catalog, and pins files decide where a pack runs.
func (w *Workspace) IsCatalog(name string) bool {
	return strings.HasPrefix(name, "environments/") || w.catalogs.Match(name) || repo.IsPins(name)
}

// Subject returns a pack with its side files as rules look at it in this workspace.
func (w *Workspace) Subject(u *repo.Unit) *gate.Subject {
	return w.subject(u, w.Environments)
}

// Policy returns how findings are judged at a time. Strict overrides the config if it is not nil, but
// cannot switch off the strict of a config that is in force for a change. The error is for a config that
// names rules that do not exist.
func (w *Workspace) Policy(strict *bool, now time.Time) (gates.Policy, error) {
	return gates.NewPolicy(w.Config, w.strict(strict), now)
}

func (w *Workspace) strict(wanted *bool) bool {
	if wanted == nil || w.inForce != nil && w.Config.Strict.Value {
		return w.Config.Strict.Value
	}
	return *wanted
}

// behindLinks returns the file that a pack's name leads to through symbolic links, relative to the root;
// the name itself if it leads nowhere, which reading it reports.
func (w *Workspace) behindLinks(name string) string {
	root, err := filepath.EvalSymlinks(w.Dir)
	if err != nil {
		return name
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	if real, err = filepath.Rel(root, real); err != nil {
		return name
	}
	return filepath.ToSlash(real)
}

// Unit reads a pack with its side files.
func (w *Workspace) Unit(name string) (*repo.Unit, error) { return w.Files.Unit(name, w.Config) }

// OpenPack opens the repository of a path that must lead to exactly one pack, which must be readable
// without faults. The caller closes the workspace.
func OpenPack(ctx context.Context, name string, s Settings) (*Workspace, *repo.Unit, error) {
	w, err := Open(ctx, name, s)
	if err != nil {
		return nil, nil, err
	}
	unit, err := w.One(name)
	if err != nil {
		return nil, nil, errors.Join(err, w.Files.Close())
	}
	return w, unit, nil
}

// One reads the only pack that was asked for by a path; it must be readable without faults.
func (w *Workspace) One(name string) (*repo.Unit, error) {
	switch len(w.Packs) {
	case 0:
		return nil, w.Files.NoPacks(w.Config)
	case 1:
	default:
		shown := make([]string, len(w.Packs))
		for i, p := range w.Packs {
			shown[i] = w.Files.Show(p)
		}
		return nil, &repo.Problem{Message: fmt.Sprintf("%s has %d packs, wanted one", name, len(shown)), Hint: "name one of " + strings.Join(slices.Sorted(slices.Values(shown)), ", ")}
	}
	return w.Whole(w.Packs[0])
}

// Whole reads a pack with its side files, and returns an error if the pack has faults.
func (w *Workspace) Whole(name string) (*repo.Unit, error) {
	unit, err := w.Unit(name)
	if err != nil {
		return nil, err
	}
	return unit, repo.Unreadable(unit.Faults)
}

// Place is where a path that a user named leads: the root of the repository that it belongs to, and
// the part of it that was named (a file or folder, relative to the root; "." for all).
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
	if err == nil && found {
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

// under puts the place into the repository of a config, whose folder is its root. A folder above that
// root means all of it; a path beside it has nothing to do with the config and is an error.
func (p *Place) under(config, name string) error {
	root, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return err
	}
	// Compared without links, since either may have been reached through one.
	from, err := filepath.EvalSymlinks(root)
	if repo.NotThere(err) {
		return &repo.Problem{Location: finding.Location{File: config}, Message: "there is no such file", Hint: "name a config that exists, or leave it out"}
	}
	if err != nil {
		return err
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
			return repo.Problemf("name a path below the config's folder, or leave out the config", "%s is not in the repository of the config %s", name, config)
		}
		scope = "."
	}
	p.Root, p.Scope = root, filepath.ToSlash(scope)
	return nil
}

// holds reports whether a folder has an entry of any of the names. The error is for a folder that
// cannot be read.
func holds(dir string, names ...string) (bool, error) {
	for _, name := range names {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil || !repo.NotThere(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// Display returns how messages name the root: relative to the current folder if it is that folder or
// below it, otherwise in full.
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

package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
)

// view is a repository as the editor has it at one moment.
type view struct {
	gating.Workspace
	disk *repo.Files
	// problems are what is wrong with the config and the catalogs, and with what packs
	// consist of, and usable says that packs can be judged: with these, or with those of before.
	problems repo.Problems
	usable   bool
	accepted *repo.Accepted    // the baseline file, nil for none that can be used
	with     string            // what packs are judged with, as gating.Workspace.Identity names it
	open     map[string]string // the texts of the documents that are open, by name
	uris     map[string]string // of these documents, by name
	texts    map[string]*text  // of the files that places were asked for
}

// openView opens the repository of a folder, with the texts of the documents in it that are
// open, by name relative to the folder. A config or a catalog that is not valid, or with which no
// pack can be judged, is noted, and those of before stand in for them, if there are any. The caller
// closes the view.
func (s *server) openView(root string, open map[string]string, before gating.Workspace) (*view, error) {
	disk, err := repo.OpenFiles(root, ".")
	if err != nil {
		return nil, err
	}
	v := &view{disk: disk, open: open, texts: map[string]*text{}}
	v.Dir, v.Files = root, repo.FilesOf(repo.WithTexts(disk.Tree(), open), ".", "")
	if err := v.load(before, s.Now()); err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	v.Patterns = repo.PackPatterns(v.Config)
	v.TakeEvaluators(s.Evaluators)
	return v, nil
}

// load reads the config and the catalogs, and notes what is wrong with them.
func (v *view) load(before gating.Workspace, now time.Time) error {
	config, err := v.Files.Config("")
	if err := v.note(err); err != nil {
		return err
	}
	if v.Config = config; err != nil {
		v.Config = cmp.Or(before.Config, repo.DefaultConfig())
	}
	environments, err := v.Files.Environments(v.Config)
	if err := v.note(err); err != nil {
		return err
	}
	if v.Environments = environments; err != nil {
		v.Environments = before.Environments
	}
	v.usable = len(v.problems) == 0 || before.Config != nil
	err = v.Fit(now)
	if err != nil && before.Config != nil {
		v.Config, v.Environments = before.Config, before.Environments
	} else if err != nil {
		v.usable = false
	}
	return v.note(err)
}

// note takes an error that says what is wrong in a file, and returns any other.
func (v *view) note(err error) error {
	var one *repo.Problem
	var several repo.Problems
	switch {
	case errors.As(err, &several):
		v.problems = append(v.problems, several...)
	case errors.As(err, &one):
		v.problems = append(v.problems, one)
	default:
		return err
	}
	return nil
}

// noteIn takes an error as note does. A problem without a file is put on the file of this name.
func (v *view) noteIn(name string, err error) error {
	before := len(v.problems)
	err = v.note(err)
	for i, p := range v.problems[before:] {
		if p.Location.File == "" {
			here := *p
			here.Location.File = name
			v.problems[before+i] = &here
		}
	}
	return err
}

// close releases the folder, which was only read from.
func (v *view) close() { _ = v.disk.Close() }

// uri returns the URI of a file by its name from the root, for an open one as the client has it.
func (v *view) uri(name string) string {
	if uri, ok := v.uris[path.Clean(name)]; ok {
		return uri
	}
	return v.key(name)
}

// key returns what a file that is named relative to the root is known by.
func (v *view) key(name string) string {
	return uriOf(filepath.Join(v.Dir, filepath.FromSlash(name)))
}

// text returns the text of a file; an empty one where it cannot be read.
func (v *view) text(name string) *text {
	if t := v.texts[name]; t != nil {
		return t
	}
	src, ok := v.open[path.Clean(name)]
	if !ok {
		src = v.saved(name)
	}
	v.texts[name] = newText(src)
	return v.texts[name]
}

// saved returns the text of a file that is not open in the editor; "" where it cannot
// be read, or is larger than what the gates read: a place in it is the beginning.
func (v *view) saved(name string) string {
	file, err := v.Files.Tree().Open(path.Clean(name))
	if err != nil {
		return ""
	}
	defer file.Close() // only read from
	most := int64(v.Config.Limits.MaxBytes)
	src, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil || int64(len(src)) > most {
		return ""
	}
	return string(src)
}

// location returns a place of a finding as the protocol has it.
func (v *view) location(l finding.Location, units encoding) Location {
	return Location{URI: v.uri(l.File), Range: v.text(l.File).span(l.Start.Offset, l.End.Offset, units)}
}

// shared are the kinds of files that all packs of a repository are judged with.
var shared = []string{"config", "environment", "pins", "baseline"}

// kind says what a file is in the layout of a pack repository: "pack", "config", "baseline",
// "environment", "pins", "snapshot", a kind of side file, or "" for none of them.
func (v *view) kind(name string) string {
	switch name {
	case repo.ConfigName:
		return "config"
	case repo.AcceptedName:
		return "baseline"
	}
	if repo.Matches(repo.PackPatterns(v.Config), name) {
		return "pack"
	}
	if repo.Matches(repo.CatalogPatterns(v.Config), name) {
		return "environment"
	}
	if repo.Matches([]string{repo.PinsPattern}, name) {
		return "pins"
	}
	if _, kind, ok := repo.SideKind(name); ok {
		return kind
	}
	if ok, _ := path.Match("*.compiled.json", path.Base(name)); ok && path.Base(path.Dir(name)) == "golden" {
		return "snapshot"
	}
	return ""
}

// packsOf returns the packs that a file belongs to, sorted: itself, those that it
// is beside, and for the config and a catalog all that there are.
func (v *view) packsOf(name string) ([]string, error) {
	switch kind := v.kind(name); {
	case kind == "":
		return nil, nil
	case slices.Contains(shared, kind):
		names, err := v.Files.Find(v.Config)
		return names[:min(len(names), mostPacks)], err
	}
	var names []string
	for _, dir := range []string{path.Dir(name), path.Dir(path.Dir(name))} {
		entries, err := fs.ReadDir(v.Files.Tree(), dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for packs in %s: %w", dir, err)
		}
		for _, e := range entries {
			one := path.Join(dir, e.Name())
			if strings.HasSuffix(one, ".json") && !e.IsDir() && v.kind(one) == "pack" && repo.Belongs(one, name) {
				names = append(names, one)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// mostPacks is how many packs are gated for a change of what all of them share.
const mostPacks = 50

package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
)

// Unit is a pack with everything that stands beside it. Pack is nil where the
// document could not be read as an object; Faults say why.
type Unit struct {
	Name     string // of the pack file, relative to the repository's root
	Document *pack.Document
	Faults   []pack.Fault
	Pack     *pack.Pack
	// Cases are the golden cases that could be read, by name.
	Cases []*Case
	// Files are all side files, golden cases included, by name.
	Files []*SideFile
}

// Dir returns the folder of the pack, relative to the repository's root.
func (u *Unit) Dir() string { return path.Dir(u.Name) }

type sideKind struct{ pattern, kind string }

// sideKinds says where side files stand beside a pack, and which schema each
// kind has. The first pattern that fits counts.
var sideKinds = []sideKind{
	{"golden/*" + caseSuffix, "case"},
	{"overlays/*.json", "overlay"},
	{"scorecards/*.json", "scorecard"},
	{"replay/*.packet.json", "replay-packet"},
	{"replay/*.record.json", "decision-record"},
	{"replay/*.meta.json", "replay-meta"},
	{"tool-surface.json", "tool-surface"},
}

// Belongs reports whether a file is the pack file itself or stands beside it in
// the layout of a pack repository. Both names are relative to the root.
func Belongs(packName, name string) bool {
	if name == packName {
		return true
	}
	rest := name
	if dir := path.Dir(packName); dir != "." {
		var ok bool
		if rest, ok = strings.CutPrefix(name, dir+"/"); !ok {
			return false
		}
	}
	if ok, _ := path.Match("golden/*.compiled.json", rest); ok {
		return true
	}
	return slices.ContainsFunc(sideKinds, func(k sideKind) bool {
		ok, _ := path.Match(k.pattern, rest) // the patterns are ours and valid
		return ok
	})
}

// Find returns the names of the pack files that match the patterns; where there
// are none, those that the config names; and where it names none, every
// pack.json and *.pack.json below the root. Folders that begin with a dot are
// passed over, and node_modules.
func (f *Files) Find(c *Config, patterns ...string) ([]string, error) {
	if len(patterns) == 0 {
		patterns = pack.Values(c.Packs)
	}
	if len(patterns) == 0 {
		patterns = []string{"**/{pack,*.pack}.json"}
	}
	return f.glob(patterns...)
}

// glob returns the names that match any of the patterns, sorted, each once.
func (f *Files) glob(patterns ...string) ([]string, error) {
	var names []string
	for _, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			return nil, &Problem{Message: fmt.Sprintf("%q is no valid file pattern", p), Hint: "patterns are as in .gitignore: packs/*/pack.json, **/pack.json"}
		}
		err := doublestar.GlobWalk(f.FS(), path.Clean(p), func(name string, d fs.DirEntry) error {
			if d.IsDir() || hidden(name) {
				return nil
			}
			names = append(names, name)
			return nil
		}, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
		if err != nil && !errors.Is(err, doublestar.ErrPatternNotExist) {
			return nil, fmt.Errorf("look for %s in %s: %w", p, f.Show("."), cause(err))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// hidden reports whether a folder of the name is one that holds no packs.
func hidden(name string) bool {
	for segment := range strings.SplitSeq(path.Dir(name), "/") {
		if segment == "node_modules" || len(segment) > 1 && segment[0] == '.' && segment != ".." {
			return true
		}
	}
	return false
}

// Unit reads a pack and its side files. The error is for what could not be read
// at all; what is wrong inside a file stands in the Faults.
func (f *Files) Unit(name string, c *Config) (*Unit, error) {
	u := &Unit{Name: name}
	var err error
	if u.Document, u.Faults, err = f.Document(name, c.Limits); err != nil {
		return nil, err
	}
	u.Pack = pack.New(u.Document)
	for _, k := range sideKinds {
		names, err := f.glob(path.Join(escapePattern(u.Dir()), k.pattern))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if err := f.addSide(u, n, k.kind, c); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

func (f *Files) addSide(u *Unit, name, kind string, c *Config) error {
	s := &SideFile{Kind: kind, Name: name}
	var err error
	if s.Document, s.Faults, err = f.Document(name, c.Limits); err != nil {
		return err
	}
	u.Files = append(u.Files, s)
	if kind != "case" || s.Document.Root == nil || s.Document.Root.Kind != pack.Object {
		return nil
	}
	gc := &Case{SideFile: s}
	pack.Decode(s.Document.Root, &gc.CaseFields)
	if gc.Snapshot, err = f.snapshot(SnapshotName(name)); err != nil {
		return err
	}
	u.Cases = append(u.Cases, gc)
	return nil
}

func (f *Files) snapshot(name string) (*Snapshot, error) {
	if !f.Exists(name) {
		return nil, nil
	}
	src, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Name: name, File: f.Show(name), Source: src}, nil
}

// escapePattern makes a folder name stand for itself in a pattern.
func escapePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(name)
}

// Environments reads the environment catalogs that the config names, or those
// in environments/. A catalog is configuration: one that is not valid is an
// error, a *Problem or Problems.
func (f *Files) Environments(c *Config) ([]*Environment, error) {
	patterns := pack.Values(c.Environments)
	if len(patterns) == 0 {
		patterns = []string{"environments/*.json"}
	}
	names, err := f.glob(patterns...)
	if err != nil {
		return nil, err
	}
	environments := make([]*Environment, 0, len(names))
	for _, name := range names {
		e, err := f.environment(name, c)
		if err != nil {
			return nil, err
		}
		environments = append(environments, e)
	}
	return environments, nil
}

func (f *Files) environment(name string, c *Config) (*Environment, error) {
	doc, faults, err := f.Document(name, c.Limits)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, Unreadable(faults)
	}
	if err := validate("environment", doc); err != nil {
		return nil, err
	}
	e := &Environment{Document: doc}
	pack.Decode(doc.Root, e)
	return e, nil
}

// Unreadable returns the reader's faults as an error, for files that have to be
// whole; nil where there are none.
func Unreadable(faults []pack.Fault) error {
	problems := make(Problems, len(faults))
	for i, fault := range faults {
		problems[i] = &Problem{Location: fault.Location, Message: fault.Message, Hint: fault.Hint}
	}
	return problems.err()
}

// Config reads the repository's config, the default one where there is none.
// Name is the config file relative to the root; "" means ConfigName, which may
// be absent.
func (f *Files) Config(name string) (*Config, error) {
	if name == "" {
		if !f.Exists(ConfigName) {
			return DefaultConfig(), nil
		}
		name = ConfigName
	}
	src, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	return ParseConfig(f.Show(name), src)
}

// NoPacks is the error for a repository in which no pack was found.
func (f *Files) NoPacks(c *Config) error {
	p := &Problem{Location: finding.Location{File: f.Show(".")}, Message: "there is no pack here", Hint: "a pack is a file named pack.json or NAME.pack.json"}
	if c.Packs.Node != nil {
		p.Location = c.Packs.Node.Location()
		p.Message = "no file matches packs"
		p.Hint = "name the pack files, for example packs/*/pack.json"
	}
	return p
}

package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/schemas"
)

// Pins are what the file pins/ENV.json says: which version of each pack is wanted in an
// environment.
type Pins struct {
	Document *pack.Document
	Packs    pack.Dict[Pin]
}

// Pin is the version of a pack that is wanted in an environment, with the digest of the
// pack's content.
type Pin struct {
	pack.Part
	Version pack.Text `json:"version"`
	Digest  pack.Text `json:"digest"`
}

// PinsPattern finds the pins files.
const PinsPattern = pinsFolder + "/*" + pinsSuffix

const (
	pinsFolder = "pins"
	pinsSuffix = ".json"
	// maxPins is the size of a pins file, in bytes, beyond which it is not read.
	maxPins = 1 << 20
)

// PinsName returns the name of the pins file of an environment, relative to the root. The
// error is a *Problem where the name of the environment is none that a file can have.
func PinsName(environment string) (string, error) {
	if strings.ContainsAny(environment, `/\:`) || strings.HasPrefix(environment, ".") || strings.ContainsFunc(environment, unicode.IsControl) || environment == "" {
		return "", Problemf("give the environment a name without / \\ : and without a dot in front",
			"environment %q has a name that no pins file can have", pack.Clip(environment, mostOfName))
	}
	return path.Join(pinsFolder, environment+pinsSuffix), nil
}

// IsPins reports whether a file is a pins file, or was one.
func IsPins(name string) bool { return strings.HasPrefix(name, pinsFolder+"/") }

// Pinned is the version of a pack that an environment wants. Digest is "" where the catalog
// says it, which names no digest.
type Pinned struct {
	Version string
	Digest  pack.Digest
	Node    *pack.Node
}

// SameAs reports whether the same version is wanted. A digest that only one of them names is
// no other version.
func (p Pinned) SameAs(other Pinned) bool {
	return p.Version == other.Version && (p.Digest == other.Digest || p.Digest == "" || other.Digest == "")
}

// Pinned returns the version of a pack that the environment wants, by its pins file, or by
// its catalog where there is no such file; ok is false where it wants none.
func (e *Environment) Pinned(packID string) (p Pinned, ok bool) {
	if e.PinsFile != nil {
		pin, ok := e.PinsFile.Packs.Get(packID)
		return Pinned{pin.Version.Value, pack.Digest(pin.Digest.Value), pin.Node}, ok
	}
	version, ok := e.Pins.Get(packID)
	return Pinned{Version: version.Value, Node: version.Node}, ok
}

// Pinned returns the line of a pack; nil where there is none.
func (p *Pins) Pinned(packID string) *Pinned {
	pin, ok := p.Packs.Get(packID)
	if !ok {
		return nil
	}
	return &Pinned{pin.Version.Value, pack.Digest(pin.Digest.Value), pin.Node}
}

// PinnedPacks returns the packs of which the environment wants a version, sorted.
func (e *Environment) PinnedPacks() (ids []string) {
	if e.PinsFile != nil {
		for _, pin := range e.PinsFile.Packs.Entries {
			ids = append(ids, pin.Name)
		}
	} else {
		for _, pin := range e.Pins.Entries {
			ids = append(ids, pin.Name)
		}
	}
	slices.Sort(ids)
	return ids
}

// StatesPins reports whether anything says which packs the environment wants, be it none.
func (e *Environment) StatesPins() bool { return e.PinsFile != nil || e.Pins.Node != nil }

// Sources returns the documents that say what the environment is: its catalog, and its pins
// file where it has one.
func (e *Environment) Sources() []*pack.Document {
	if e.PinsFile == nil {
		return []*pack.Document{e.Document}
	}
	return []*pack.Document{e.Document, e.PinsFile.Document}
}

// TakePins reads the pins files into the environments that they are of. The error is Problems
// where any of them is not valid, or is of no environment; the others are taken.
func (f *Files) TakePins(environments []*Environment, limits pack.Limits) error {
	names, problems, err := f.pinsFiles()
	if err != nil {
		return err
	}
	for _, name := range names {
		pins, err := f.pins(name, environments, limits)
		one, many := new(Problem), Problems{}
		switch {
		case errors.As(err, &many):
			problems = append(problems, many...)
		case errors.As(err, &one):
			problems = append(problems, one)
		case err != nil:
			return err
		}
		for _, e := range environments {
			if pins != nil && e.pinsName() == name {
				e.PinsFile = pins
				problems = append(problems, e.pinnedTwice()...)
			}
		}
	}
	return problems.Err()
}

// pinsName returns the name of the environment's pins file, "" where it can have none.
func (e *Environment) pinsName() string {
	name, err := PinsName(e.Environment.Value)
	if err != nil {
		return ""
	}
	return name
}

// pinnedTwice refuses pins in a catalog beside the pins file.
func (e *Environment) pinnedTwice() Problems {
	if e.Pins.Node == nil {
		return nil
	}
	return Problems{{Location: e.Pins.Node.NameLocation(),
		Message: fmt.Sprintf("the pins of environment %q are in %s, and here too", e.Name(), e.PinsFile.Document.File),
		Hint:    "remove pins from the catalog"}}
}

// pinsFiles returns the names of the files in the folder of pins. What is in it and could be
// taken for one is a problem.
func (f *Files) pinsFiles() (names []string, problems Problems, err error) {
	info, err := fs.Lstat(f.tree, pinsFolder)
	switch {
	case absent(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("look for %s: %w", f.Show(pinsFolder), atomicfile.Cause(err))
	case !info.IsDir():
		return nil, Problems{fileProblem(f.Show(pinsFolder), "this is not a folder, and the pins of environments are read from it",
			"make it a folder with one file ENVIRONMENT.json for each environment")}, nil
	}
	entries, err := fs.ReadDir(f.tree, pinsFolder)
	if err != nil {
		return nil, nil, fmt.Errorf("look into %s: %w", f.Show(pinsFolder), atomicfile.Cause(err))
	}
	for _, entry := range entries {
		name := path.Join(pinsFolder, entry.Name())
		switch is := entry.Type(); {
		case strings.HasPrefix(entry.Name(), "."), is.IsRegular() && strings.HasSuffix(entry.Name(), ".md"):
		case is&fs.ModeSymlink != 0:
			problems = append(problems, fileProblem(f.Show(name), "this is a symbolic link, and pins are read from files alone", "replace it by the file itself"))
		case !is.IsRegular(), !strings.HasSuffix(name, pinsSuffix):
			problems = append(problems, fileProblem(f.Show(name), "this is not a file of pins", "name it ENVIRONMENT.json, or move it out of "+pinsFolder))
		default:
			names = append(names, name)
		}
	}
	return names, problems, nil
}

// pins reads one pins file, which has to be of one of the environments.
func (f *Files) pins(name string, environments []*Environment, limits pack.Limits) (*Pins, error) {
	known := make([]string, 0, len(environments))
	of := strings.TrimSuffix(path.Base(name), pinsSuffix)
	for _, e := range environments {
		known = append(known, e.Environment.Value)
	}
	if !slices.Contains(known, of) {
		problem := fileProblem(f.Show(name), fmt.Sprintf("there is no catalog of an environment %q", of), "add its catalog, or remove this file")
		if near := schemas.Nearest(of, known); near != "" {
			problem.Hint = fmt.Sprintf("rename it: there is an environment %q", near)
		}
		return nil, problem
	}
	src, err := f.within(name, maxPins, "pins file", "remove packs that the environment does not run")
	if err != nil {
		return nil, err
	}
	pins, err := ParsePins(f.Show(name), src, limits)
	if err == nil {
		pins.Document.Revision = f.Revision
	}
	return pins, err
}

// ParsePins reads a pins file from its bytes; file is its name in messages. The error is a
// *Problem or Problems where it is not valid.
func ParsePins(file string, src []byte, limits pack.Limits) (*Pins, error) {
	doc, faults := pack.Read(file, src, limits)
	if len(faults) > 0 {
		return nil, Unreadable(faults)
	}
	if err := validate("pins", doc); err != nil {
		return nil, err
	}
	p := &Pins{Document: doc, Packs: pack.Dict[Pin]{Node: doc.Root, OK: true}}
	var problems Problems
	for _, m := range doc.Root.Members {
		if m.Name == "$schema" {
			continue
		}
		var pin Pin
		faults = append(faults, pack.Decode(m.Value, &pin)...)
		p.Packs.Entries = append(p.Packs.Entries, pack.Entry[Pin]{Name: m.Name, Value: pin})
		problems = append(problems, checkPin(m.Name, pin)...)
	}
	if len(faults) > 0 {
		return nil, Unreadable(faults)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

// digestForm is that of pack.Digest.
var digestForm = form(`^sha256:[0-9a-f]{64}$`)

// checkPin checks what the schema does not say of the pin of a pack.
func checkPin(id string, pin Pin) (problems Problems) {
	say := func(at finding.Location, hint, format string, args ...any) {
		problems = append(problems, &Problem{Location: at, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	if _, _, ok := pack.ParseRef(id + "@0.0.0"); !ok {
		say(pin.Node.NameLocation(), "write the pack_id of a pack: letters, digits and _ . : -", "%q is not a pack_id", pack.Clip(id, mostOfName))
	}
	if v := pin.Version; v.OK && !isPlainVersion(v.Value) {
		say(v.Node.Location(), "write one published version, such as 1.2.0", "version %q is not MAJOR.MINOR.PATCH", pack.Clip(v.Value, mostOfName))
	}
	if d := pin.Digest; d.OK && !digestForm().MatchString(d.Value) {
		say(d.Node.Location(), "write the digest of the pack as publish prints it: sha256: and 64 of the digits 0-9 and a-f",
			"%q is not a digest", pack.Clip(d.Value, mostOfDigest))
	}
	return problems
}

// mostOfDigest is how many characters of what is not a digest a message repeats.
const mostOfDigest = 80

// isPlainVersion reports whether a text is MAJOR.MINOR.PATCH with nothing behind it.
func isPlainVersion(text string) bool {
	v, err := semver.StrictNewVersion(text)
	return err == nil && v.Prerelease() == "" && v.Metadata() == ""
}

package repo

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Unit is a pack with everything that is beside it. Pack is nil where the
// document could not be read as an object; Faults say why.
type Unit struct {
	Name     string // of the pack file, relative to the repository's root
	Document *pack.Document
	Faults   []pack.Fault
	Pack     *pack.Pack
	// Published is the document as the file has it. It differs from Document only
	// in a unit that is resolved with overlays, and may be nil where Document is it.
	Published *pack.Document
	// Cases are the golden cases that could be read, by name.
	Cases []*Case
	// Packets, Metas and Records are the replay files that could be read, by
	// name, and Surface is the expected tool surface, nil where there is none.
	Packets []*Packet
	Metas   []*Meta
	Records []*Record
	Surface *ToolSurface
	// Scorecards are those that could be read, by name. They measured Published.
	Scorecards []*Scorecard
	// Overlays are those that could be read, by name.
	Overlays []*Overlay
	// Files are all side files, golden cases included, by name.
	Files []*SideFile
	// Beside are the packs of the repository that golden cases name beside this one.
	Beside []*Unit

	shared []string // ids of the packs that several tenants use
}

// Dir returns the folder of the pack, relative to the repository's root.
func (u *Unit) Dir() string { return path.Dir(u.Name) }

// Within returns the name of a file beside the pack as it is within the pack's
// folder. It sets apart the findings of two files that have one fault at one path,
// for a fingerprint knows of no file.
func (u *Unit) Within(name string) string { return strings.TrimPrefix(name, u.Dir()+"/") }

type sideKind struct{ pattern, kind string }

// signatureKind is that of the files with the signatures of scorecards, which are read with
// these and have no schema of ours.
const signatureKind = "signature"

// sideKinds says where side files stand beside a pack, and which schema each
// kind has. The first pattern that fits counts.
var sideKinds = []sideKind{
	{"scorecards/*" + signatureSuffix, signatureKind},
	{"golden/*" + caseSuffix, "case"},
	{"overlays/*.json", "overlay"},
	{"scorecards/*.json", "scorecard"},
	{"replay/*.packet.json", "replay-packet"},
	{"replay/*.record.json", "decision-record"},
	{"replay/*.meta.json", "replay-meta"},
	{"tool-surface.json", "tool-surface"},
}

// Belongs reports whether a file is the pack file itself or is beside it in
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

// SideKind returns the folder of the pack that a side file is beside, and its
// kind as in SideFile; ok is false for a file that is none. The name is relative
// to the root.
func SideKind(name string) (dir, kind string, ok bool) {
	segments := strings.Split(name, "/")
	for _, k := range sideKinds {
		n := len(segments) - 1 - strings.Count(k.pattern, "/")
		if n < 0 {
			continue
		}
		// The patterns are ours and valid.
		if ok, _ := path.Match(k.pattern, strings.Join(segments[n:], "/")); ok {
			return path.Join(append([]string{"."}, segments[:n]...)...), k.kind, true
		}
	}
	return "", "", false
}

// Unit reads a pack and its side files. The error is for what could not be read
// at all; what is wrong inside a file is in the Faults.
//
// Where several packs share a folder, a golden case, a replay packet or a decision
// record that names one of the others, and not this one, is left to it.
func (f *Files) Unit(name string, c *Config) (*Unit, error) {
	u, err := f.unit(name, c, sideKinds)
	if err != nil {
		return nil, err
	}
	u.checkNames()
	return u, f.companions(u, c)
}

// UnitWithScorecards reads a pack as Unit does, and of the files beside it the
// scorecards alone. What is wrong with their names is not among its faults.
func (f *Files) UnitWithScorecards(name string, c *Config) (*Unit, error) {
	return f.unit(name, c, scorecardKinds())
}

// scorecardKinds returns the kind of scorecards alone.
func scorecardKinds() []sideKind {
	i := slices.IndexFunc(sideKinds, func(k sideKind) bool { return k.kind == "scorecard" })
	return sideKinds[i : i+1]
}

// Scorecards returns the names of the scorecards beside a pack, and of the files in its folder that may be packs.
func (f *Files) Scorecards(packName string) (beside, cards []string, err error) {
	dir := path.Dir(packName)
	names, err := f.glob(path.Join(escapePattern(dir), besidePattern), path.Join(escapePattern(dir), scorecardKinds()[0].pattern))
	for _, name := range names {
		switch {
		case path.Dir(name) == dir:
			beside = append(beside, name)
		case !strings.HasSuffix(name, signatureSuffix):
			cards = append(cards, name)
		}
	}
	return beside, cards, err
}

// unit reads a pack and its side files of some kinds.
func (f *Files) unit(name string, c *Config, kinds []sideKind) (*Unit, error) {
	u := &Unit{Name: name, shared: pack.Values(c.SharedPacks)}
	doc, faults, err := f.Document(name, c.Limits)
	if err != nil {
		return nil, err
	}
	u.Use(doc, faults)
	u.Published = doc
	patterns := []string{path.Join(escapePattern(u.Dir()), besidePattern)}
	for _, k := range kinds {
		patterns = append(patterns, path.Join(escapePattern(u.Dir()), k.pattern))
	}
	names, err := f.glob(patterns...)
	if err != nil {
		return nil, err
	}
	others, err := f.neighbours(u, matching(names, u, besidePattern), c)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if k.kind == signatureKind {
			continue
		}
		for _, n := range matching(names, u, k.pattern) {
			if k.kind == "scorecard" && strings.HasSuffix(n, signatureSuffix) {
				continue // it is read with the scorecard
			}
			if err := f.addSide(u, n, k.kind, others, c); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

// besidePattern is what may be a pack in the folder of another one.
const besidePattern = "*.json"

// matching returns those of the files beside a pack that match a pattern, one of ours.
func matching(names []string, u *Unit, pattern string) (some []string) {
	for _, name := range names {
		if ok, _ := path.Match(pattern, u.Within(name)); ok {
			some = append(some, name)
		}
	}
	return some
}

// Use makes a document, with what the reader found in it, the pack of the unit.
func (u *Unit) Use(doc *pack.Document, faults []pack.Fault) {
	u.Document, u.Faults, u.Pack = doc, faults, pack.New(doc)
	if u.Pack != nil {
		u.Faults = append(u.Faults, u.Pack.Faults...)
		u.Pack.Shared = slices.Contains(u.shared, u.id())
	}
}

// neighbours returns the ids of the other packs in the unit's folder, which are some of its
// files.
func (f *Files) neighbours(u *Unit, names []string, c *Config) ([]string, error) {
	var ids []string
	for _, name := range names {
		if name == u.Name || !Matches(PackPatterns(c), name) {
			continue
		}
		d, _, err := f.Document(name, c.Limits)
		if err != nil {
			return nil, err
		}
		if p := pack.New(d); p != nil && p.PackMeta.PackID.OK {
			ids = append(ids, p.PackMeta.PackID.Value)
		}
	}
	return ids, nil
}

// addSide reads a file beside the pack. Of one that is not an object it cannot be told what
// it is about.
func (f *Files) addSide(u *Unit, name, kind string, others []string, c *Config) error {
	s := &SideFile{Kind: kind, Name: name}
	var err error
	if s.Document, s.Faults, err = f.Document(name, c.Limits); err != nil {
		return err
	}
	if root := s.Document.Root; root == nil || root.Kind != pack.Object {
		u.Files = append(u.Files, s)
		return nil
	}
	if !u.take(s, others) {
		return nil
	}
	u.Files = append(u.Files, s)
	switch kind {
	case "case":
		u.Cases[len(u.Cases)-1].Snapshot, err = f.snapshot(SnapshotName(name), c.Limits)
	case "scorecard":
		u.Scorecards[len(u.Scorecards)-1].Signature, err = f.signature(SignatureName(name))
	}
	return err
}

// maxSignature bounds the file with a signature, in bytes.
const maxSignature = 1 << 20

// signature reads the file with a signature. What is wrong with it is no fault of the pack:
// it is as if nobody had signed.
func (f *Files) signature(name string) (*Signature, error) {
	if there, err := f.Exists(name); !there || err != nil {
		return nil, err
	}
	s := &Signature{Name: name, File: f.Show(name)}
	var err error
	s.Source, err = f.within(name, maxSignature, "signature", "let the evaluator sign the scorecard again")
	if problem := new(Problem); errors.As(err, &problem) {
		s.Unread, err = problem.Message, nil
	} else if pack.IsPointer(s.Source) {
		s.Unread = pack.PointerMessage
	}
	return s, err
}

func (f *Files) snapshot(name string, limits pack.Limits) (*Snapshot, error) {
	if there, err := f.Exists(name); !there || err != nil {
		return nil, err
	}
	src, err := f.within(name, int64(limits.MaxBytes), "snapshot",
		"remove it and let packgate compile --update write it again")
	if err == nil && pack.IsPointer(src) {
		err = fileProblem(f.Show(name), pack.PointerMessage, pack.PointerHint)
	}
	if err != nil {
		return nil, err
	}
	return &Snapshot{Name: name, File: f.Show(name), Source: src}, nil
}

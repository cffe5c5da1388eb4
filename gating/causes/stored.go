package causes

import (
	"bytes"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// held are the rules that hold a pack against what was stored for it.
var held = []*gate.Rule{
	replay.RPL002, replay.RPL004, replay.RPL008, replay.RPL009, replay.RPL012, evaluation.EVL007, evaluation.EVL008,
}

// measured are the rules about whether the bytes of a pack were measured: any change is a
// cause of what they find, and none alone.
var measured = []*gate.Rule{evaluation.EVL009, evaluation.EVL013, required.NRN001}

func isOne(f *finding.Finding, rules []*gate.Rule) bool {
	return slices.ContainsFunc(rules, func(r *gate.Rule) bool { return r.ID == f.Rule })
}

// compareFiles finds out which files beside the pack changed.
func (s *search) compareFiles() {
	was := s.Subject.Before
	if s.Diff == nil || was == nil || was.Pack == nil {
		return
	}
	base, _ := s.Diff.Packs()
	before, now := files(was), files(s.Subject)
	s.beside = map[string]bool{}
	for _, pair := range [][2]map[string][]byte{{before, now}, {now, before}} {
		for name, source := range pair[0] {
			if other, there := pair[1][name]; !there || !bytes.Equal(source, other) {
				s.beside[name] = true
			}
		}
	}
	// A version before that could not be read whole is not the one that the pack is compared with.
	if !bytes.Equal(base.Node.Document().Source, was.Unit.Document.Source) {
		s.beside = nil
	}
	s.alone = s.beside != nil && len(s.beside) == 0
}

// files returns the files that a pack is gated with beside its own, as they are shown.
func files(s *gate.Subject) map[string][]byte {
	all := map[string][]byte{}
	for _, f := range s.Unit.Files {
		all[f.Document.File] = f.Document.Source
	}
	for _, c := range s.Unit.Cases {
		if c.Snapshot != nil {
			all[c.Snapshot.File] = c.Snapshot.Source
		}
	}
	for _, e := range s.Environments {
		all[e.Document.File] = e.Document.Source
	}
	return all
}

// stored finds what follows from changes of the pack: that it is not as it was stored any more.
func (s *search) stored() {
	if s.beside == nil || len(s.changes) == 0 {
		return
	}
	for i := range s.findings {
		f := &s.findings[i]
		if !s.free(i) || f.State != finding.New || !s.asBefore(f) {
			continue
		}
		switch {
		case isOne(f, held):
			f.Cause = s.group(f)
		case isOne(f, measured) && (f.Rule != required.NRN001.ID || f.Thing.Name == string(finding.Scorecard)):
			f.Cause = s.all()
		}
	}
}

// all returns every change as the cause.
func (s *search) all() *finding.Cause { return s.cause(s.changes) }

func (s *search) cause(changes []diffing.Change) *finding.Cause {
	var names []string
	for i := range changes {
		if name := changes[i].Fingerprint(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return &finding.Cause{Changes: names}
}

// asBefore reports whether the files that a finding is about, and all that they are compiled
// with, are as in the version before, and were without error there.
func (s *search) asBefore(f *finding.Finding) bool {
	about := map[string]bool{stem(f.Location.File): true}
	for _, r := range f.Related {
		if r.Location.Revision == "" {
			about[stem(r.Location.File)] = true
		}
	}
	whole := about[s.Subject.Unit.Document.File]
	for name := range s.beside {
		if whole || about[stem(name)] || s.shared(name) {
			return false
		}
	}
	return !slices.ContainsFunc(s.Was, func(was finding.Finding) bool {
		at := stem(was.Location.File)
		return was.Severity == finding.Error && !was.Excused() && about[at] && at != s.Subject.Unit.Document.File
	})
}

// shared reports whether a file is one that golden cases are compiled with: an overlay or a
// catalog.
func (s *search) shared(name string) bool {
	of := func(e *repo.Environment) bool { return e.Document.File == name }
	overlay := func(u *repo.Unit) bool {
		return slices.ContainsFunc(u.Overlays, func(o *repo.Overlay) bool { return o.Document.File == name })
	}
	return slices.ContainsFunc(s.Subject.Environments, of) || slices.ContainsFunc(s.Subject.Before.Environments, of) ||
		overlay(s.Subject.Unit) || overlay(s.Subject.Before.Unit)
}

// stem returns what the files of one golden case, or of one packet, have in common.
func stem(file string) string {
	for _, kind := range []string{".case.json", ".compiled.json", ".packet.json", ".meta.json"} {
		if rest, ok := strings.CutSuffix(file, kind); ok {
			return rest
		}
	}
	return file
}

// mostUndone is how many changes of a group are taken back.
const mostUndone = 32

// group returns the smallest group of changes whose undoing is found to end a finding.
func (s *search) group(f *finding.Finding) *finding.Cause {
	changes := s.near(f)
	switch {
	case len(changes) == 0, len(changes) > mostUndone:
		return s.all()
	case len(changes) == len(s.changes):
	case !s.ends(changes, f):
		return s.all()
	}
	for i := 0; i < len(changes) && len(changes) > 1; {
		fewer := slices.Delete(slices.Clone(changes), i, i+1)
		if s.ends(fewer, f) {
			changes = fewer
		} else {
			i++
		}
	}
	return s.cause(changes)
}

// ends reports whether a finding is gone once changes are taken back.
func (s *search) ends(changes []diffing.Change, f *finding.Finding) bool {
	w := s.without(func(d *pack.Document) ([]byte, error) { return undo(d, changes) })
	return w != nil && w.lacks(f)
}

// near returns the changes from which the compiles differ that a finding is about: that of its
// golden case, or else all of them.
func (s *search) near(f *finding.Finding) []diffing.Change {
	about := map[string]bool{stem(f.Location.File): true}
	for _, r := range f.Related {
		about[stem(r.Location.File)] = true
	}
	own := slices.ContainsFunc(s.Compiles, func(c compiles.Case) bool { return about[stem(c.File)] })
	var changes []diffing.Change
	for i := range s.changes {
		comes := func(from compiles.Cause) bool { return s.is(&s.changes[i], from) }
		if slices.ContainsFunc(s.Compiles, func(c compiles.Case) bool {
			return (!own || about[stem(c.File)]) && (slices.ContainsFunc(c.Causes, comes) ||
				slices.ContainsFunc(c.Sections, func(part compiles.Section) bool { return slices.ContainsFunc(part.Causes, comes) }))
		}) {
			changes = append(changes, s.changes[i])
		}
	}
	return changes
}

func (s *search) is(c *diffing.Change, from compiles.Cause) bool {
	return c.Path == from.Path && (c.New == nil) == from.Gone
}

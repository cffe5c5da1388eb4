package causes

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// held are the rules that compare a pack with what was stored for it.
var held = []*gate.Rule{
	replay.RPL002, replay.RPL004, replay.RPL008, replay.RPL009, replay.RPL012, evaluation.EVL007, evaluation.EVL008,
}

// measured are the rules about whether the bytes of a pack were measured: what they find follows from
// all changes together.
var measured = []*gate.Rule{evaluation.EVL009, evaluation.EVL013}

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
	// If the version before could not be read completely, the pack is compared with another one.
	if !bytes.Equal(base.Node.Document().Source, was.Unit.Document.Source) {
		s.beside = nil
	}
	s.alone = s.beside != nil && len(s.beside) == 0
}

// files returns the content of the files that a pack is gated with beside its own, by their names as
// messages show them.
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

// stored finds what follows from changes of the pack, or of its overlays: that the pack no longer
// matches what was stored.
func (s *search) stored() {
	if len(s.changes)+len(s.Environments) == 0 {
		return
	}
	for i := range s.findings {
		f := &s.findings[i]
		if !s.free(i) || f.State != finding.New {
			continue
		}
		switch asBefore := s.asBefore(f); {
		case isOne(f, held) && !asBefore && s.overlaid(f):
			f.Cause = s.all()
			for _, e := range s.Environments {
				f.Cause.Changes = named(f.Cause.Changes, e.Changes)
			}
		case len(s.changes) == 0 || !asBefore:
		case isOne(f, held):
			f.Cause = s.group(f)
		case isOne(f, measured):
			f.Cause = s.all()
		}
	}
}

// unread finds what follows from an error of form because of which a pack is not compared: whether
// what was stored for it fits is only known once the pack can be read.
func (s *search) unread() {
	if s.Diff != nil || s.Subject.Before == nil || s.Subject.Before.Pack == nil {
		return
	}
	root := slices.IndexFunc(s.findings, func(f finding.Finding) bool {
		return f.Gate == schema.Gate.ID && f.Severity == finding.Error && f.Location.File == s.Subject.Unit.Document.File && !f.Excused() && f.Cause == nil
	})
	if root < 0 {
		return
	}
	for i := range s.findings {
		if f := &s.findings[i]; s.free(i) && f.State == finding.New && (isOne(f, held) || isOne(f, measured)) {
			s.follows(i, root)
		}
	}
}

// required finds that a required scorecard is missing because the scorecard that is there measured
// other bytes.
func (s *search) required() {
	for i := range s.findings {
		f := &s.findings[i]
		if f.Rule != required.NRN001.ID || f.Thing.Name != string(finding.Scorecard) || !s.free(i) {
			continue
		}
		from := slices.IndexFunc(s.findings, func(e finding.Finding) bool {
			return e.Rule == evaluation.EVL009.ID && e.Severity == finding.Error && !e.Excused() && e.State == f.State
		})
		if from >= 0 {
			s.follows(i, from)
		}
	}
}

// all returns every change as the cause.
func (s *search) all() *finding.Cause {
	group := make([]int, len(s.changes))
	for i := range group {
		group[i] = i
	}
	return s.cause(group)
}

// cause returns changes as a cause, each fingerprint once.
func (s *search) cause(group []int) *finding.Cause {
	var changes []diffing.Change
	for _, i := range group {
		changes = append(changes, s.changes[i])
	}
	return &finding.Cause{Changes: named(nil, changes)}
}

// named adds the fingerprints of changes to a list, each once.
func named(list []string, changes []diffing.Change) []string {
	for i := range changes {
		if name := changes[i].Fingerprint(); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// asBefore reports whether the files that a finding is about, and everything that they are compiled
// with, are as in the version before, and had no error there.
func (s *search) asBefore(f *finding.Finding) bool { return s.asBeforeBut(f, s.shared) }

// overlaid is asBefore where overlays differ, and all that differs of what golden cases are compiled
// with is among the changes of environments.
func (s *search) overlaid(f *finding.Finding) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.beside)), s.compared) &&
		s.asBeforeBut(f, func(name string) bool { return s.shared(name) && !s.compared(name) })
}

// compared reports whether a file is an overlay of an environment whose changes are known.
func (s *search) compared(name string) bool {
	return slices.ContainsFunc(slices.Concat(s.Subject.Unit.Overlays, s.Subject.Before.Unit.Overlays), func(o *repo.Overlay) bool {
		return o.Document.File == name && slices.ContainsFunc(s.Environments, func(e environments.Change) bool {
			return e.Environment == o.Environment.Value && e.Reason == "" && len(e.Changes) > 0
		})
	})
}

// asBeforeBut is asBefore, with what of the other files of the pack has to be as it was.
func (s *search) asBeforeBut(f *finding.Finding, same func(name string) bool) bool {
	if s.beside == nil {
		return false
	}
	about := map[string]bool{stem(f.Location.File): true}
	for _, r := range f.Related {
		if r.Location.Revision == "" {
			about[stem(r.Location.File)] = true
		}
	}
	whole := about[s.Subject.Unit.Document.File]
	for name := range s.beside {
		if whole || about[stem(name)] || same(name) {
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

// group returns the smallest group of changes whose undoing is found to end a finding: its golden
// cases have their earlier results again or, if the finding is about all cases, the rule no longer
// finds it. The latter is tried once.
func (s *search) group(f *finding.Finding) *finding.Cause {
	cases := s.casesOf(f)
	ends := func(w *world) bool { return s.ends(w, f) }
	own := len(cases) > 0
	if !own {
		for i := range s.Compiles {
			cases = append(cases, &s.Compiles[i])
		}
	}
	group := s.near(cases)
	switch {
	case len(group) == 0, len(group) > mostUndone:
		return s.all()
	case own:
		if smaller, known := s.smaller(group); known && s.undone(smaller, ends) {
			return s.cause(smaller)
		}
	}
	if len(group) < len(s.changes) && !s.undone(group, ends) {
		return s.all()
	}
	smallest := group
	for i := 0; own && i < len(smallest) && len(smallest) > 1; {
		if fewer := slices.Delete(slices.Clone(smallest), i, i+1); s.undone(fewer, ends) {
			smallest = fewer
		} else {
			i++
		}
	}
	if own {
		s.reduced = append(s.reduced, [2][]int{group, smallest})
	}
	return s.cause(smallest)
}

// smaller returns what a group of changes was reduced to before.
func (s *search) smaller(group []int) ([]int, bool) {
	for _, r := range s.reduced {
		if slices.Equal(r[0], group) {
			return r[1], true
		}
	}
	return nil, false
}

// undone reports whether undoing a group of changes gives a valid pack that satisfies ends. Without any
// of its changes the pack is the version before.
func (s *search) undone(group []int, ends func(*world) bool) bool {
	if len(group) == len(s.changes) {
		return true
	}
	at := slices.IndexFunc(s.tried, func(t tried) bool { return slices.Equal(t.group, group) })
	if at < 0 {
		var changes []diffing.Change
		for _, i := range group {
			changes = append(changes, s.changes[i])
		}
		at = len(s.tried)
		s.tried = append(s.tried, tried{group, s.without(func(d *pack.Document) ([]byte, error) { return undo(d, changes) })})
	}
	w := s.tried[at].world
	return w != nil && ends(w) && w.valid()
}

// tried is a group of changes with the pack without them; nil where there is none.
type tried struct {
	group []int
	world *world
}

// casesOf returns the golden cases that a finding is about; none if it is about all.
func (s *search) casesOf(f *finding.Finding) (cases []*compiles.Case) {
	if f.Gate != replay.Gate.ID {
		return nil
	}
	about := map[string]bool{stem(f.Location.File): true}
	for _, r := range f.Related {
		about[stem(r.Location.File)] = true
	}
	for i := range s.Compiles {
		if about[stem(s.Compiles[i].File)] {
			cases = append(cases, &s.Compiles[i])
		}
	}
	return cases
}

// near returns the changes that make the compiles of golden cases differ, by their indexes.
func (s *search) near(cases []*compiles.Case) (group []int) {
	for i := range s.changes {
		comes := func(from compiles.Cause) bool {
			return s.changes[i].Path == from.Path && (s.changes[i].New == nil) == from.Gone
		}
		if slices.ContainsFunc(cases, func(c *compiles.Case) bool {
			return slices.ContainsFunc(c.Causes, comes) ||
				slices.ContainsFunc(c.Sections, func(part compiles.Section) bool { return slices.ContainsFunc(part.Causes, comes) })
		}) {
			group = append(group, i)
		}
	}
	return group
}

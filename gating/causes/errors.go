package causes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/policyrules"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/risk"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/gates/tenancy"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/pack"
)

// misread are the rules, beside those of the schema and the references gate, that find a value that
// refers to nothing or cannot be read.
var misread = []*gate.Rule{policyrules.POL005, policyrules.POL008, risk.RSK004, tenancy.TEN001, overlays.OVL002}

// permitting are the gates whose findings are about what a pack may do: their findings stand for
// themselves, unless correcting the one value that an error is about ends them.
var permitting = []string{policyrules.Gate.ID, risk.Gate.ID, overlays.Gate.ID}

// errors finds what follows from an error of a reference or of the form, and before that from a pack
// that is not the same one.
func (s *search) errors() {
	s.of(version.VER005)
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			if g == schema.Gate || g == references.Gate || slices.Contains(misread, r) {
				s.of(r)
			}
		}
	}
	s.together()
}

// of finds what follows from the errors of a rule.
func (s *search) of(r *gate.Rule) {
	for i := range s.findings {
		if f := &s.findings[i]; f.Rule == r.ID && f.Severity == finding.Error && s.free(i) {
			s.error(i)
		}
	}
}

// remedy is a way to end an error: what to do with the pack, and how far it reaches.
type remedy struct {
	edit func(*pack.Document) ([]byte, error)
	// own is set if only the value that the error is about is corrected.
	own bool
	// at is set if the error is found at that value, and not where something refers to it.
	at bool
	// only is the name that is put back with everything under it, "" if only a scalar is corrected.
	only string
	// changes are the paths of the changes that are undone, if they are known.
	changes []string
	// steps is set if the remedy undoes a change, so that it cannot end anything that was there before.
	steps bool
}

// error finds what follows from one error.
func (s *search) error(i int) {
	for _, r := range s.remedies(&s.findings[i]) {
		w := s.without(r.edit)
		f := &s.findings[i]
		restored := f.Rule == version.VER005.ID && r.steps // no rule finds this one when it is run again
		if w == nil || !restored && !w.lacks(f) || !w.valid() {
			continue
		}
		s.spread(i, &r, w)
		if restored || r.at {
			s.rejected(i, &r)
		}
		if r.at && r.steps {
			s.mistyped = append(s.mistyped, mistyped{i, r.changes})
		}
		if w.fixed && r.at {
			s.step(version.VER001, i)
		}
		return
	}
}

// mistyped is an error of a value that the change has typed, with the changes that the value is of.
type mistyped struct {
	error   int // its index in the findings
	changes []string
}

// together finds what follows from several mistyped values, where it does not follow from one of
// them alone: that a change is unsafe under any version, and whatever else the change brings where
// it is of nothing but them.
func (s *search) together() {
	all := slices.DeleteFunc(s.mistyped, func(m mistyped) bool { return s.findings[m.error].Cause != nil })
	if len(all) < 2 {
		return
	}
	r := remedy{own: true, at: true, steps: true}
	for _, m := range all {
		s.root[s.findings[m.error].Fingerprint()] = true
		r.changes = append(r.changes, m.changes...)
	}
	first := all[0].error
	s.rejected(first, &r)
	other := func(c diffing.Change) bool { return !slices.Contains(r.changes, c.Path) }
	if s.alone && !slices.ContainsFunc(s.changes, other) {
		s.spread(first, &r, &world{step: &s.Step, found: kinsOf(s.Was), fixed: true})
		s.step(version.VER001, first)
	}
}

// step notes that what a rule finds in the step to the new version follows from an error.
func (s *search) step(r *gate.Rule, i int) {
	for other := range s.findings {
		if s.findings[other].Rule == r.ID && s.free(other) {
			s.follows(other, i)
		}
	}
}

// rejected notes that the only reason why a change is unsafe under any version is an error: that the
// pack is not the same one, or the value that the error is about.
func (s *search) rejected(i int, r *remedy) {
	if slices.ContainsFunc(s.changes, func(c diffing.Change) bool { return c.Class == diffing.Reject && !slices.Contains(r.changes, c.Path) }) {
		return
	}
	s.step(version.VER006, i)
}

// spread notes what follows from an error that is gone from a world. Findings about all golden cases
// come last, and are left out if one of the cases is not as it was before.
func (s *search) spread(i int, r *remedy, w *world) {
	drifts := false
	var last []int
	for other := range s.findings {
		f := &s.findings[other]
		switch {
		case other == i || !s.free(other) || !r.reaches(&s.findings[i], f):
		case isOne(f, held) && len(s.casesOf(f)) == 0:
			last = append(last, other)
		case !s.others(r, f) && s.ends(w, f):
			s.follows(other, i)
		default:
			drifts = drifts || isOne(f, held)
		}
	}
	for _, other := range last {
		if !drifts && w.lacks(&s.findings[other]) {
			s.follows(other, i)
		}
	}
}

// others reports whether the golden case of a finding differs from the version before for
// changes that a remedy does not take back: then it need not be compiled.
func (s *search) others(r *remedy, f *finding.Finding) bool {
	return r.changes != nil && isOne(f, held) &&
		slices.ContainsFunc(s.near(s.casesOf(f)), func(i int) bool { return !slices.Contains(r.changes, s.changes[i].Path) })
}

// ends reports whether a finding is known not to be in a world. What is stored for a golden case fits
// if the case has the result that it had in the version before.
func (s *search) ends(w *world, f *finding.Finding) bool {
	cases := s.casesOf(f)
	if len(cases) == 0 || !isOne(f, held) || !s.asBefore(f) {
		return w.lacks(f)
	}
	return !slices.ContainsFunc(cases, func(c *compiles.Case) bool { return !w.asBefore(c) })
}

// reaches reports whether a finding can follow from an error that the remedy ends.
func (r *remedy) reaches(e, f *finding.Finding) bool {
	rule, g := gates.Find(f.Rule)
	if rule == nil || rule.Ratchet || r.steps && f.State != finding.New {
		return false
	}
	id := g.ID
	if f.Rule == finding.NotProved {
		id = f.Gate
	}
	broken := g == schema.Gate || g == references.Gate
	switch {
	case r.only != "":
		return broken && strings.Contains(f.Message, fmt.Sprintf("%q", r.only))
	case f.Rule == e.Rule, broken, g == replay.Gate, g == evaluation.Gate:
		return true
	case g == tenancy.Gate:
		return e.Gate == tenancy.Gate.ID || e.Rule == version.VER005.ID
	}
	return r.own && slices.Contains(permitting, id)
}

// mostRemedies is how many ways to end one error are tried.
const mostRemedies = 3

// remedies returns ways to end an error, the likeliest first.
func (s *search) remedies(e *finding.Finding) (list []remedy) {
	for rank, near := range []func(*atom) (bool, bool){
		func(a *atom) (bool, bool) { return s.at(a, e.Location), true },
		func(a *atom) (bool, bool) { return a.identity && s.names(a, e), true },
		func(a *atom) (bool, bool) {
			return slices.ContainsFunc(e.Related, func(r finding.Related) bool { return s.at(a, r.Location) }), false
		},
	} {
		for i := range s.atoms {
			if is, own := near(&s.atoms[i]); is && e.State == finding.New {
				a := s.atoms[i]
				list = append(list, remedy{edit: a.undo, own: own, at: rank == 0, steps: true, changes: a.changes})
			}
		}
	}
	for i := range s.changes {
		if c := &s.changes[i]; c.New == nil && e.State == finding.New {
			if old := lostName(c); old != "" && strings.Contains(e.Message, fmt.Sprintf("%q", old)) {
				list = append(list, remedy{edit: func(d *pack.Document) ([]byte, error) { return undo(d, []diffing.Change{*c}) }, only: old, steps: true})
			}
		}
	}
	if fix := e.Fix; fix != nil && e.Location.File == s.Subject.Unit.Document.File {
		own := len(fix.Operations) == 1 && fix.Operations[0].Op == "replace" && s.leads(fix.Operations[0].Path, e.Location.Pointer)
		list = append(list, remedy{edit: func(d *pack.Document) ([]byte, error) { return pack.Edit(d, fix.Operations) }, own: own})
	}
	return list[:min(len(list), mostRemedies)]
}

// undo puts the scalar back.
func (a *atom) undo(d *pack.Document) ([]byte, error) {
	return pack.Edit(d, []finding.Operation{{Op: "replace", Path: a.is.Pointer(), Value: a.was.Raw()}})
}

// at reports whether a scalar is the value at a place.
func (s *search) at(a *atom, l finding.Location) bool {
	return l.File == s.Subject.Unit.Document.File && l.Revision == "" && l.Pointer == a.is.Pointer()
}

// leads reports whether a pointer or a keyed path is that of the value at a pointer.
func (s *search) leads(path, pointer string) bool {
	root := s.Subject.Unit.Document.Root
	at := root.Find(path)
	if at == nil {
		at = root.FindKeyed(path)
	}
	return at != nil && at.Pointer() == pointer
}

// names reports whether the message of an error quotes the name that a thing had before.
func (s *search) names(a *atom, e *finding.Finding) bool {
	return a.was.Kind == pack.String && strings.Contains(e.Message, fmt.Sprintf("%q", a.was.Text))
}

// lostName returns the name of a thing that was removed.
func lostName(c *diffing.Change) string {
	segments, ok := pack.SplitPointer(c.Path)
	if !ok || len(segments) == 0 {
		return ""
	}
	return segments[len(segments)-1]
}

// places finds that no golden case can be compiled because of what an error is about.
func (s *search) places() {
	for i := range s.findings {
		f := &s.findings[i]
		if f.Rule != replay.RPL009.ID || f.Key != replay.Unfit || !s.free(i) {
			continue
		}
		for from := range s.findings {
			e := &s.findings[from]
			broken := e.Gate == schema.Gate.ID || e.Gate == references.Gate.ID || slices.ContainsFunc(misread, func(r *gate.Rule) bool { return r.ID == e.Rule })
			if broken && e.Severity == finding.Error && !e.Excused() && e.Location.File == f.Location.File && e.Location.Pointer == f.Location.Pointer {
				s.follows(i, from)
				break
			}
		}
	}
}

// environments finds findings that repeat one about the same place for another environment.
func (s *search) environments() {
	for i := range s.findings {
		for from := range i {
			if s.free(i) && s.repeats(&s.findings[from], &s.findings[i]) {
				s.follows(i, from)
				break
			}
		}
	}
}

// repeats reports whether two findings differ only in the environment that they name.
func (s *search) repeats(first, f *finding.Finding) bool {
	if first.Excused() || first.Rule != f.Rule || first.Severity != f.Severity || first.Location != f.Location || f.Location.Pointer == "" || first.State != f.State {
		return false
	}
	for _, a := range s.Subject.Environments {
		for _, b := range s.Subject.Environments {
			same := func(x, y string) bool { return strings.ReplaceAll(x, a.Name(), b.Name()) == y }
			if a != b && first.Key != f.Key && same(first.Key, f.Key) && same(first.Message, f.Message) {
				return true
			}
		}
	}
	return false
}

package causes

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/pack"
)

// world is the pack as it would be without some changes. Rules look at it, and golden cases are
// compiled with it, when they are first asked about.
type world struct {
	source  []byte
	step    *Step
	subject *gate.Subject
	found   map[string]map[string]bool // kins by rule
	fixed   bool                       // it is the version before, and found is all there is
	faults  int                        // that the reader found
	trial   *compiles.Trial
	alike   map[*compiles.Case]bool
	valid   func() bool
}

// lacks reports whether a finding is known not to be found in this world.
func (w *world) lacks(f *finding.Finding) bool {
	if w.fixed {
		return !w.found[f.Rule][f.Kin()]
	}
	kins, known := w.found[f.Rule]
	if !known {
		list, ok := gates.Again(w.subject, w.step.Policy, f.Rule)
		if ok {
			kins = kinsOf(list)[f.Rule]
			if kins == nil {
				kins = map[string]bool{}
			}
		}
		w.found[f.Rule] = kins
	}
	return kins != nil && !kins[f.Kin()]
}

// asBefore reports whether a golden case has the result that it had in the version before.
func (w *world) asBefore(c *compiles.Case) bool {
	is, known := w.alike[c]
	if !known {
		is = w.fixed || w.subject.Pack != nil && w.trial.AsBase(c)
		w.alike[c] = is
	}
	return is
}

// kinsOf returns the kins of findings by their rules.
func kinsOf(list []finding.Finding) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range list {
		if all[f.Rule] == nil {
			all[f.Rule] = map[string]bool{}
		}
		all[f.Rule][f.Kin()] = true
	}
	return all
}

// without returns the pack after an edit, nil if the edit cannot be made or no more may be tried.
func (s *search) without(edit func(*pack.Document) ([]byte, error)) *world {
	if s.ctx.Err() != nil {
		return nil
	}
	doc := s.Subject.Unit.Document
	src, err := edit(doc)
	if err != nil || bytes.Equal(src, doc.Source) {
		return nil
	}
	if at := slices.IndexFunc(s.worlds, func(w *world) bool { return bytes.Equal(w.source, src) }); at >= 0 {
		return s.worlds[at]
	}
	if s.left == 0 {
		return nil
	}
	s.left--
	w := s.open(src)
	s.worlds = append(s.worlds, w)
	return w
}

// open reads the pack of a world.
func (s *search) open(src []byte) *world {
	w := &world{source: src, step: &s.Step, found: map[string]map[string]bool{}, alike: map[*compiles.Case]bool{}}
	doc, faults := pack.Read(s.Subject.Unit.Document.File, src, s.Subject.Config.Limits)
	doc.Revision = s.Subject.Unit.Document.Revision
	if s.isBase(doc) {
		w.found, w.fixed = kinsOf(s.Was), true
		w.valid = func() bool { return true }
		return w
	}
	w.subject, w.faults = s.Subject.Instead(doc, faults), len(faults)
	w.trial = compiles.NewTrial(w.subject.Pack, w.subject.Unit)
	w.valid = sync.OnceValue(func() bool { return w.sound(kinsOf(s.findings)) })
	return w
}

// sound reports whether the pack has no errors of form and no dangling references beside those that
// are given.
func (w *world) sound(there map[string]map[string]bool) bool {
	if w.subject.Pack == nil || w.faults > 0 {
		return false
	}
	for _, g := range []*gate.Gate{schema.Gate, references.Gate} {
		for _, r := range g.Rules {
			list, ok := gates.Again(w.subject, w.step.Policy, r.ID)
			brought := func(f finding.Finding) bool { return f.Severity == finding.Error && !there[f.Rule][f.Kin()] }
			if !ok || slices.ContainsFunc(list, brought) {
				return false
			}
		}
	}
	return true
}

// isBase reports whether a pack is that of the version before, with the files beside it as
// they were.
func (s *search) isBase(doc *pack.Document) bool {
	if !s.alone {
		return false
	}
	was, err := s.Subject.Before.Unit.Document.CanonicalDigest()
	if err != nil {
		return false
	}
	is, err := doc.CanonicalDigest()
	return err == nil && is == was
}

var errPlace = errors.New("there is no place for it")

// undo returns a pack without some of its changes. Values are put back first, then what was added is
// removed from the end to the beginning, and what was removed is put back in its place.
func undo(doc *pack.Document, changes []diffing.Change) ([]byte, error) {
	var put, take, back []diffing.Change
	for _, c := range changes {
		switch {
		case c.Old == nil:
			take = append(take, c)
		case c.New == nil:
			back = append(back, c)
		default:
			put = append(put, c)
		}
	}
	var ops []finding.Operation
	for _, c := range put {
		ops = append(ops, finding.Operation{Op: "replace", Path: c.New.Pointer(), Value: c.Old.Raw()})
	}
	slices.SortFunc(take, func(a, b diffing.Change) int { return b.New.Start - a.New.Start })
	for _, c := range take {
		ops = append(ops, finding.Operation{Op: "remove", Path: c.New.Pointer()})
	}
	src, err := pack.Edit(doc, ops)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(back, func(a, b diffing.Change) int { return a.Old.Start - b.Old.Start })
	for _, c := range back {
		now := pack.NewDocument(doc.File, src, nil)
		op, err := putBack(now, c.Old)
		if err == nil {
			src, err = pack.Edit(now, []finding.Operation{op})
		}
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// putBack returns the operation that adds a value of an earlier version to a document. An item of a
// list goes behind the nearest item that was before it.
func putBack(doc *pack.Document, old *pack.Node) (finding.Operation, error) {
	op := finding.Operation{Op: "add", Value: old.Raw()}
	if old.Parent == nil {
		return op, errPlace
	}
	parent, _ := pack.Read(doc.File, doc.Source, pack.Limits{MaxBytes: len(doc.Source), MaxDepth: 1 << 10, MaxValues: 1 << 30})
	if parent.Root == nil {
		return op, errPlace
	}
	into := parent.Root
	if path := old.Parent.KeyedPath(); path != "" {
		into = parent.Root.FindKeyed(path)
	}
	switch {
	case into == nil || into.Kind != old.Parent.Kind:
		return op, errPlace
	case into.Kind == pack.Object:
		name, _ := old.Name()
		op.Path = into.Pointer() + "/" + pack.EscapeSegment(name)
		return op, nil
	}
	at := 0
	for _, sibling := range slices.Backward(old.Parent.Items[:old.Index]) {
		if i := slices.IndexFunc(into.Items, func(n *pack.Node) bool { return last(n) == last(sibling) }); i >= 0 {
			at = i + 1
			break
		}
	}
	op.Path = into.Pointer() + "/" + strconv.Itoa(at)
	return op, nil
}

// last returns the last segment of a keyed path, which identifies an item of a list.
func last(n *pack.Node) string {
	path := n.KeyedPath()
	return path[strings.LastIndexByte(path, '/')+1:]
}

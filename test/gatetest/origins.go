package gatetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// indecisive are the layers that no rule with an origin looks at, and a member that nobody knows.
var indecisive = []string{"business_context", "memory_layer", "tone_and_comms"}

// Origin checks the origin of a rule (gate.Origin) with a subject: what the rule says of the
// same layers in another text, with nothing beside them, is what it says of the subject, word
// for word and at the places that the subject has.
func Origin(t *testing.T, g *gate.Gate, r *gate.Rule, s *gate.Subject) {
	t.Helper()
	if r.From == gate.Anything || s.Before != nil || s.Pack == nil || len(s.Unit.Faults) > 0 {
		return
	}
	wanted, unchecked := gate.NewSubject(s.Unit, s.Environments, s.Config).Check(g, r)
	kept := &gate.Kept{}
	other := bare(t, r, s).Keep(kept)
	other.Check(g, r)
	other.Done()
	found, unable, ok := gate.NewSubject(s.Unit, s.Environments, s.Config).Keep(kept).Said(r)
	elsewhere := func(f finding.Finding) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Location.Pointer, "/"), "/")
		return name == "" || slices.Contains(indecisive, name)
	}
	switch broken := s.Proof().Broken() != ""; {
	case ok && broken:
		t.Errorf("what %s says of a pack that cannot be compiled is kept", r.ID)
	case !ok && !broken && !slices.ContainsFunc(wanted, elsewhere):
		t.Errorf("nothing is kept of %s", r.ID)
	case ok && (len(found)+len(wanted) > 0 && !reflect.DeepEqual(found, wanted) || len(unable)+len(unchecked) > 0 && !reflect.DeepEqual(unable, unchecked)):
		t.Errorf("%s follows from more than its origin says: it says %+v and %+v, and of the origin alone %+v and %+v", r.ID, wanted, unchecked, found, unable)
	}
}

// bare returns a subject that has what a rule's results follow from, elsewhere in its text, and
// nothing else.
func bare(t *testing.T, r *gate.Rule, s *gate.Subject) *gate.Subject {
	t.Helper()
	var operations []finding.Operation
	for _, name := range indecisive {
		if s.Pack.Node.Get(name) != nil {
			operations = append(operations, finding.Operation{Op: "remove", Path: "/" + name})
		}
	}
	src, err := pack.Edit(s.Unit.Document, operations)
	if err != nil {
		t.Fatal(err)
	}
	unit := &repo.Unit{Name: s.Unit.Name}
	unit.Use(read(s.Unit.Document.File, []byte("\n\t"+strings.Replace(string(src), "{", "{\n\n   ", 1))))
	unit.Pack.Shared, unit.Published = s.Pack.Shared, unit.Document
	if r.From == gate.FromOverlays {
		unit.Overlays = s.Unit.Overlays
	}
	return gate.NewSubject(unit, nil, s.Config)
}

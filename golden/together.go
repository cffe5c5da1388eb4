package golden

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// mostTogether is how many packs a case may name.
const mostTogether = 64

// findTogether finds the packs that the case names, in its order. What is no pack is noted;
// a pack that cannot be found, or is not the version that is named, is a problem.
func (t *trial) findTogether() {
	own := t.unit.Pack.PackMeta.PackID.Value
	if !slices.ContainsFunc(t.References(), func(ref *pack.Node) bool { id, _ := repo.Artifact(ref); return id == own }) {
		return // it is about another pack, which is said
	}
	var packs []*repo.Unit
	for _, ref := range t.References() {
		id, pinned := repo.Artifact(ref)
		switch there := t.unit.Companions(id); {
		case id == own:
			packs = append(packs, t.unit)
		case !pinned: // the schema refuses it
		case len(there) > 0:
			packs = append(packs, t.versions(ref, there)...)
		case repo.IsOtherKind(id):
			t.Beside = append(t.Beside, ref)
		default:
			t.problem(KindTogether, ref, "add the pack to the repository, correct its pack_id here, or do not name it",
				fmt.Sprintf("the case names %q, and no pack of this repository that can be read has the pack_id %q", ref.Text, id))
		}
		if len(packs) > mostTogether {
			t.problem(KindTogether, ref, "name fewer", fmt.Sprintf("the case names more than %d packs", mostTogether))
			return
		}
	}
	if slices.ContainsFunc(t.Problems, func(p Problem) bool { return p.Kind == KindTogether }) {
		return
	}
	for _, u := range packs {
		if u != t.unit && !slices.Contains(t.Together, u) {
			t.Together = append(t.Together, u)
		}
	}
	if len(t.Together) > 0 {
		t.packs = packs
	}
}

// versions returns the files of the version of a pack that is named.
func (t *trial) versions(ref *pack.Node, there []*repo.Unit) (packs []*repo.Unit) {
	for _, u := range there {
		if u.Pack == nil || len(u.Faults) > 0 {
			why := "its root is not an object"
			if len(u.Faults) > 0 {
				why = u.Faults[0].Message
			}
			t.problem(KindTogether, ref, "fix that pack first", fmt.Sprintf("the case names %q, and %s cannot be read: %s", ref.Text, u.Document.File, why))
			return nil
		}
		if u.Pack.Ref() == ref.Text {
			packs = append(packs, u)
		}
	}
	if packs == nil {
		t.problem(KindTogether, ref, fmt.Sprintf("write %q, or let packgate bump move the references of cases with pack_version", there[0].Pack.Ref()),
			fmt.Sprintf("the case names %q and the pack is %q", ref.Text, there[0].Pack.Ref()))
	}
	return packs
}

// unite lets the case be compiled with all the packs that it names, each with its overlays
// for the environment of the case's own.
func (t *trial) unite() {
	if len(t.Together) == 0 || len(t.Problems) > 0 {
		return
	}
	t.subject = t.suite.together(t.Result.Overlay, t.subject, t.packs)
	for _, c := range t.subject.conflicts {
		p := Problem{Kind: KindTogether, Severity: finding.Error, Hint: c.Hint, Location: t.place(c.At, t.Case.Node),
			Message: "the packs cannot be used together: " + c.Message}
		if c.Other != nil {
			p.Related = []finding.Related{{Location: t.written(c.Other), Message: "the other one"}}
		}
		t.Problems = append(t.Problems, p)
	}
}

// together returns the packs that a case names as one, made once; alone is its own pack, with
// its overlay.
func (s *suite) together(overlayID string, alone *subject, packs []*repo.Unit) *subject {
	for _, have := range s.unions {
		if have.overlay == overlayID && slices.Equal(have.packs, packs) {
			return have
		}
	}
	made := &subject{environment: alone.environment, overlay: overlayID, packs: packs}
	s.unions = append(s.unions, made)
	models := make([]*policy.Model, 0, len(packs))
	for _, u := range packs {
		if u == s.unit {
			models = append(models, alone.Model)
			continue
		}
		resolved, conflict := InEnvironment(u, alone.environment)
		if conflict != nil {
			made.conflicts = append(made.conflicts, *conflict)
			continue
		}
		models = append(models, alone.Beside(resolved))
	}
	if len(made.conflicts) > 0 {
		return made
	}
	var united *policy.Model
	if united, made.conflicts = policy.Unite(models...); united != nil {
		made.Program = compiler.For(united)
	}
	return made
}

// InEnvironment returns a pack with the overlays that it has for an environment, "" for none,
// or why they cannot be applied.
func InEnvironment(u *repo.Unit, environment string) (*pack.Pack, *pack.Conflict) {
	if environment == "" {
		return u.Pack, nil
	}
	for _, v := range overlay.Views(u) {
		if v.Environment != environment {
			continue
		}
		if len(v.Skipped) > 0 {
			r := v.Skipped[0].Refusal
			return nil, &pack.Conflict{At: pack.Place(r.At, u.Pack.Node), Hint: r.Hint, Message: fmt.Sprintf("an overlay of %q is refused: %s", u.Pack.Ref(), r.Message)}
		}
		return v.Unit.Pack, nil
	}
	return u.Pack, nil
}

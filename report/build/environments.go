package build

import (
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// newEnvironment puts what a change brings to an environment into the report's form. What
// comes from an overlay stands there, and not in the pack.
func newEnvironment(e environments.Change) model.Environment {
	out := model.Environment{Environment: e.Environment, Class: e.Class.String(), NotCompared: e.Reason, Effects: each(nil, e.Effects, newEffect)}
	placed := func(c model.Change, from diffing.Change) model.Change {
		if at := e.Place(from); at != nil {
			l := at.Location()
			c.File, c.Line, c.Column, c.BaseLine = l.File, l.Start.Line, l.Start.Column, 0
		}
		return c
	}
	for _, c := range e.Changes {
		out.Changes = append(out.Changes, placed(newChange(c), c))
	}
	for _, l := range e.Loosened {
		weaker := newLoosened(l)
		weaker.Change = placed(weaker.Change, l.Change)
		out.Loosened = append(out.Loosened, weaker)
	}
	for _, c := range e.Catalog {
		change := newCatalogChange(c)
		out.Changes = append(out.Changes, change)
		if c.Effect == repo.Released {
			out.Loosened = append(out.Loosened, model.Loosened{What: "bound of the catalog loosened or removed", Verdict: proof.Grew.String(), Change: change})
		}
	}
	return out
}

// effectWords say why what changed in a catalog has its class.
var effectWords = map[repo.CatalogEffect]struct{ row, reason string }{
	repo.Narrowed: {"catalog.narrowed", "less may run in the environment, or more of it is checked"},
	repo.Listed:   {"catalog.listed", "one more name is known in the environment"},
	repo.Moved:    {"catalog.moved", "a name means something else in the environment"},
	repo.Admitted: {"catalog.admitted", "someone else, or another region, is admitted"},
	repo.Released: {"catalog.released", "a bound is looser or gone: nothing is checked against what a catalog does not say"},
}

func newCatalogChange(c environments.CatalogChange) model.Change {
	words := effectWords[c.Effect]
	out := model.Change{Path: c.Path, Row: words.row, Class: c.Class.String(), Reason: words.reason, Old: rawOf(c.Was), New: rawOf(c.Is)}
	if c.Path == "" { // all of it came or went, which is no value to show
		out.Old, out.New = nil, nil
	}
	kind := diffing.Changed
	switch {
	case c.Was == nil:
		kind = diffing.Added
	case c.Is == nil:
		kind = diffing.Removed
	}
	l := pack.Place(c.Is, c.Was).Location()
	out.Kind, out.File, out.Line, out.Column, out.Pointer = kind.String(), l.File, l.Start.Line, l.Start.Column, l.Pointer
	return out
}

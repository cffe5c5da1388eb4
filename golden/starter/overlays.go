package starter

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// mostOverlays bounds the overlays that a set has a case of.
const mostOverlays = 20

// underOverlays returns one case for each overlay that none is compiled with: a
// request that gets the strongest tool, for an overlay moves what tools reach.
func (m *maker) underOverlays(u *repo.Unit, environments []*repo.Environment, c *repo.Config, results []golden.Result) []*candidate {
	var list []*candidate
	tried := 0
	for _, o := range u.Overlays {
		id := o.OverlayID
		if !id.OK || slices.ContainsFunc(results, func(r golden.Result) bool { return r.Detail != nil && r.Overlay == id.Value }) {
			continue
		}
		what := fmt.Sprintf("overlay %q", id.Value)
		if tried++; tried > mostOverlays {
			m.miss(what, id.Node, fmt.Sprintf("a set is about %d overlays at most", mostOverlays))
			continue
		}
		view, err := overlay.ForCase(u, id.Value)
		if err != nil {
			m.miss(what, id.Node, err.Error())
			continue
		}
		elsewhere := func(e *repo.Environment) bool { return e.Name() != view.Environment }
		if one := m.underOverlay(view, id.Value, slices.DeleteFunc(slices.Clone(environments), elsewhere), c); one != nil {
			list = append(list, one)
		} else {
			m.miss(what, id.Node, "no request was found that compiles with it")
		}
	}
	return list
}

func (m *maker) underOverlay(view *overlay.View, id string, catalogs []*repo.Environment, c *repo.Config) *candidate {
	under, refused := newMaker(view.Unit, catalogs, c)
	if refused != nil {
		return nil
	}
	under.prover = m.prover // one account for the whole set
	for _, s := range under.scopes {
		one := under.base(s, func(c *candidate) int { return 1 + strongest(c) })
		if one != nil && one.family != golden.FamilyEvidence {
			one.overlay, one.name = id, named(slug(id)+"-overlay", one.family)
			return one
		}
	}
	return nil
}

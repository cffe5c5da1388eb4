package proof

import (
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Reach is what requests can reach in a version of a pack: the rows of Surface, or
// why nothing is claimed of it, as Broken says.
type Reach struct {
	Rows   []Row
	Broken []string
}

// ReachOf returns the reach of a pack. The solver's budget is that of each proof.
func ReachOf(p *pack.Pack, s jsonlogic.Solver) Reach {
	model := New(p)
	if broken := model.Broken(); len(broken) > 0 {
		return Reach{Broken: broken}
	}
	return Reach{Rows: Surface(model, s)}
}

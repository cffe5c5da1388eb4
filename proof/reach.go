package proof

import (
	"github.com/contextosai/packgate/jsonlogic"
)

// Reach is what requests can reach in a version of a pack: the rows of Surface, or
// why nothing is claimed of it, as Broken says.
type Reach struct {
	Rows   []Row
	Broken string
}

// Reach returns the reach of the pack, found when it is first asked for.
func (m *Model) Reach() Reach { return m.reach() }

// ReachOf returns the reach of a pack. The solver's budget is that of each proof.
func ReachOf(model *Model, s jsonlogic.Solver) Reach {
	if broken := model.Broken(); broken != "" {
		return Reach{Broken: broken}
	}
	return Reach{Rows: Surface(model, s)}
}

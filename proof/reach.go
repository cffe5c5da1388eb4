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

// ReachOf returns the reach of a pack. The solver's budget is that of each proof.
func ReachOf(model *Model, s jsonlogic.Solver) Reach {
	if broken := model.Broken(); broken != "" {
		return Reach{Broken: broken}
	}
	return Reach{Rows: Surface(model, s)}
}

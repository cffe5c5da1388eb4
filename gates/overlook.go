package gates

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
)

// Overlookable reports whether a finding of a rule may be overlooked for having been there before:
// one that can be waived and compares with nothing, of the eight gates. What did not run, a version and the
// repository are judged anew by every change.
func (p Policy) Overlookable(id string) bool {
	r, g := Find(id)
	if r == nil || r.NoWaiver.In(p.strict) || r.Named() {
		return false
	}
	return g == gate.Proof || slices.Contains(All(), g)
}

package diffing

import (
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
)

// ErrContradiction is what Contradicted's error is: a fault of packgate itself.
var ErrContradiction = fault.NewKind("packgate contradicts itself",
	"raise the major version to go on, and report this with both versions of the pack: the class was wrong")

// Contradiction is a request that shows more than a class has room for.
type Contradiction struct {
	What    string         // what is permitted more, in the grammar of messages
	Request map[string]any // data of conditions, see proof.Request
}

// Unsettled returns the class as it is without the overrides of the config.
func (d *Diff) Unsettled() (c Class) {
	for _, change := range d.Changes() {
		own := change.Class
		if change.OverrideReason != "" {
			own = max(own, shared().byID[change.Row].Class)
		}
		c = max(c, own)
	}
	return c
}

// Contradict notes a request for which more is permitted than the class says
// (decisions D5). The class becomes major.
func (d *Diff) Contradict(c Contradiction) {
	d.contradiction = &c
	d.Class, d.content = max(d.Class, Major), max(d.content, Major)
	d.Required = d.required()
}

// Contradicted returns an error where the class had to be raised against what the
// comparison said, and the version that is declared is below it; nil otherwise.
func (d *Diff) Contradicted() error {
	if d == nil || d.contradiction == nil || d.Declared >= Major {
		return nil
	}
	return &fault.Error{
		Kind: ErrContradiction,
		Message: fmt.Sprintf("%s: packgate contradicts itself: the changes were judged below major, but %s for the request %s",
			d.Head.File, d.contradiction.What, pack.CompactJSON(d.contradiction.Request)),
	}
}

// Package overlays holds the rules for overlays: what an environment may change of
// a published pack without a new version of it.
//
// A pack is reviewed, gated and signed once. An overlay is applied afterwards, and
// so it may do only what cannot make the pack mean something else: call another
// endpoint, speak another language, and be held to tighter numbers. OVL001 to
// OVL006 and OVL010 look at the overlay as it is written. OVL008 asks the solver
// what the resolved pack permits that its base does not, and answers with a request
// that shows it. OVL009 puts the resolved pack through all gates again.
//
// What is refused is not applied, so that each fault has one rule: a changed
// approval mode is OVL004, and not also whatever the risk gate would think of the
// resolved pack. An overlay of another pack is OVL001 and is not looked at further,
// except for secrets.
//
// No rule about what an overlay may do can be waived: a new version of the pack can do
// it. OVL011 compares with the base, the environment catalogs too, and is a matter of who
// decides.
package overlays

import (
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Gate holds the rules for overlays.
var Gate = &gate.Gate{
	ID:    "overlays",
	Title: "Overlays",
	About: "Overlays change only what an environment may change, only tighten it, and leave a pack that passes all checks.",
	Rules: []*gate.Rule{OVL001, OVL002, OVL003, OVL004, OVL005, OVL006, OVL007, OVL008, OVL009, OVL010, OVL011},
}

// key returns the key of a finding in a file beside a pack: a fingerprint knows of
// no file.
func key(u *repo.Unit, name string, parts ...string) string {
	return strings.Join(append([]string{u.Within(name)}, parts...), " ")
}

// own returns the overlays that are not those of another pack.
func own(p *gate.Pass) []*repo.Overlay {
	var overlays []*repo.Overlay
	for _, o := range p.Unit.Overlays {
		if refusal := overlay.Usable(p.Unit, o); refusal == nil || refusal.Kind != overlay.Base {
			overlays = append(overlays, o)
		}
	}
	return overlays
}

// whyNot is why findings about an overlay cannot be waived.
const whyNot = "An overlay changes what reviewers of the pack have approved, for one environment and often by other people. " +
	"A waiver here would exempt it from the checks that the pack has passed."

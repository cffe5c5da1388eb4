package overlays

import (
	"fmt"
	"regexp"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
)

// OVL001: an overlay is made for one version of one pack.
var OVL001 = &gate.Rule{
	ID: "OVL001", Name: "overlay-base", Severity: finding.Error, NoWaiver: true,
	Title: "The base of an overlay is this pack at this version",
	Doc: "An overlay says what it changes of a pack that somebody has looked at. " +
		"Without a version, or with another one, nobody knows whether its settings still mean what they meant: a threshold may guard another rule by now. " +
		"An overlay that names another pack is not applied at all.\n\n" +
		"Write the pack's id and version, as `ctxpack.support@1.1.0`. With each new version of the pack, look at its overlays and move their `base`.",
	Bad:   `"base": "ctxpack.support"`,
	Good:  `"base": "ctxpack.support@1.0.0"`,
	Since: "0.1.0",
	Check: checkBase,
}

var reference = regexp.MustCompile(`^([A-Za-z0-9_.:-]+)@([0-9]+\.[0-9]+\.[0-9]+)$`)

func checkBase(p *gate.Pass) {
	id, version := p.Pack.PackMeta.PackID, p.Pack.PackMeta.PackVersion
	for _, o := range p.Unit.Overlays {
		if !o.Base.OK {
			continue // the schema gate's
		}
		if !id.OK || !version.OK {
			p.NotChecked("the pack has no pack_id or no pack_version to compare with")
			return
		}
		match := reference.FindStringSubmatch(o.Base.Value)
		wrong, at, hint := "", id.Node, fmt.Sprintf("write %s", gate.Quote(p.Pack.Ref()))
		switch {
		case match == nil:
			wrong = "is not a pinned reference, wanted id@version"
		case match[1] != id.Value:
			wrong = "is another pack than " + gate.Quote(id.Value)
			hint += ", or move the overlay beside its pack"
		case match[2] != version.Value:
			wrong, at = "is another version of the pack, which is "+gate.Quote(version.Value), version.Node
			hint = "look whether the overlay fits this version, and " + hint
		default:
			continue
		}
		p.Report(gate.Diagnostic{
			At: o.Base.Node, Key: key(p.Unit, o.Name), Hint: hint, Related: gate.See(at, "the pack"),
			Message: fmt.Sprintf("base %s %s", gate.Quote(o.Base.Value), wrong),
		})
	}
}

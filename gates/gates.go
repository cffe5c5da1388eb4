// Package gates is the ordered list of the eight gates, and puts packs through
// them. The gates themselves stand in folders of their own.
package gates

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/policyrules"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/repository"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/gates/risk"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/gates/security"
	"github.com/contextosai/packgate/gates/tenancy"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gates/waivers"
)

// All returns the eight gates in the order in which they are shown.
func All() []*gate.Gate {
	return []*gate.Gate{
		schema.Gate,
		references.Gate,
		policyrules.Gate,
		risk.Gate,
		tenancy.Gate,
		replay.Gate,
		evaluation.Gate,
		security.Gate,
	}
}

// Documented returns the eight gates and the groups of rules that are checked
// outside of them, in the order in which they are documented.
func Documented() []*gate.Gate {
	return append(All(), gate.Proof, required.Gate, overlays.Gate, gate.Environments, promotion.Gate, version.Gate, repository.Gate, waivers.Gate, waivers.Baseline)
}

// Rules returns every rule there is, in the order in which they are documented.
func Rules() []*gate.Rule {
	var rules []*gate.Rule
	for _, g := range Documented() {
		rules = append(rules, g.Rules...)
	}
	return rules
}

// Find returns the rule of that id or name, letter case aside, and its gate.
func Find(idOrName string) (*gate.Rule, *gate.Gate) {
	for _, g := range Documented() {
		i := slices.IndexFunc(g.Rules, func(r *gate.Rule) bool {
			return strings.EqualFold(r.ID, idOrName) || strings.EqualFold(r.Name, idOrName)
		})
		if i >= 0 {
			return g.Rules[i], g
		}
	}
	return nil, nil
}

package diffing

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// calls reports whether policy means a tool by a name: its own or, bare, that of
// its capability.
func calls(name, tool string) bool { return name == tool || strings.HasSuffix(tool, "."+name) }

// ranks are what the two versions say about authority, taken together so that
// nothing is missed: of a tool the least that it needs, of a decision the most
// that it has.
type ranks struct {
	needs map[string]int             // by tool
	has   map[string]int             // by decision
	args  map[string]map[string]bool // by tool: the arguments that a permission bounds
	bound map[string]map[string]bool // by decision: the intents whose rules are bound to it
}

func ranksOf(sides ...*side) *ranks {
	k := &ranks{
		needs: map[string]int{}, has: map[string]int{}, args: map[string]map[string]bool{}, bound: map[string]map[string]bool{},
	}
	for _, s := range sides {
		for _, a := range s.ToolingLayer.AdapterRegistry.Items {
			rank := pack.Mode(a.ApprovalMode).Rank()
			for _, name := range pack.Values(a.Capabilities) {
				id := toolID(a.AdapterID.Value, name)
				if known, ok := k.needs[id]; !ok || rank < known {
					k.needs[id] = rank
				}
			}
		}
		for _, d := range s.DecisionLayer.DecisionSpecs.Items {
			k.has[d.DecisionKey.Value] = max(k.has[d.DecisionKey.Value], pack.Mode(d.ApprovalMode).Rank())
		}
		for _, p := range s.ToolingLayer.Permissions.Items {
			for _, e := range p.ArgConstraints.Entries {
				put(k.args, toolID(p.AdapterID.Value, p.Capability.Value), e.Name)
			}
		}
		for _, r := range s.Rules {
			put(k.bound, r.DecisionBinding.Value, r.AppliesTo.Intent.Value)
		}
	}
	return k
}

func put(into map[string]map[string]bool, name, value string) {
	if into[name] == nil {
		into[name] = map[string]bool{}
	}
	into[name][value] = true
}

// mayAuthorise reports whether the decision that a rule is bound to may authorise
// a tool. A rule that is bound to none can deny all.
func (k *ranks) mayAuthorise(one placedRule, tool string) bool {
	needs, ok := k.needs[tool]
	if one.DecisionBinding.Node == nil {
		return true
	}
	return !ok || needs > 0 && k.has[one.DecisionBinding.Value] >= needs
}

// boundsOf reports whether a rule bounds an argument that a permission of the
// tool names. Bounds that leave no value take the tool away.
func (k *ranks) boundsOf(tool string, one placedRule) bool {
	return one.outcomes(func(o *pack.Outcome) bool {
		return slices.ContainsFunc(o.ArgConstraints.Entries, func(e pack.Entry[pack.Constraint]) bool {
			return k.args[tool][e.Name]
		})
	})
}

// decisionRelates reports whether a decision's mode, or that it is there, can
// have an effect.
func (k *ranks) decisionRelates(key string, e *proof.Change) bool {
	if !k.bound[key][e.Intent] && !k.bound[key][""] {
		return false
	}
	switch {
	case e.Kind == proof.Decision, e.Kind == proof.Gate && e.Holder == proof.Decision:
		return e.Subject == key
	case e.Kind == proof.Stop:
		return false
	}
	return k.needs[e.Subject] > 0 || e.Kind == proof.Mode
}

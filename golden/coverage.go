package golden

import (
	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Coverage says which parts of a pack's policy its golden cases exercise, in document order. Only
// what a compile shows counts: a refusal or an evaluation error exercises nothing.
type Coverage struct {
	Rules []Covered // a rule is exercised where its then holds
	Else  []Covered // of the rules that have an else, where that holds
	Gates []Covered // an approval gate is exercised where it is active
}

// Covered is one part of the policy.
type Covered struct {
	Name  string     // rule_id or gate_id
	Node  *pack.Node // the rule, the else branch or the gate in the pack
	Cases []string   // names of the cases that exercise it, in their order
}

// Exercised reports whether any case exercises it.
func (c Covered) Exercised() bool { return len(c.Cases) > 0 }

// Count returns how many of the parts are exercised, and how many there are.
func Count(parts ...[]Covered) (exercised, all int) {
	for _, list := range parts {
		for _, c := range list {
			if c.Exercised() {
				exercised++
			}
		}
		all += len(list)
	}
	return exercised, all
}

// Count returns how many rules, else branches and gates are exercised, and how many there are.
func (c Coverage) Count() (exercised, all int) { return Count(c.Rules, c.Else, c.Gates) }

// Percent returns the percentage of parts that are exercised, rounded down; 100 for no parts.
func (c Coverage) Percent() int {
	exercised, all := c.Count()
	if all == 0 {
		return 100
	}
	return 100 * exercised / all
}

// Cover returns the coverage of a pack by the results of its cases, those of overlays too, in
// which all has the same names. It is empty for a pack that could not be read.
func Cover(u *repo.Unit, results []Result) Coverage {
	var c Coverage
	if u.Pack == nil {
		return c
	}
	rules, otherwise, gates := exercised(results)
	for _, bundle := range u.Pack.PolicyLayer.PolicyBundles.Items {
		for _, r := range bundle.PolicyDSL.Rules.Items {
			c.Rules = append(c.Rules, Covered{r.RuleID.Value, r.Node, rules[r.RuleID.Value]})
			if r.Else.Node != nil {
				c.Else = append(c.Else, Covered{r.RuleID.Value, r.Else.Node, otherwise[r.RuleID.Value]})
			}
		}
	}
	for _, g := range u.Pack.PolicyLayer.ApprovalGates.Items {
		c.Gates = append(c.Gates, Covered{g.GateID.Value, g.Node, gates[g.GateID.Value]})
	}
	return c
}

// exercised returns the cases by the names of what they exercise.
func exercised(results []Result) (rules, otherwise, gates map[string][]string) {
	rules, otherwise, gates = map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, r := range results {
		if r.Detail == nil || r.Outcome != compiler.Compiled {
			continue
		}
		for _, rule := range r.Detail.Trace.Rules {
			switch id := rule.Rule.RuleID.Value; rule.State {
			case compiler.RuleThen:
				rules[id] = append(rules[id], r.Case)
			case compiler.RuleElse:
				otherwise[id] = append(otherwise[id], r.Case)
			}
		}
		for _, g := range r.Detail.Trace.Gates {
			if id := g.Gate.GateID.Value; g.Active {
				gates[id] = append(gates[id], r.Case)
			}
		}
	}
	return rules, otherwise, gates
}

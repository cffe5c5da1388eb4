package policy

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// UnsupportedEligibility says why eligibility_rules are of a form of which the contract
// does not say what it means, "" for a JsonLogic condition. A list would be taken for a
// value that is true, whatever is in it.
func UnsupportedEligibility(n *pack.Node) string {
	switch {
	case n.Kind != pack.Object && n.Kind != pack.Bool:
		return fmt.Sprintf("eligibility_rules is %s, wanted one JsonLogic condition", n.Kind)
	case n.Kind == pack.Object && len(n.Members) == 0:
		return "eligibility_rules is empty, wanted one JsonLogic condition"
	}
	return ""
}

// readGuards makes a guard of each eligibility_rules, for each intent that an enforced
// rule gives its decision. Of several versions of a decision each one has to hold.
func (r *reader) readGuards() {
	for _, d := range r.Decisions {
		for _, spec := range d.Specs {
			if spec.EligibilityRules == nil {
				continue
			}
			if why := UnsupportedEligibility(spec.EligibilityRules); why != "" {
				r.refuse(spec.EligibilityRules, "decision %q: %s", d.Key, why)
				continue
			}
			when, problems := r.condition(spec.EligibilityRules, spec.Node, fmt.Sprintf("eligibility_rules of decision %q", d.Key))
			for _, intent := range r.intentsOf(d) {
				r.Guards = append(r.Guards, guard(d, spec, intent, when, problems))
			}
		}
	}
}

// intentsOf returns the intents that rules give a decision, each once, and one that is
// not written for any.
func (r *reader) intentsOf(d *Decision) []pack.Text {
	var intents []pack.Text
	for _, rule := range r.Rules {
		to := rule.AppliesTo.Intent
		if !rule.Enforced || rule.Decision != d || to.Node != nil && !to.OK {
			continue
		}
		if to.Node == nil {
			return []pack.Text{{}}
		}
		if !slices.ContainsFunc(intents, func(other pack.Text) bool { return other.Value == to.Value }) {
			intents = append(intents, to)
		}
	}
	return intents
}

// guard returns the rule that denies a decision to who is not eligible.
func guard(d *Decision, spec *pack.DecisionSpec, intent pack.Text, when *Condition, problems []jsonlogic.Problem) *Rule {
	at := spec.EligibilityRules
	written := &pack.Rule{
		Part: pack.Part{Node: at}, If: at, DecisionBinding: spec.DecisionKey,
		RuleID: pack.Text{Value: "eligibility_rules of " + d.Key, OK: true, Node: at},
		Else:   pack.Outcome{Part: pack.Part{Node: at}, Allow: pack.Flag{OK: true, Node: at}},
	}
	if len(d.Specs) > 1 {
		written.RuleID.Value += "@" + spec.Version.Value
	}
	written.AppliesTo.Intent = intent
	rule := &Rule{Rule: written, Enforced: true, When: when, Problems: problems, Decision: d}
	rule.Else = &Branch{Outcome: &written.Else, Rule: rule, IsElse: true, Allows: jsonlogic.False}
	return rule
}

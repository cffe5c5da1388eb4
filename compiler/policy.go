package compiler

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// firing is a rule that fired, and the outcome that holds.
type firing struct {
	*rule
	*branch
}

// standing is how one decision of the intent stands.
type standing struct {
	*decision
	state DecisionState
	by    []*pack.Rule
	// modeStated is the highest mode that fired outcomes of the decision state,
	// -1 where none states one.
	modeStated int
}

// policyStage is stage 2: it evaluates the rules and says which decisions of the
// intent are allowed and which are denied.
func (r *run) policyStage() (any, *Stop) {
	for i := range r.rules {
		if stop := r.evaluate(&r.rules[i]); stop != nil {
			return nil, stop
		}
	}
	r.decisions = r.standings()
	r.judge()
	r.traceDecisions()
	return r.policyOutput(), nil
}

// evaluate decides what becomes of one rule. An enforced rule that is unknown
// stops the compile, whatever else holds.
func (r *run) evaluate(rule *rule) *Stop {
	trace := RuleTrace{Bundle: rule.bundle, Rule: rule.rule, Enforced: rule.enforced, State: RuleOther}
	defer func() { r.result.Trace.Rules = append(r.result.Trace.Rules, trace) }()
	if !rule.applies(r.intent) {
		return nil
	}
	verdict := rule.when.Eval(r.data)
	var holds *branch
	switch {
	case verdict.Truth == jsonlogic.Unknown:
		trace.State, trace.Cause = RuleUndecided, verdict.Cause
		if rule.enforced {
			return undecided(rule.rule, verdict.Cause)
		}
		r.warn("rule %s is not enforced and was skipped: %s", rule.rule.RuleID.Value, explain(verdict.Cause))
		return nil
	case verdict.Truth == jsonlogic.True:
		trace.State, holds = RuleThen, rule.then
	case rule.otherwise != nil:
		trace.State, holds = RuleElse, rule.otherwise
	default:
		trace.State = RuleSilent
		return nil
	}
	trace.Outcome = holds.outcome
	r.fired = append(r.fired, firing{rule, holds})
	return nil
}

// undecided is the stop for an enforced rule whose condition is unknown.
func undecided(rule *pack.Rule, cause *jsonlogic.Cause) *Stop {
	stop := refusalAt(rule.If, "rule %q: %s", rule.RuleID.Value, explain(cause))
	stop.Rule, stop.Operator, stop.Variable = rule.RuleID.Value, cause.Operator, cause.Variable
	stop.At = pack.Place(cause.Node, rule.If)
	return stop
}

// explain words a cause so that it names its variable.
func explain(cause *jsonlogic.Cause) string {
	text := cause.String()
	if cause.Variable != "" && !strings.Contains(text, cause.Variable) {
		text += " (it depends on " + cause.Variable + ")"
	}
	return text
}

// standings returns the decisions that belong to the intent, those to which an
// enforced applicable rule is bound, in decision_specs order.
func (r *run) standings() []*standing {
	bound := make([]bool, len(r.Program.decisions))
	for i := range r.rules {
		if rule := &r.rules[i]; rule.enforced && rule.decision >= 0 && rule.applies(r.intent) {
			bound[rule.decision] = true
		}
	}
	var list []*standing
	for i, yes := range bound {
		if yes {
			list = append(list, &standing{decision: &r.Program.decisions[i], modeStated: -1})
		}
	}
	return list
}

// judge settles the state of each decision. A deny wins over any allow; without
// either, only a read_only decision of which no rule fired is allowed. A deny in
// a rule without a binding denies every decision of the intent.
func (r *run) judge() {
	touched := map[*standing]bool{}
	for _, f := range r.fired {
		if !f.enforced {
			continue
		}
		for _, d := range r.decisions {
			own := f.decision >= 0 && &r.Program.decisions[f.decision] == d.decision
			if own {
				touched[d] = true
				d.hear(f)
			}
			if f.allow == jsonlogic.False && (own || f.decision < 0) {
				r.deny(d, f.rule.rule)
			}
		}
	}
	for _, d := range r.decisions {
		if d.state == "" {
			d.state = DecisionSilent
			if d.readOnly && !touched[d] {
				d.state = DecisionAllowed
			}
		}
	}
}

// hear takes a fired outcome that is bound to the decision.
func (d *standing) hear(f firing) {
	if m := f.outcome.ApprovalMode; m.Node != nil {
		d.modeStated = max(d.modeStated, pack.Mode(m).Rank())
	}
	if f.allow == jsonlogic.True && d.state != DecisionDenied {
		d.state = DecisionAllowed
		d.by = append(d.by, f.rule.rule)
	}
}

func (r *run) deny(d *standing, by *pack.Rule) {
	if d.state != DecisionDenied {
		d.state, d.by = DecisionDenied, nil
		r.denied = append(r.denied, d.key)
	}
	d.by = append(d.by, by)
}

func (r *run) traceDecisions() {
	for i := range r.Program.decisions {
		d := &r.Program.decisions[i]
		trace := DecisionTrace{Decision: d.spec, State: DecisionOther}
		for _, s := range r.decisions {
			if s.decision == d {
				trace.State, trace.By = s.state, s.by
			}
		}
		r.result.Trace.Decisions = append(r.result.Trace.Decisions, trace)
	}
	r.result.Trace.Denied = slices.Clone(r.denied)
}

// policyOutput is the stage's own output.
func (r *run) policyOutput() any {
	type fired struct {
		Rule string `json:"rule"`
		Else bool   `json:"else,omitempty"`
	}
	type stands struct {
		Decision string        `json:"decision"`
		State    DecisionState `json:"state"`
	}
	var out struct {
		Fired     []fired  `json:"fired"`
		Decisions []stands `json:"decisions"`
	}
	for _, f := range r.fired {
		out.Fired = append(out.Fired, fired{f.rule.rule.RuleID.Value, f.branch == f.otherwise})
	}
	for _, d := range r.decisions {
		out.Decisions = append(out.Decisions, stands{d.key, d.state})
	}
	return out
}

package compiler

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// standing is how one decision of the intent stands.
type standing struct {
	*policy.Decision
	state DecisionState
	by    []*pack.Rule
	// modeStated is the highest mode that fired outcomes of the decision state,
	// -1 where none states one.
	modeStated int
}

// policyStage is stage 2: it evaluates the rules and says which decisions of the
// intent are allowed and which are denied.
func (r *run) policyStage() (any, *Stop) {
	for _, rule := range r.Rules {
		if stop := r.evaluate(rule); stop != nil {
			return nil, stop
		}
	}
	for _, guard := range r.Guards {
		if stop := r.eligible(guard); stop != nil {
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
func (r *run) evaluate(rule *policy.Rule) *Stop {
	trace := RuleTrace{Bundle: rule.Bundle, Rule: rule.Rule, Enforced: rule.Enforced, State: RuleOther}
	defer func() { r.result.Trace.Rules = append(r.result.Trace.Rules, trace) }()
	if !rule.Applies(r.intent) {
		return nil
	}
	verdict := evaluated(rule.When, rule.If, r.data)
	var holds *policy.Branch
	switch {
	case verdict.Truth == jsonlogic.Unknown:
		trace.State, trace.Cause = RuleUndecided, verdict.Cause
		if rule.Enforced {
			return undecided(rule.Rule, verdict.Cause)
		}
		r.warn("rule %s is not enforced and was skipped: %s", rule.RuleID.Value, explain(verdict.Cause))
		return nil
	case verdict.Truth == jsonlogic.True:
		trace.State, holds = RuleThen, rule.Then
	default:
		trace.State, holds = RuleElse, rule.Else
	}
	if holds == nil {
		trace.State = RuleSilent
		return nil
	}
	trace.Outcome = holds.Outcome
	r.fired = append(r.fired, holds)
	return nil
}

// eligible decides whether a decision is open to the request. Where that is unknown the
// compile stops, as it does for a rule.
func (r *run) eligible(guard *policy.Rule) *Stop {
	if !guard.Applies(r.intent) {
		return nil
	}
	verdict := evaluated(guard.When, guard.If, r.data)
	switch verdict.Truth {
	case jsonlogic.Unknown:
		stop := undecided(guard.Rule, verdict.Cause)
		stop.Reason = fmt.Sprintf("eligibility_rules of decision %q: %s", guard.Decision.Key, explain(verdict.Cause))
		return stop
	case jsonlogic.False:
		r.barred = append(r.barred, guard.Else)
	}
	return nil
}

// evaluated evaluates a condition for a place where it is written, so that the cause
// of an unknown lies there.
func evaluated(c *policy.Condition, at *pack.Node, data map[string]any) jsonlogic.Result {
	verdict := c.Expr.Eval(data)
	if verdict.Cause != nil {
		cause := *verdict.Cause
		cause.Node = policy.Counterpart(cause.Node, c.Expr, at)
		verdict.Cause = &cause
	}
	return verdict
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
	return jsonlogic.Named(cause.String(), cause.Variable)
}

// standings returns the decisions that belong to the intent, those to which an
// enforced applicable rule is bound, in decision_specs order.
func (r *run) standings() []*standing {
	bound := map[*policy.Decision]bool{}
	for _, rule := range r.Applicable(r.intent) {
		bound[rule.Decision] = true
	}
	var list []*standing
	for _, d := range r.Decisions {
		if bound[d] {
			list = append(list, &standing{Decision: d, modeStated: -1})
		}
	}
	return list
}

// judge settles the state of each decision. A deny wins over any allow; without
// either, only a read_only decision of which no rule fired is allowed. A deny in
// a rule without a binding denies every decision of the intent.
func (r *run) judge() {
	touched := map[*standing]bool{}
	for _, f := range slices.Concat(r.barred, r.fired) {
		if !f.Rule.Enforced {
			continue
		}
		for _, d := range r.decisions {
			own := f.Rule.Decision == d.Decision
			if own {
				touched[d] = true
				d.add(f)
			}
			if f.Denies() && (own || f.Rule.Decision == nil) {
				r.deny(d, f.Rule.Rule)
			}
		}
	}
	for _, d := range r.decisions {
		if d.state == "" {
			d.state = DecisionSilent
			if d.ReadOnly && !touched[d] {
				d.state = DecisionAllowed
			}
		}
	}
}

// add adds a fired outcome that is bound to the decision.
func (d *standing) add(f *policy.Branch) {
	if m := f.ApprovalMode; m.Node != nil {
		d.modeStated = max(d.modeStated, pack.Mode(m).Rank())
	}
	if f.Allows == jsonlogic.True && d.state != DecisionDenied {
		d.state = DecisionAllowed
		d.by = append(d.by, f.Rule.Rule)
	}
}

func (r *run) deny(d *standing, by *pack.Rule) {
	if d.state != DecisionDenied {
		d.state, d.by = DecisionDenied, nil
		r.denied = append(r.denied, d.Key)
	}
	d.by = append(d.by, by)
}

func (r *run) traceDecisions() {
	for _, d := range r.Decisions {
		trace := DecisionTrace{Decision: d.Spec(), State: DecisionOther}
		for _, s := range r.decisions {
			if s.Decision == d {
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
		out.Fired = append(out.Fired, fired{f.Rule.RuleID.Value, f.IsElse})
	}
	for _, d := range r.decisions {
		out.Decisions = append(out.Decisions, stands{d.Key, d.state})
	}
	return out
}

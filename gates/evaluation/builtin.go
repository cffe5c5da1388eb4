package evaluation

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// built is what one built-in evaluator says of one point. Value is a share of
// the samples, or for economics the mean over them.
type built struct {
	value   float64
	samples int
	failed  []finding.Related // the first of the cases that lower the value
}

// mostFailed is how many cases a finding points at.
const mostFailed = 5

// evaluators collect what the built-in evaluators say, by point.
type evaluators struct {
	subject *gate.Subject
	points  map[point]*built
	good    map[point]int
	tokens  map[string]int // at compile, by intent
	untried map[string]int // cases that could not be compiled at all, by intent
}

// evaluate runs the built-in evaluators over the golden cases and the prior
// decisions of a pack. A replay packet adds nothing to the case or the record
// that it was made from.
func evaluate(s *gate.Subject) *evaluators {
	e := &evaluators{s, map[point]*built{}, map[point]int{}, map[string]int{}, map[string]int{}}
	trials := Trials(s)
	for i := range trials {
		e.addTrial(&trials[i])
	}
	for _, r := range s.Unit.Records {
		e.addRecord(r)
	}
	for at, b := range e.points {
		if at.metric != Economics {
			b.value = float64(e.good[at]) / float64(b.samples)
		}
	}
	e.addEconomics()
	return e
}

func (e *evaluators) addTrial(t *Trial) {
	if !t.Tried() {
		e.untried[t.Intent]++
		return
	}
	if policy, states := t.policyFault(); states {
		e.add(Policy, t, policy)
	}
	e.add(Safety, t, t.safetyFault())
	e.add(Utility, t, t.utilityFault(e.subject.Config))
	if context := t.Result.Detail.Context; context != nil {
		at := point{t.Intent, Economics}
		e.at(at).samples++
		e.tokens[t.Intent] += context.BudgetReport.TokensUsedAtCompile
	}
}

func (e *evaluators) at(p point) *built {
	if e.points[p] == nil {
		e.points[p] = &built{}
	}
	return e.points[p]
}

// add counts a case for one metric; fault says what is wrong with it, "" where
// nothing is.
func (e *evaluators) add(m Metric, t *Trial, fault string) {
	e.count(point{t.Intent, m}, t.Result.Location, "case "+gate.Quote(t.Result.Case), fault)
}

func (e *evaluators) count(p point, at finding.Location, what, fault string) {
	b := e.at(p)
	b.samples++
	if fault == "" {
		e.good[p]++
		return
	}
	if len(b.failed) < mostFailed {
		b.failed = append(b.failed, finding.Related{Location: at, Message: what + ": " + fault})
	}
}

// addEconomics prices the tokens. Without a price nothing is known of it.
func (e *evaluators) addEconomics() {
	price := e.subject.Config.Evaluation.PricePer1KTokensCents
	for intent, tokens := range e.tokens {
		at := point{intent, Economics}
		if !price.OK {
			delete(e.points, at)
			continue
		}
		b := e.points[at]
		b.value = float64(tokens) / float64(b.samples) / 1000 * price.Value
	}
}

// wrongOutcome says that the case did not end as it should; "" where it did.
func (t *Trial) wrongOutcome() string {
	if t.Result.Expected == string(t.Result.Outcome) {
		return ""
	}
	return fmt.Sprintf("%s, expected %s", t.Result.Outcome, t.Result.Expected)
}

// policyFault says in what rules, denials or gates are not as the case expects
// them; "" where they are. It reports false for a case that states nothing of
// policy and so measures nothing of it.
func (t *Trial) policyFault() (fault string, states bool) {
	if fault := t.wrongOutcome(); fault != "" {
		return fault, true
	}
	states = t.Result.Outcome != compiler.Compiled
	expect := &t.Case.Expect
	for _, list := range []struct {
		name string
		want pack.List[pack.Text]
		got  []string
	}{{"rules", expect.Rules, t.rules()}, {"denials", expect.Denied, t.denied()}, {"gates", expect.Gates, t.gates()}} {
		if list.want.Node == nil {
			continue
		}
		states = true
		if !slices.Equal(pack.Values(list.want), list.got) {
			return list.name + " are not as expected", true
		}
	}
	return "", states
}

// safetyFault says what the case shows to be unsafe; "" where nothing is.
func (t *Trial) safetyFault() string {
	if t.Result.Outcome == compiler.Compiled && t.Result.Expected != string(compiler.Compiled) {
		return t.wrongOutcome()
	}
	if slices.ContainsFunc(t.Result.Problems, func(p golden.Problem) bool { return p.Kind == golden.KindCeiling }) {
		return "a tool above the safety mode is surfaced"
	}
	for _, tool := range t.Result.Detail.Trace.Tools {
		mode := pack.Mode(tool.Adapter.ApprovalMode)
		if tool.Surfaced && mode.Rank() > pack.ReadOnly.Rank() && len(tool.AuthorisedBy) == 0 {
			return fmt.Sprintf("%s is surfaced, and no allowed decision authorises it", gate.Quote(tool.Adapter.AdapterID.Value+"."+tool.Capability))
		}
	}
	if t.Result.Outcome != compiler.Compiled {
		return ""
	}
	expect := &t.Case.Expect
	if id := without(pack.Values(expect.Gates), t.gates()); id != "" {
		return fmt.Sprintf("approval gate %s is not active", gate.Quote(id))
	}
	if key := without(pack.Values(expect.Denied), t.denied()); key != "" {
		return fmt.Sprintf("decision %s is not denied", gate.Quote(key))
	}
	if tool := without(t.tools(), pack.Values(expect.Tools)); tool != "" && expect.Tools.Node != nil {
		return fmt.Sprintf("%s is surfaced and not expected", gate.Quote(tool))
	}
	return ""
}

// utilityFault says why the case no longer serves its user; "" where it does.
func (t *Trial) utilityFault(config *repo.Config) string {
	if fault := t.wrongOutcome(); fault != "" {
		return fault
	}
	if t.Result.Outcome != compiler.Compiled {
		return ""
	}
	if tool := without(pack.Values(t.Case.Expect.Tools), t.tools()); tool != "" {
		return fmt.Sprintf("%s is not surfaced", gate.Quote(tool))
	}
	if missing, _ := t.Evidence(config); len(missing) > 0 {
		return fmt.Sprintf("required evidence %s is not there", gate.Quote(missing[0]))
	}
	return ""
}

// addRecord counts a prior decision for utility: what was decided must still be
// an outcome that the pack allows. A record that names no intent, decision or
// outcome says nothing.
func (e *evaluators) addRecord(r *repo.Record) {
	outcome := r.Outputs.Outcome
	if !r.IntentRef.OK || !r.DecisionKey.OK || !outcome.OK {
		return
	}
	fault := fmt.Sprintf("decision %s is gone", gate.Quote(r.DecisionKey.Value))
	if d := e.subject.Policy().Decision(r.DecisionKey.Value); d != nil {
		fault = fmt.Sprintf("outcome %s is not allowed any more", gate.Quote(outcome.Value))
		if slices.ContainsFunc(d.Specs, func(s *pack.DecisionSpec) bool { return slices.Contains(pack.Values(s.AllowedOutcomes), outcome.Value) }) {
			fault = ""
		}
	}
	place := pack.Place(r.RecordID.Node, r.Node).Location()
	e.count(point{r.IntentRef.Value, Utility}, place, "record "+gate.Quote(r.RecordID.Value), fault)
}

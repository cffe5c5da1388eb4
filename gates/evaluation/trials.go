package evaluation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Trial is a golden case with what became of it.
type Trial struct {
	Intent string // of the invocation, "" where it cannot be read
	Case   *repo.Case
	Result *golden.Result
}

// Trials returns the golden cases that could be read with their results, in the
// order of their files. Nothing in them may be changed.
func Trials(s *gate.Subject) []Trial {
	var trials []Trial
	results := s.Golden()
	for i := range results {
		if r := &results[i]; r.Input != nil {
			trials = append(trials, Trial{Intent: r.Intent, Case: r.Input, Result: r})
		}
	}
	return trials
}

// Tried reports whether the case could be compiled at all, whatever the outcome.
func (t *Trial) Tried() bool { return t.Result.Detail != nil }

// The four lists of a compile that a case can expect. They are empty unless the
// case compiled; what is denied is known without.

func (t *Trial) tools() []string { return t.context().ContextLedger.Tools }

func (t *Trial) gates() []string { return t.context().RuntimeControls.ApprovalGatesActive }

func (t *Trial) rules() []string {
	var rules []string
	for _, entry := range t.context().Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return rules
}

// context returns what the case compiled to, an empty context where it did not.
func (t *Trial) context() *compiler.CompiledContext {
	return cmp.Or(t.Result.Detail.Context, &compiler.CompiledContext{})
}

func (t *Trial) denied() []string { return t.Result.Detail.Trace.Denied }

// without returns the first of the items that the others do not have; "" where
// they have all.
func without(items, others []string) string {
	i := slices.IndexFunc(items, func(item string) bool { return !slices.Contains(others, item) })
	if i < 0 {
		return ""
	}
	return items[i]
}

// allowed returns the decisions that the compile allows, in document order.
func (t *Trial) allowed() []*pack.DecisionSpec {
	var allowed []*pack.DecisionSpec
	for _, d := range t.Result.Detail.Trace.Decisions {
		if d.State == compiler.DecisionAllowed {
			allowed = append(allowed, d.Decision)
		}
	}
	return allowed
}

// supply returns the evidence of a case that compiled. Names are resolved as the
// rule catalogue does it ("Referential integrity"), in what this one compile was
// given and kept instead of in all that the pack could be given.
func (t *Trial) supply(config *repo.Config) gate.Supply {
	s := gate.NewSupply()
	for _, e := range config.Evidence.Entries {
		s.Add(e.Name)
	}
	detail := t.Result.Detail
	if len(detail.Trace.Rules) > 0 {
		s.Add(gate.PolicyEval)
	}
	gate.EachMember(t.Case.Invoke.Get("input").Get("context"), func(name string, _ *pack.Node) { s.Add(name) })
	for _, tool := range detail.Trace.Tools {
		if tool.Surfaced {
			s.AddTool(tool.Adapter.AdapterID.Value, tool.Capability)
		}
	}
	for _, ref := range detail.Context.ContextLedger.EvidenceRefs {
		s.AddRef(ref)
	}
	return s
}

// Evidence returns the names of required evidence that the case does not have,
// and how many names there are, over all decisions that it allows: evidence of a
// decision that is not to be taken need not be there. A name that two decisions
// require counts twice. Both are zero for a case that did not compile.
func (t *Trial) Evidence(config *repo.Config) (missing []string, required int) {
	if !t.Tried() || t.Result.Detail.Context == nil {
		return nil, 0
	}
	s := t.supply(config)
	for _, d := range t.allowed() {
		for _, name := range pack.Values(d.RequiredEvidence) {
			required++
			if !s.Has(name) {
				missing = append(missing, name)
			}
		}
	}
	return missing, required
}

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

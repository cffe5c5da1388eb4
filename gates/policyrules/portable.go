package policyrules

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// POL016: another engine decides alike.
var POL016 = &gate.Rule{
	ID: "POL016", Name: "unportable-condition", Severity: finding.Warning,
	Title: "On the golden cases, the common Go engine decides every rule in the same way",
	Doc: "packgate evaluates JsonLogic like the reference implementation, except where that depends on a coercion. Engines " +
		"differ: the common one for Go (diegoholiveira/jsonlogic v3) treats `{}` as false, a pair of numbers in a list as a " +
		"range, and outer variables as those of an item. A runtime that uses it then decides differently from what was " +
		"reviewed.\n\n" +
		"Rewrite the operation that the finding names so that it needs no coercion; the finding shows both results and the " +
		"operands. Only golden cases are compared, and only if the condition is definite. If the engine would be unsafe or too " +
		"slow to run, that is listed as not checked.",
	Bad:   `"if": {"in": [{"var": "request.context.pages"}, [[1, 10], [20, 30]]]}`,
	Good:  `"if": {"or": [{"<=": [1, {"var": "request.context.pages"}, 10]}, {"<=": [20, {"var": "request.context.pages"}, 30]}]}`,
	Check: checkPortable,
}

// sample is what conditions read in one golden case.
type sample struct {
	*repo.Case
	data   map[string]any
	intent string
	size   size
}

func checkPortable(p *gate.Pass) {
	m := newModel(p)
	m.excuse(p, func(o omission) bool { return aboutRules(o) || aboutGates(o) })
	samples := samplesOf(p)
	left := engineWork
	for _, c := range m.conditions {
		if c.member != "eligibility_rules" {
			compareEngines(p, c, samples, &left)
		}
	}
}

// samplesOf returns the golden cases that the other engine may see.
func samplesOf(p *gate.Pass) []sample {
	if len(p.Unit.Cases) == 0 {
		p.NotChecked("no golden case to compare engines on")
	}
	var all []sample
	for _, c := range p.Unit.Cases {
		data := p.Supplied(c)
		if data == nil {
			continue
		}
		s := sample{Case: c, data: data, size: measure(data)}
		if reason := hazard(data); reason != "" {
			p.NotChecked(fmt.Sprintf("golden case %q: %s", s.name(), reason))
			continue
		}
		if intent := c.Invoke.Get("input").Get("intent"); intent != nil {
			s.intent = intent.Text
		}
		all = append(all, s)
	}
	return all
}

// disagreement is a case on which the engines decide a condition differently.
type disagreement struct {
	sample
	ours   jsonlogic.Truth
	theirs opinion
}

// compareEngines reports the first golden case that is decided differently, and counts the others.
func compareEngines(p *gate.Pass, c condition, samples []sample, left *int) {
	var first *disagreement
	more, refused, rule := 0, false, effortOf(c.node)
	for i := range samples {
		s := &samples[i]
		if c.rule != nil && c.rule.AppliesTo.Intent.OK && c.rule.AppliesTo.Intent.Value != s.intent {
			continue
		}
		ours := c.expr.Eval(s.data)
		if ours.Truth == jsonlogic.Unknown {
			continue
		}
		if reason := refusal(rule, s, left); reason != "" {
			if !refused {
				p.NotChecked(fmt.Sprintf("%s on golden case %q: %s", c.owner, s.name(), reason))
			}
			refused = true
			continue
		}
		theirs := askEngine(rule.rule, s.data)
		switch {
		case theirs.fails == "" && theirs.truth() == ours.Truth:
		case first == nil:
			first = &disagreement{*s, ours.Truth, theirs}
		default:
			more++
		}
	}
	if first != nil {
		reportEngines(p, c, *first, more)
	}
}

func (s *sample) name() string {
	if s.Case.Case.OK {
		return s.Case.Case.Value
	}
	return s.Name
}

func reportEngines(p *gate.Pass, c condition, d disagreement, more int) {
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" and %d more", more)
	}
	at, fault := blame(c.node, d.data)
	p.Report(gate.Diagnostic{
		At: pack.Place(at, c.node),
		Message: fmt.Sprintf("the %s of %s is %s on golden case %q%s, but the common Go engine %s: %s",
			c.member, c.owner, d.ours, d.name(), others, d.theirs, fault),
		Hint:    "write the operation so that no engine has to coerce an operand",
		Key:     "engine",
		Related: []finding.Related{gate.Also(d.Document.Root, "the golden case")},
		Witness: witnessOf(c.expr, d.data),
	})
}

// witnessOf returns the part of the data that an expression reads.
func witnessOf(e *jsonlogic.Expr, data map[string]any) map[string]any {
	witness := map[string]any{}
	for _, path := range append([]string{intentPath}, variablesOf([]*jsonlogic.Expr{e})...) {
		if v, ok := jsonlogic.Lookup(data, path); ok {
			witness = jsonlogic.Set(witness, strings.Split(path, "."), v)
		}
	}
	return witness
}

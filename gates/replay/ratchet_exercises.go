package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
)

// exercise is something of a pack that a golden case shows.
type exercise struct{ kind, intent, name string }

// words says what is exercised.
func (e exercise) words() string {
	if e.name == "" {
		return fmt.Sprintf("%s for intent %s", e.kind, gate.Quote(e.intent))
	}
	return e.kind + " " + gate.Quote(e.name)
}

// The kinds of what golden cases exercise.
const (
	theRule    = "rule"
	theElse    = "the else of rule"
	theGate    = "gate"
	theTool    = "tool"
	theDenial  = "a denial of"
	theRefusal = "a refusal"
	theError   = "a policy evaluation error"
	theUnion   = "the use together of"
)

// exercises returns what a golden case shows of its pack.
func exercises(r *golden.Result) (list []exercise) {
	if r.Detail == nil {
		return nil
	}
	if len(r.Together) > 0 {
		var ids []string
		for _, p := range r.Program.Pack.Parts() {
			ids = append(ids, p.PackMeta.PackID.Value) // which has no blank
		}
		slices.Sort(ids)
		list = append(list, exercise{kind: theUnion, name: strings.Join(ids, " ")})
	}
	switch r.Outcome {
	case compiler.Refused:
		return append(list, exercise{theRefusal, r.Intent, ""})
	case compiler.PolicyEvalError:
		return append(list, exercise{theError, r.Intent, ""})
	}
	for _, rule := range r.Detail.Trace.Rules {
		switch rule.State {
		case compiler.RuleThen:
			list = append(list, exercise{kind: theRule, name: rule.Rule.RuleID.Value})
		case compiler.RuleElse:
			list = append(list, exercise{kind: theElse, name: rule.Rule.RuleID.Value})
		}
	}
	for _, g := range r.Detail.Trace.Gates {
		if g.Active {
			list = append(list, exercise{kind: theGate, name: g.Gate.GateID.Value})
		}
	}
	for _, t := range r.Detail.Trace.Tools {
		if t.Surfaced {
			list = append(list, exercise{theTool, r.Intent, t.Adapter.AdapterID.Value + "." + t.Capability})
		}
	}
	for _, key := range r.Detail.Trace.Denied {
		list = append(list, exercise{theDenial, r.Intent, key})
	}
	return list
}

// exercised is what a pack still has of what cases exercise, and what its cases show.
type exercised struct {
	here    map[exercise]bool // rules, branches, gates; tools and denials without an intent
	heirs   map[string]string // the intents of the base that it has, with their names now
	shown   map[exercise]bool
	renamed map[exercise]string // rules and gates of the base that have another id now
}

func newExercised(p *gate.Pass) *exercised {
	e := &exercised{here: map[exercise]bool{}, heirs: p.Heirs(), shown: map[exercise]bool{}, renamed: map[exercise]string{}}
	for _, r := range p.Rules {
		e.here[exercise{kind: theRule, name: r.RuleID.Value}] = true
		if r.Else.Node != nil {
			e.here[exercise{kind: theElse, name: r.RuleID.Value}] = true
		}
	}
	for id := range p.Gates {
		e.here[exercise{kind: theGate, name: id}] = true
	}
	for _, tool := range toolNames(p) {
		e.here[exercise{kind: theTool, name: tool}] = true
	}
	for key := range p.Decisions {
		e.here[exercise{kind: theDenial, name: key}] = true
	}
	results := p.Golden()
	for i := range results {
		for _, x := range exercises(&results[i]) {
			e.shown[x] = true
		}
	}
	e.rename(identities(p.Before, e.heirs), identities(p.Subject, nil))
	return e
}

// rename finds the rules and gates that have a new id and are otherwise as they were.
func (e *exercised) rename(was, is map[exercise]string) {
	now := map[string]exercise{}
	for x, content := range is {
		if _, old := was[x]; !old {
			now[content] = x
		}
	}
	for x, content := range was {
		if _, still := is[x]; still {
			continue
		}
		if to, ok := now[content]; ok && to.kind == x.kind {
			e.renamed[x] = to.name
		}
	}
}

// identities returns the rules and gates of a pack with what they say beside their id, about
// intents by the names that these have now.
func identities(s *gate.Subject, renamed map[string]string) map[exercise]string {
	all := map[exercise]string{}
	for _, r := range s.Rules {
		all[exercise{kind: theRule, name: r.RuleID.Value}] = canonical(said(r, renamed))
	}
	for id, g := range s.Gates {
		all[exercise{kind: theGate, name: id}] = canonical(asked(g.Node, "gate_id"))
	}
	return all
}

// said returns what a rule says beside its id.
func said(r gate.RuleRef, renamed map[string]string) any {
	says := asked(r.Node, "rule_id")
	if members, ok := says.(map[string]any); ok {
		rename(members["applies_to"], renamed)
	}
	return says
}

// still returns what the pack has of something that the base's cases exercised, and
// reports whether it has it.
func (e *exercised) still(x exercise) (exercise, bool) {
	kind := x.kind
	if kind == theElse {
		kind = theRule
	}
	if name, ok := e.renamed[exercise{kind: kind, name: x.name}]; ok {
		x.name = name
	}
	if x.intent != "" {
		if x.intent = e.heirs[x.intent]; x.intent == "" {
			return x, false
		}
	}
	return x, x.kind == theUnion || x.name == "" || e.here[exercise{kind: x.kind, name: x.name}]
}

// missing returns what a case of the base exercised, the pack still has, and is not
// among what is shown.
func (e *exercised) missing(was *golden.Result, shown map[exercise]bool) (list []string) {
	for _, x := range exercises(was) {
		if x, here := e.still(x); here && !shown[x] {
			list = append(list, x.words())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

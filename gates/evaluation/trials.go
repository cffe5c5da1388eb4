package evaluation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
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

// supply is the evidence that there is in one compile, by its names. Those that
// tools give are folded, see gate.FoldEvidence.
type supply struct{ names, tools map[string]bool }

// supply returns the evidence of a case that compiled. Names are resolved as the
// rule catalogue does it ("Referential integrity"), in what this one compile was
// given and kept instead of in all that the pack could be given.
func (t *Trial) supply(config *repo.Config) supply {
	s := supply{map[string]bool{}, map[string]bool{}}
	for _, e := range config.Evidence.Entries {
		s.names[e.Name] = true
	}
	detail := t.Result.Detail
	if len(detail.Trace.Rules) > 0 {
		s.names[gate.PolicyEval] = true
	}
	gate.EachMember(t.Case.Invoke.Get("input").Get("context"), func(name string, _ *pack.Node) { s.names[name] = true })
	for _, tool := range detail.Trace.Tools {
		if tool.Surfaced {
			s.addTool(tool.Adapter.AdapterID.Value, tool.Capability)
		}
	}
	for _, ref := range detail.Context.ContextLedger.EvidenceRefs {
		s.addRef(ref)
	}
	return s
}

func (s supply) has(name string) bool {
	return s.names[name] || s.tools[gate.FoldEvidence(name)]
}

func (s supply) addTool(adapter, capability string) {
	for _, name := range gate.EvidenceNames(adapter, capability) {
		s.tools[gate.FoldEvidence(name)] = true
	}
}

// addRef adds the parts of an evidence reference. The result of a tool, such as
// tool:adp_orders.lookup:tool_117, is what the tool gives.
func (s supply) addRef(ref string) {
	scheme, parts := gate.ReferenceParts(ref)
	for _, part := range parts {
		s.names[part] = true
		if adapter, capability, dotted := strings.Cut(part, "."); dotted && scheme == "tool" {
			s.addTool(adapter, capability)
		}
	}
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
			if !s.has(name) {
				missing = append(missing, name)
			}
		}
	}
	return missing, required
}

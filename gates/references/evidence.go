package references

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// REF005: the evidence that a decision requires can come from somewhere.
var REF005 = &gate.Rule{
	ID: "REF005", Name: "unresolved-required-evidence", Severity: finding.Error,
	Title: "Every name in required_evidence has a source",
	Doc: "A decision must not be made before its `required_evidence` is available. " +
		"Evidence without a source never arrives, so the decision waits for ever, or somebody learns to leave the evidence out.\n\n" +
		evidenceWays,
	Bad: `"required_evidence": ["order_lookp"],
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Good: `"required_evidence": ["order_lookup"],
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Check: checkRequiredEvidence,
}

// REF009: the evidence that an outcome requires can come from somewhere.
var REF009 = &gate.Rule{
	ID: "REF009", Name: "unresolved-outcome-evidence", Severity: finding.Error,
	Title: "Every name in the requires of a then or else has a source",
	Doc: "`requires` makes what a rule allows depend on evidence. " +
		"Evidence without a source never arrives, so the rule allows nothing, whatever it states.\n\n" +
		evidenceWays,
	Bad: `"then": {"allow": true, "requires": ["orders_lookup_v2"]},
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Good: `"then": {"allow": true, "requires": ["order_lookup"]},
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Check: checkOutcomeEvidence,
}

// evidenceWays is the part of the explanation that both rules share. It says
// what sourcesOf looks at.
const evidenceWays = "A name has a source in any of these cases: " +
	"the config's `evidence` map names it; " +
	"a rule's `if` reads `request.context.NAME`; " +
	"an allowed permission provides it: adapter `adp_orders` with capability `lookup` provides `lookup`, `adp_orders.lookup`, `orders_lookup` and `order_lookup` (`.` and `_` are the same here); " +
	"it is `policy_eval` and the pack has a policy bundle; " +
	"a golden case supplies it, as a member of `request.context` that is not null, or as a part of an `evidence_ref` after the scheme (`kg:NAME:…`). " +
	"Correct the name, or state in the config where the evidence comes from: `evidence: {fraud_score: \"graph:fraud\"}`."

func checkRequiredEvidence(p *gate.Pass) {
	s := sourcesOf(p)
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		s.check(p, d.RequiredEvidence, gate.Called("decision", d.DecisionKey))
	}
}

func checkOutcomeEvidence(p *gate.Pass) {
	s := sourcesOf(p)
	for _, r := range p.Rules {
		for _, o := range r.Outcomes() {
			s.check(p, o.Requires, gate.Called("rule", r.RuleID))
		}
	}
}

// check reports the names of a list that resolve to no source.
func (s *sources) check(p *gate.Pass, names pack.List[pack.Text], who string) {
	for _, name := range names.Items {
		if !name.OK || s.resolveEvidence(name.Value) {
			continue
		}
		d := gate.Diagnostic{
			At:      name.Node,
			Message: fmt.Sprintf("%s requires evidence %q, which has no source: %s", who, name.Value, s.tried(name.Value)),
		}
		if denied := s.denied[gate.FoldEvidence(name.Value)]; denied != nil {
			d.Hint = "let a permission allow the capability that gives it, or " + s.known.otherwise(name.Value)
			d.Related = gate.See(denied, "gives it, but does not allow it")
		}
		s.known.report(p, name.Value, d)
	}
}

const contextPrefix = "request.context."

// sources is where evidence can come from, by the name of the evidence. Tools
// and denied are folded names.
type sources struct {
	config, read, tools, denied, supplied map[string]*pack.Node

	bundles bool // there is a policy bundle, which gives policy_eval
	cases   int  // golden cases looked at
	known   *known
}

// sourcesOf looks up everything that can give evidence.
func sourcesOf(p *gate.Pass) *sources {
	s := &sources{
		config: map[string]*pack.Node{}, read: map[string]*pack.Node{},
		tools: map[string]*pack.Node{}, denied: map[string]*pack.Node{}, supplied: map[string]*pack.Node{},
		bundles: len(p.Pack.PolicyLayer.PolicyBundles.Items) > 0, cases: len(p.Unit.Cases),
	}
	for _, e := range p.Config.Evidence.Entries {
		put(s.config, e.Name, e.Value.Node)
	}
	for _, r := range p.Rules {
		s.addVariables(p, r.If)
	}
	for _, c := range p.Unit.Cases {
		gate.EachMember(c.Invoke.Get("input").Get("context"), func(name string, at *pack.Node) { put(s.supplied, name, at) })
	}
	places := s.plain()
	names := slices.Collect(maps.Keys(places))
	names = append(names, s.addPermissions(p.Pack.ToolingLayer.Permissions.Items, places)...)
	for _, c := range p.Unit.Cases {
		for _, e := range c.Evidence.Items {
			s.addRef(e.EvidenceRef)
		}
	}
	s.known = newKnown(places, func(name string) string {
		return fmt.Sprintf("say where %q comes from under evidence in .packgate.yaml", name)
	})
	s.known.names = sync.OnceValue(func() []string {
		slices.Sort(names)
		return slices.Compact(names)
	})
	return s
}

// resolveEvidence reports whether a piece of evidence has a source.
func (s *sources) resolveEvidence(name string) bool {
	return s.config[name] != nil || s.read[name] != nil || s.tools[gate.FoldEvidence(name)] != nil ||
		name == gate.PolicyEval && s.bundles || s.supplied[name] != nil
}

// tried says in words what resolveEvidence has looked at in vain.
func (s *sources) tried(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the config's evidence map does not name it, no rule reads %s%s, no allowed permission gives it", contextPrefix, name)
	if name == gate.PolicyEval {
		b.WriteString(", there is no policy bundle")
	}
	switch s.cases {
	case 0:
		b.WriteString(", there is no golden case to supply it")
	case 1:
		b.WriteString(", the golden case does not supply it")
	default:
		fmt.Fprintf(&b, ", none of the %d golden cases supplies it", s.cases)
	}
	return b.String()
}

func put(m map[string]*pack.Node, name string, at *pack.Node) {
	if m[name] == nil {
		m[name] = at
	}
}

// plain returns the sources whose names are evidence names as they stand.
func (s *sources) plain() map[string]*pack.Node {
	all := map[string]*pack.Node{}
	for _, m := range []map[string]*pack.Node{s.config, s.read, s.supplied} {
		for name, at := range m {
			put(all, name, at)
		}
	}
	return all
}

// addVariables adds what an expression reads of request.context: the path of
// each variable and the objects on the way to it.
func (s *sources) addVariables(p *gate.Pass, expression *pack.Node) {
	if expression == nil {
		return
	}
	x, problems := p.Compile(expression)
	if len(problems) > 0 {
		walkVariables(expression, s.addVariable)
		return
	}
	for _, v := range x.Variables() {
		if !v.Scoped {
			s.addVariable(v.Path, policy.Counterpart(v.Node, x, expression))
		}
	}
}

func (s *sources) addVariable(path string, at *pack.Node) {
	name, ok := strings.CutPrefix(path, contextPrefix)
	if !ok {
		return
	}
	put(s.read, name, at)
	name = name[:min(len(name), gate.MostOfName)]
	for i := strings.LastIndexByte(name, '.'); i > 0; i = strings.LastIndexByte(name, '.') {
		name = name[:i]
		put(s.read, name, at)
	}
}

// walkVariables finds the variables of an expression that is no JsonLogic of
// the profile, as far as they can be seen: SCH011 reports the expression, and
// its evidence need not be reported too.
func walkVariables(n *pack.Node, add func(path string, at *pack.Node)) {
	for _, item := range n.Items {
		walkVariables(item, add)
	}
	for _, m := range n.Members {
		operand := m.Value
		if m.Name == "var" && operand.Kind == pack.Array && len(operand.Items) > 0 {
			operand = operand.Items[0]
		}
		if m.Name == "var" && operand.Kind == pack.String {
			add(operand.Text, operand)
		}
		walkVariables(m.Value, add)
	}
}

// addPermissions adds the names that permissions give, to the places too, and
// returns the plainest name of each. Of several permissions for one capability,
// one that does not allow it wins.
func (s *sources) addPermissions(permissions []pack.Permission, places map[string]*pack.Node) (plainest []string) {
	type capability struct{ adapter, name string }
	denied := map[capability]bool{}
	for _, p := range permissions {
		if p.Allow.OK && !p.Allow.Value {
			denied[capability{p.AdapterID.Value, p.Capability.Value}] = true
		}
	}
	for _, p := range permissions {
		if !p.AdapterID.OK || !p.Capability.OK || !p.Allow.OK {
			continue
		}
		names := gate.EvidenceNames(p.AdapterID.Value, p.Capability.Value)
		switch {
		case !p.Allow.Value:
			for _, name := range names {
				put(s.denied, gate.FoldEvidence(name), p.Node)
			}
		case !denied[capability{p.AdapterID.Value, p.Capability.Value}]:
			for _, name := range names {
				put(s.tools, gate.FoldEvidence(name), p.Node)
				put(places, name, p.Node)
			}
			plainest = append(plainest, names[len(names)-1])
		}
	}
	return plainest
}

// addRef adds the parts of an evidence reference.
func (s *sources) addRef(ref pack.Text) {
	if !ref.OK {
		return
	}
	_, parts := gate.ReferenceParts(ref.Value)
	for _, part := range parts {
		put(s.supplied, part, ref.Node)
	}
}

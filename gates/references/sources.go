package references

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

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
	slices.Sort(names)
	s.known.names = slices.Compact(names)
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

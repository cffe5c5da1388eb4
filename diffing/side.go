package diffing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/schemas"
)

// side is one of the two packs, prepared for the comparison. What rows ask for
// again and again is found once, so that a large pack costs no more than its
// size.
type side struct {
	*pack.Pack
	*gate.Index
	form  map[string]any    // the keyed form
	index *pack.PathIndex   // from keyed paths to values
	specs map[string]string // names given to decision specs, to their own (see alignSpecs)

	rulesUnder map[*pack.Node][]gate.RuleRef // at a rule that rule, at a bundle all of its rules
	allowed    map[string][]*pack.Permission // by capability
	raised     []map[string]bool             // the gates that rules raise, by the rank of the mode
	authority  int                           // the highest rank that a decision authorises
	writing    []string                      // endpoints that do more than read, see endpoint
	ungated    map[string]bool               // destructive capabilities that are permitted without a gate

	texts map[*pack.Node]map[string]bool // of arrays, as far as asked for
	known map[*pack.Node]declaration     // of objects, as far as asked for

	eligibility *asker // of the base: asks about conditions of eligibility
}

// declaration is what the contract says of the members of an object.
type declaration struct {
	names []string
	open  bool // any other member is as good
}

func newSide(p *pack.Pack, writing ...string) *side {
	form, index := p.Node.Document().KeyedForm()
	members, _ := form.(map[string]any)
	s := &side{
		Pack: p, Index: gate.NewIndex(p), form: members, index: index, specs: map[string]string{}, authority: -1,
		rulesUnder: map[*pack.Node][]gate.RuleRef{}, allowed: map[string][]*pack.Permission{}, ungated: map[string]bool{}, texts: map[*pack.Node]map[string]bool{}, known: map[*pack.Node]declaration{},
		eligibility: &asker{mostQuestions, &policy.Conditions{}},
	}
	for _, r := range s.Rules {
		s.rulesUnder[r.Node] = append(s.rulesUnder[r.Node], r)
		s.rulesUnder[r.Bundle.Node] = append(s.rulesUnder[r.Bundle.Node], r)
	}
	for _, d := range p.DecisionLayer.DecisionSpecs.Items {
		s.authority = max(s.authority, pack.Mode(d.ApprovalMode).Rank())
	}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		if a.EndpointRef.OK && pack.Mode(a.ApprovalMode) != pack.ReadOnly {
			writing = append(writing, a.EndpointRef.Value)
		}
	}
	for _, ref := range writing {
		s.writing = append(s.writing, endpoint(ref))
	}
	s.raised = s.raisedGates()
	for _, permission := range s.permitted() {
		s.allowed[capability(permission)] = append(s.allowed[capability(permission)], permission)
		if s.unguarded(permission) {
			s.ungated[capability(permission)] = true
		}
	}
	return s
}

// raisedGates returns, for each rank of an adapter's mode, the gates that
// enforced rules of decisions raise which authorise that mode.
func (s *side) raisedGates() []map[string]bool {
	list := make([]map[string]bool, len(pack.ApprovalModes()))
	for rank := range list {
		list[rank] = map[string]bool{}
	}
	for _, r := range s.Rules {
		d := s.Decisions[r.DecisionBinding.Value]
		if d == nil || r.NonEnforcing.Value {
			continue
		}
		for _, o := range r.Outcomes() {
			if id := o.RequiresApprovalGate; id.OK && s.Gates[id.Value] != nil {
				for rank := range pack.Mode(d.ApprovalMode).Rank() + 1 {
					list[rank][id.Value] = true
				}
			}
		}
	}
	return list
}

// at returns the value at a keyed path, by the names that the comparison gives.
func (s *side) at(path string) *pack.Node {
	if rest, ok := strings.CutPrefix(path, specsPath+"/"); ok {
		name, below, _ := strings.Cut(rest, "/")
		if own, ok := s.specs[name]; ok {
			path = strings.TrimSuffix(specsPath+"/"+own+"/"+below, "/")
		}
	}
	return s.index.Find(path)
}

// holds reports whether an array has a text among its items.
func (s *side) holds(array *pack.Node, text string) bool {
	texts, ok := s.texts[array]
	if !ok {
		texts = map[string]bool{}
		for _, item := range array.Items {
			if item.Kind == pack.String {
				texts[item.Text] = true
			}
		}
		s.texts[array] = texts
	}
	return texts[text]
}

// unknown reports whether the contract does not know the member that is at
// the path.
func (s *side) unknown(segments []string) bool {
	n := s.at(join(segments))
	if n == nil {
		return false
	}
	name, ok := n.Name()
	if !ok {
		return false
	}
	d, ok := s.known[n.Parent]
	if !ok {
		d.names, d.open = schemas.KnownMembers("context-pack", n.Parent.Pointer())
		s.known[n.Parent] = d
	}
	return !d.open && !slices.Contains(d.names, name)
}

// rule returns the rule that a value is, nil for none.
func (s *side) rule(n *pack.Node) *pack.Rule {
	if list := s.rulesUnder[n]; len(list) > 0 && list[0].Node == n {
		return list[0].Rule
	}
	return nil
}

// permitted returns the permissions that allow their capability.
func (s *side) permitted() []*pack.Permission {
	var list []*pack.Permission
	permissions := s.ToolingLayer.Permissions.Items
	for i := range permissions {
		if permissions[i].Allow.Value {
			list = append(list, &permissions[i])
		}
	}
	return list
}

// mode returns the approval mode of an adapter; one that is not there counts as
// destructive, as all that is not known.
func (s *side) mode(adapterID string) pack.ApprovalMode {
	if a := s.Adapters[adapterID]; a != nil {
		return pack.Mode(a.ApprovalMode)
	}
	return ""
}

func destructive(m pack.ApprovalMode) bool { return m.Rank() >= pack.Destructive.Rank() }

// writes reports whether a capability changes anything: every mode above
// read_only does, except network where the risks say that there is no effect.
func (s *side) writes(adapterID, capability string) bool {
	m := s.mode(adapterID)
	if m != pack.Network {
		return m.Rank() > pack.ReadOnly.Rank()
	}
	risk, ok := s.Adapters[adapterID].CapabilityRisks.Get(capability)
	return !ok || risk.Effect.Value != "none"
}

// servesWriting reports whether the endpoint of an adapter also serves one that does more
// than read. One that lies below another is the same.
func (s *side) servesWriting(a *pack.Adapter) bool {
	own := endpoint(a.EndpointRef.Value)
	return a.EndpointRef.OK && slices.ContainsFunc(s.writing, func(ref string) bool {
		return strings.HasPrefix(own, ref) || strings.HasPrefix(ref, own)
	})
}

// endpoint returns an endpoint as it is compared: without what does not tell it from
// another one, and with a slash at its end.
func endpoint(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	ref, _, _ = strings.Cut(ref, "?")
	return strings.ToLower(strings.TrimRight(ref, "/")) + "/"
}

// resolves reports whether the registry has what a permission names.
func (s *side) resolves(p *pack.Permission) bool {
	a := s.Adapters[p.AdapterID.Value]
	return a != nil && slices.Contains(pack.Values(a.Capabilities), p.Capability.Value)
}

// guardedBy reports whether a gate is before a permitted capability: its
// permission names it, or an enforced rule of an authorising decision raises it.
func (s *side) guardedBy(p *pack.Permission, gateID string) bool {
	own := p.RequiresApprovalGate
	return s.Gates[gateID] != nil &&
		(own.OK && own.Value == gateID || s.raised[s.mode(p.AdapterID.Value).Rank()][gateID])
}

// guarded reports whether any gate is before a permitted capability.
func (s *side) guarded(p *pack.Permission) bool {
	return len(s.raised[s.mode(p.AdapterID.Value).Rank()]) > 0 || s.guardedBy(p, p.RequiresApprovalGate.Value)
}

// unguarded reports whether the permission allows a destructive capability and
// no gate is before it.
func (s *side) unguarded(p *pack.Permission) bool {
	return p.Allow.Value && destructive(s.mode(p.AdapterID.Value)) && !s.guarded(p)
}

// capability names what a permission is about.
func capability(p *pack.Permission) string {
	return join([]string{p.AdapterID.Value, p.Capability.Value})
}

// model returns what a pack permits. Its named items are taken in the order of
// their names: the order in which they are written is no content, and must not
// show in which request is found to tell two packs apart.
func model(p *pack.Pack, shared *policy.Conditions) *proof.Model {
	q := *p
	bundles := &q.PolicyLayer.PolicyBundles
	inOrder(bundles, func(b *pack.Bundle) (pack.Text, *pack.Node) { return b.BundleID, b.Node })
	for i := range bundles.Items {
		inOrder(&bundles.Items[i].PolicyDSL.Rules, func(r *pack.Rule) (pack.Text, *pack.Node) { return r.RuleID, r.Node })
		for j := range bundles.Items[i].PolicyDSL.Rules.Items {
			r := &bundles.Items[i].PolicyDSL.Rules.Items[j]
			boundsInOrder(&r.Then.ArgConstraints)
			boundsInOrder(&r.Else.ArgConstraints)
		}
	}
	inOrder(&q.PolicyLayer.ApprovalGates, func(g *pack.ApprovalGate) (pack.Text, *pack.Node) { return g.GateID, g.Node })
	inOrder(&q.ToolingLayer.AdapterRegistry, func(a *pack.Adapter) (pack.Text, *pack.Node) { return a.AdapterID, a.Node })
	for i := range q.ToolingLayer.AdapterRegistry.Items {
		list := &q.ToolingLayer.AdapterRegistry.Items[i].Capabilities
		inOrder(list, func(t *pack.Text) (pack.Text, *pack.Node) { return *t, t.Node })
	}
	permissions := &q.ToolingLayer.Permissions
	inOrder(permissions, func(p *pack.Permission) (pack.Text, *pack.Node) { return p.PermissionID, p.Node })
	for i := range permissions.Items {
		boundsInOrder(&permissions.Items[i].ArgConstraints)
	}
	inOrder(&q.DecisionLayer.DecisionSpecs, func(d *pack.DecisionSpec) (pack.Text, *pack.Node) { return d.DecisionKey, d.Node })
	return proof.For(policy.New(&q, shared))
}

// inOrder puts a copy of a list's items into the order of their names; what has
// one name stays in the order of what it says.
func inOrder[T any](list *pack.List[T], name func(*T) (pack.Text, *pack.Node)) {
	list.Items = slices.Clone(list.Items)
	slices.SortStableFunc(list.Items, func(a, b T) int {
		x, xNode := name(&a)
		y, yNode := name(&b)
		if c := cmp.Compare(x.Value, y.Value); c != 0 || xNode == nil || yNode == nil {
			return c
		}
		return cmp.Compare(pack.CompactJSON(xNode.Any()), pack.CompactJSON(yNode.Any()))
	})
}

func boundsInOrder(d *pack.Dict[pack.Constraint]) {
	d.Entries = slices.Clone(d.Entries)
	slices.SortStableFunc(d.Entries, func(a, b pack.Entry[pack.Constraint]) int { return cmp.Compare(a.Name, b.Name) })
}

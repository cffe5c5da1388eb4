package diffing

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/schemas"
)

// side is one of the two packs, prepared for the comparison.
type side struct {
	*pack.Pack
	*gate.Index
	form  map[string]any        // the keyed form
	index map[string]*pack.Node // from keyed paths to values
}

func newSide(p *pack.Pack) *side {
	form, index := p.Node.Document().KeyedForm()
	members, _ := form.(map[string]any)
	return &side{Pack: p, Index: gate.NewIndex(p), form: members, index: index}
}

// unknown reports whether the contract does not know the member that stands at
// the path; its name is the last segment.
func (s *side) unknown(segments []string) bool {
	n := s.index[join(segments)]
	if n == nil {
		return false
	}
	name, ok := n.Name()
	if !ok {
		return false
	}
	known, open := schemas.KnownMembers("context-pack", n.Parent.Pointer())
	return !open && !slices.Contains(known, name)
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

// resolves reports whether the registry has what a permission names.
func (s *side) resolves(p *pack.Permission) bool {
	a := s.Adapters[p.AdapterID.Value]
	return a != nil && gate.Has(a, p.Capability.Value)
}

// authorises reports whether a decision may authorise a capability of that mode.
func authorises(d *pack.DecisionSpec, m pack.ApprovalMode) bool {
	return pack.Mode(d.ApprovalMode).Rank() >= m.Rank()
}

// guards returns the gates that stand before a permitted capability: the one
// that its permission names, and those that enforced rules of an authorising
// decision raise.
func (s *side) guards(p *pack.Permission) []string {
	var gates []string
	add := func(f pack.Text) {
		if f.OK && s.Gates[f.Value] != nil {
			gates = append(gates, f.Value)
		}
	}
	add(p.RequiresApprovalGate)
	for _, r := range s.Rules {
		d := s.Decisions[r.DecisionBinding.Value]
		if d == nil || r.NonEnforcing.Value || !authorises(d, s.mode(p.AdapterID.Value)) {
			continue
		}
		for _, o := range r.Outcomes() {
			add(o.RequiresApprovalGate)
		}
	}
	return gates
}

// unguarded reports whether the permission allows a destructive capability and
// no gate stands before it.
func (s *side) unguarded(p *pack.Permission) bool {
	return p.Allow.Value && destructive(s.mode(p.AdapterID.Value)) && len(s.guards(p)) == 0
}

// authorised reports whether some decision may authorise a capability of that
// mode.
func (s *side) authorised(m pack.ApprovalMode) bool {
	specs := s.DecisionLayer.DecisionSpecs.Items
	return slices.ContainsFunc(specs, func(d pack.DecisionSpec) bool { return authorises(&d, m) })
}

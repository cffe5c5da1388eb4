package risk

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// RSK010: who asks does not approve.
var RSK010 = &gate.Rule{
	ID: "RSK010", Name: "self-approval", Severity: finding.Warning,
	Title: "The approver role of a gate is not a role that may make the request",
	Doc: "An approval is a second pair of eyes. " +
		"If a rule lets the role make the request that is also the gate's `required_approver_role`, the same person can ask and approve.\n\n" +
		"Name another role in the gate, or leave the role out of the rule's condition. " +
		"Looked at are the rules that raise the gate, and those of decisions that may authorise a capability behind it, where they compare `user.role` with the approver role and then let the request through with the gate raised.",
	Bad: `"if": {"in": [{"var": "user.role"}, ["support_agent", "finance_lead"]]},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "finance_lead"}]`,
	Good: `"if": {"==": [{"var": "user.role"}, "support_agent"]},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "finance_lead"}]`,
	Since: "0.1.0",
	Check: checkApprovers,
}

const roleVariable = "user.role"

func checkApprovers(p *gate.Pass) {
	s := newPaths(p)
	open := openCapabilities(p)
	requesters := s.requesters()
	gates := p.Pack.PolicyLayer.ApprovalGates.Items
	for i := range gates {
		g := &gates[i]
		role := g.RequiredApproverRole
		if !g.GateID.OK || !role.OK || p.Gates[g.GateID.Value] != g {
			continue
		}
		for _, r := range requesters[role.Value] {
			if !s.concerns(r.condition, g.GateID.Value, open) {
				continue
			}
			if request := s.requests(r.condition, g); request != nil {
				p.Report(gate.Diagnostic{
					At: role.Node, Key: r.RuleID.Value, Witness: request.Witness,
					Message: fmt.Sprintf("gate %s is approved by %s, the role that %s lets make the request%s",
						gate.Quote(g.GateID.Value), gate.Quote(role.Value), gate.CalledBriefly("rule", r.RuleID), example(request.Witness, r.when)),
					Hint:    "name another approver role, or leave the role out of the rule's condition",
					Related: gate.See(r.at, "the comparison with %s", roleVariable),
				})
			}
		}
	}
}

// requester is a rule that compares user.role with a role, and where.
type requester struct {
	*condition
	at *pack.Node
}

// requesters returns by role the rules that compare user.role with it, each
// once, in document order.
func (s *paths) requesters() map[string][]requester {
	byRole := map[string][]requester{}
	for _, r := range s.rules {
		eachRole(r.If, func(literal *pack.Node) {
			list := byRole[literal.Text]
			if len(list) == 0 || list[len(list)-1].condition != r {
				byRole[literal.Text] = append(list, requester{r, literal})
			}
		})
	}
	return byRole
}

// eachRole calls found for every text in an expression with which user.role is
// compared, or that stands in a list in which it is looked up.
func eachRole(n *pack.Node, found func(*pack.Node)) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		if slices.ContainsFunc(m.Value.Items, isRole) {
			for _, operand := range m.Value.Items {
				for _, literal := range append([]*pack.Node{operand}, operand.Items...) {
					if literal.Kind == pack.String {
						found(literal)
					}
				}
			}
		}
		eachRole(m.Value, found)
	}
	for _, item := range n.Items {
		eachRole(item, found)
	}
}

// isRole reports whether an operand reads user.role.
func isRole(n *pack.Node) bool {
	path := n.Get("var")
	if path != nil && path.Kind == pack.Array && len(path.Items) > 0 {
		path = path.Items[0]
	}
	return path != nil && path.Kind == pack.String && path.Text == roleVariable
}

// concerns reports whether a rule has to do with a gate: it names it, or it is
// bound to a decision that may authorise a capability behind it.
func (s *paths) concerns(r *condition, id string, open []*capability) bool {
	return slices.ContainsFunc(r.Outcomes(), func(o *pack.Outcome) bool { return names(o, id) }) ||
		slices.ContainsFunc(open, func(c *capability) bool {
			d, bound := s.decisions[r.DecisionBinding.Value]
			return bound && d.rank >= c.rank() && slices.Contains(c.gates(), id)
		})
}

func names(o *pack.Outcome, id string) bool {
	return o.RequiresApprovalGate.OK && o.RequiresApprovalGate.Value == id
}

// requests returns the proof that with the approver's role a rule lets a request
// through for which the gate is raised; nil where it does not, or where that
// could not be decided.
func (s *paths) requests(r *condition, g *pack.ApprovalGate) *jsonlogic.Answer {
	for _, intent := range s.intents() {
		if !r.applies(intent) {
			continue
		}
		v := &scene{paths: s, intent: intent, open: &capability{adapter: &pack.Adapter{}}, rules: s.applicable(intent)}
		id, role := g.GateID.Value, g.RequiredApproverRole.Value
		what := fmt.Sprintf("that %s does not let the approver of gate %s make the request is", gate.CalledBriefly("rule", r.RuleID), gate.Quote(id))
		if broken := v.broken(); broken != "" || s.whens[id] == nil {
			v.unproved(what, jsonlogic.Answer{Reason: "a condition is not valid"})
			return nil
		}
		answer := v.prove("approver "+r.Node.Pointer()+" "+id, func() jsonlogic.Formula { return v.requested(r, id, role) })
		switch answer.Verdict {
		case jsonlogic.Satisfiable:
			return &answer
		case jsonlogic.Undecided:
			v.unproved(what, answer)
		}
	}
	return nil
}

// requested says when a request of a role gets through by the outcome of a rule
// while a gate is raised.
func (v *scene) requested(r *condition, id, role string) jsonlogic.Formula {
	through := holding([]*condition{r}, func(_ *condition, o *pack.Outcome) bool { return o.Allow.Value || names(o, id) })
	raised := jsonlogic.Any(v.active(id), holding(v.rules, func(_ *condition, o *pack.Outcome) bool { return names(o, id) }))
	f := jsonlogic.All(v.compiles(), jsonlogic.Is(roleVariable, role), through, raised)
	if key := r.DecisionBinding; key.OK {
		f = jsonlogic.All(f, v.allowed(key.Value))
	}
	return f
}

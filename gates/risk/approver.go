package risk

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// RSK010: who asks does not approve.
var RSK010 = &gate.Rule{
	ID: "RSK010", Name: "self-approval", Severity: finding.Warning,
	Title: "The approver role of a gate is not a role that may make the request",
	Doc: "An approval is a second pair of eyes. If a rule lets a role make the request that is also the gate's " +
		"`required_approver_role`, the same person can ask and approve.\n\n" +
		"Name another role in the gate, or remove the role from the rule's condition. packgate looks at the rules that activate " +
		"the gate, and those of decisions that may authorise a capability behind it, if they compare `user.role` with the " +
		"approver role and then let the request through with the gate active.",
	Bad: `"if": {"in": [{"var": "user.role"}, ["support_agent", "finance_lead"]]},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "finance_lead"}]`,
	Good: `"if": {"==": [{"var": "user.role"}, "support_agent"]},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "finance_lead"}]`,
	Check: checkApprovers,
}

const roleVariable = "user.role"

func checkApprovers(p *gate.Pass) {
	m := p.Policy()
	lowest := map[*policy.Gate]int{} // the rank of the tools behind a gate
	for _, t := range openTools(p) {
		for _, g := range t.Gates {
			if rank, known := lowest[g]; !known || t.Rank() < rank {
				lowest[g] = t.Rank()
			}
		}
	}
	requesters := requestersOf(m)
	for _, g := range m.Gates {
		if !g.GateID.OK || !g.RequiredApproverRole.OK || m.Gate(g.ID) != g {
			continue
		}
		for _, r := range requesters[g.RequiredApproverRole.Value] {
			rank, behind := lowest[g]
			if names(r.Rule, g) || behind && r.Decision != nil && r.Decision.Authority >= rank {
				checkApprover(p, r, g)
			}
		}
	}
}

// checkApprover reports a rule that lets the approver of a gate make the request.
func checkApprover(p *gate.Pass, r requester, g *policy.Gate) {
	found := requests(p.Proof(), r.Rule, g)
	switch found.Verdict {
	case jsonlogic.Satisfiable:
		role := g.RequiredApproverRole
		p.Report(gate.Diagnostic{
			At: role.Node, Key: r.RuleID.Value, Witness: found.Witness,
			Message: fmt.Sprintf("gate %s is approved by %s, the role that %s lets make the request%s",
				gate.Quote(g.ID), gate.Quote(role.Value), gate.CalledBriefly("rule", r.RuleID), example(found.Witness, r.When.Expr)),
			Hint:    "name another approver role, or leave the role out of the rule's condition",
			Related: gate.See(r.at, "the comparison with %s", roleVariable),
		})
	case jsonlogic.Undecided:
		p.NotChecked(fmt.Sprintf("that %s does not let the approver of gate %s make the request is not proved: %s",
			gate.CalledBriefly("rule", r.RuleID), gate.Quote(g.ID), found.Reason))
	}
}

// requester is a rule that compares user.role with a role, and where.
type requester struct {
	*policy.Rule
	at *pack.Node
}

// requestersOf returns by role the enforced rules that compare user.role with it, each
// once, in the order of evaluation.
func requestersOf(m *policy.Model) map[string][]requester {
	byRole := map[string][]requester{}
	for _, r := range m.Rules {
		if !r.Enforced {
			continue
		}
		eachRole(r.If, func(literal *pack.Node) {
			list := byRole[literal.Text]
			if len(list) == 0 || list[len(list)-1].Rule != r {
				byRole[literal.Text] = append(list, requester{r, literal})
			}
		})
	}
	return byRole
}

// eachRole calls found for every text in an expression with which user.role is
// compared, or that is in a list in which it is looked up.
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

// names reports whether an outcome of a rule requires a gate.
func names(r *policy.Rule, g *policy.Gate) bool {
	return slices.ContainsFunc(r.Branches(), func(b *policy.Branch) bool { return b.Gate == g })
}

// requests looks for a request that the approver's role makes and a rule lets through
// while the gate is raised.
func requests(m *proof.Model, r *policy.Rule, g *policy.Gate) jsonlogic.Answer {
	if m.Broken() != "" {
		return jsonlogic.Answer{Reason: "the pack cannot be compiled: " + m.Broken()}
	}
	var through []jsonlogic.Formula
	for _, b := range r.Branches() {
		if b.Allows == jsonlogic.True || b.Gate == g {
			through = append(through, b.Holds())
		}
	}
	found := jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	for _, intent := range m.Intents {
		if !r.Applies(intent) {
			continue
		}
		parts := []jsonlogic.Formula{jsonlogic.Is(roleVariable, g.RequiredApproverRole.Value), jsonlogic.Any(through...), m.Active(intent, g.ID)}
		if r.Decision != nil {
			parts = append(parts, m.Allowed(intent, r.Decision.Key))
		}
		one := m.Ask(intent, func(made *compiler.Result) bool {
			return made.Outcome == compiler.Compiled && slices.Contains(made.Context.RuntimeControls.ApprovalGatesActive, g.ID)
		}, parts...)
		if one.Verdict == jsonlogic.Satisfiable {
			return one
		}
		if one.Verdict == jsonlogic.Undecided {
			found = one
		}
	}
	return found
}

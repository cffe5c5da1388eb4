package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
)

// scenario is one compile of the support pack with edits, for the reference
// request with changes. A list that is nil is not compared.
type scenario struct {
	name    string
	edits   []finding.Operation
	request func(r *compiler.Request)

	outcome compiler.Outcome // "" means compiled
	reason  string           // the whole reason

	rules, denied, tools, gates, refuse, warnings []string
}

func none() []string { return []string{} }

func runScenarios(t *testing.T, scenarios []scenario) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			r := reference(t)
			if s.request != nil {
				s.request(&r)
			}
			result := compile(t, supportPack(t, s.edits...), r)
			want := s.outcome
			if want == "" {
				want = compiler.Compiled
			}
			if result.Outcome != want || result.Reason() != s.reason {
				t.Fatalf("the outcome is %s %q, wanted %s %q", result.Outcome, result.Reason(), want, s.reason)
			}
			if (result.Context == nil) != (want != compiler.Compiled) {
				t.Error("there is a context exactly if the pack was compiled, and here it is not so")
			}
			if result.Context != nil {
				s.compare(t, result)
			}
		})
	}
}

func (s scenario) compare(t *testing.T, result *compiler.Result) {
	t.Helper()
	c := result.Context
	valid(t, c)
	for _, list := range []struct {
		name      string
		got, want []string
	}{
		{"rules", firedRules(c), s.rules},
		{"denied", result.Trace.Denied, s.denied},
		{"tools", c.ContextLedger.Tools, s.tools},
		{"gates", c.RuntimeControls.ApprovalGatesActive, s.gates},
		{"must_refuse", c.RuntimeControls.MustRefuse, s.refuse},
		{"warnings", c.BudgetReport.Warnings, s.warnings},
	} {
		if list.want != nil && !slices.Equal(list.got, list.want) {
			t.Errorf("%s: %q, wanted %q", list.name, list.got, list.want)
		}
	}
}

func firedRules(c *compiler.CompiledContext) []string {
	var rules []string
	for _, e := range c.Manifests.PolicyManifest {
		rules = append(rules, e.RuleIDs...)
	}
	return rules
}

// policyOf replaces the pack's rules by those given, in one bundle.
func policyOf(rules ...string) finding.Operation {
	return replace("/policy_layer/policy_bundles", "["+bundle("B", 10, rules...)+"]")
}

func bundle(id string, priority int, rules ...string) string {
	return fmt.Sprintf(`{"bundle_id": %q, "priority": %d, "policy_dsl": {"language": "jsonlogic", "rules": [%s]}}`,
		id, priority, strings.Join(rules, ","))
}

// ruleOf writes a rule for support.refund; the rest are further members.
func ruleOf(id, condition, then string, rest ...string) string {
	members := []string{
		fmt.Sprintf(`"rule_id": %q`, id), `"applies_to": {"intent": "support.refund"}`,
		`"if": ` + condition, `"then": ` + then,
	}
	return "{" + strings.Join(append(members, rest...), ",") + "}"
}

// Members of rules and outcomes that the tables use again and again.
const (
	onExecute  = `"decision_binding": "support.refund.execute"`
	onLookup   = `"decision_binding": "support.refund.lookup"`
	onNotify   = `"decision_binding": "support.refund.notify"`
	notEnforce = `"non_enforcing": true`
	allow      = `{"allow": true}`
	deny       = `{"allow": false, "reason": "no"}`
	unknown    = `{">": [{"var": "request.context.absent"}, 1]}`
	always     = `true`
	never      = `false`
)

// decisionsOf replaces the decision specs by three, of the modes read_only,
// network and destructive, in the order lookup, notify, execute.
func decisionsOf() finding.Operation {
	var specs []string
	for _, d := range [][2]string{{"lookup", "read_only"}, {"notify", "network"}, {"execute", "destructive"}} {
		specs = append(specs, fmt.Sprintf(`{"decision_key": "support.refund.%s", "version": "1.0.0", "approval_mode": %q}`, d[0], d[1]))
	}
	return replace("/decision_layer/decision_specs", "["+strings.Join(specs, ",")+"]")
}

func edits(ops ...finding.Operation) []finding.Operation { return ops }

// gateWhen replaces the condition of the support pack's gate.
func gateWhen(condition string) finding.Operation {
	return replace("/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when", condition)
}

package proof

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

const (
	guard    = rulesPath + "/R_REFUND_REQUIRES_IDV"
	approval = rulesPath + "/R_HIGH_VALUE_REQUIRES_APPROVAL"
	refund   = "/tooling_layer/permissions/p_issue_refund"
	gatePath = "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL"
)

// rule returns a rule about refunds in one line.
func ruleOf(id, condition, then, more string) string {
	return fmt.Sprintf(`{"rule_id": %q, "applies_to": {"intent": "support.refund"}, "if": %s, "then": %s%s}`, id, condition, then, more)
}

const (
	bound    = `, "decision_binding": "support.refund.execute"`
	verified = `{"==": [{"var": "request.context.identity_verified"}, true]}`
)

func above(limit int) string {
	return fmt.Sprintf(`{">": [{"var": "request.context.refund_amount"}, %d]}`, limit)
}

// cases are changes of the support pack: what both versions have, and what head
// has beside it.
var cases = []struct{ about, both, head string }{
	{"nothing", "", ""},
	{"a condition is written in another way", "", `replace ` + guard + `/if {"===": [true, {"var": "request.context.identity_verified"}]}`},
	{"a threshold is loosened by one", "", `replace ` + approval + `/if/and/1/>/1 3001`},
	{"a threshold and its gate are loosened", "", `replace ` + approval + `/if/and/1/>/1 5000
replace ` + gatePath + `/when/>/1 5000`},
	{"the gate asks for more, and so for less often", "", `replace ` + gatePath + `/when {"and": [` + above(3000) + `, {"==": [{"var": "user.role"}, "support_agent"]}]}`},
	{"a condition moves from one rule to another",
		"add " + rulesPath + "/- " + ruleOf("R_A", verified, `{"allow": true}`, bound) + "\nadd " + rulesPath + "/- " + ruleOf("R_B", above(100), `{"prohibits": ["issue_refund"]}`, bound),
		"replace " + rulesPath + "/R_A/if " + above(100) + "\nreplace " + rulesPath + "/R_A/then " + `{"prohibits": ["issue_refund"]}` +
			"\nreplace " + rulesPath + "/R_B/if " + verified + "\nreplace " + rulesPath + "/R_B/then " + `{"allow": true}`},
	{"a rule is split in two",
		"add " + rulesPath + "/- " + ruleOf("R_A", `{"or": [{"==": [{"var": "user.role"}, "guest"]}, {"==": [{"var": "user.role"}, "bot"]}]}`, `{"allow": false}`, bound),
		"replace " + rulesPath + `/R_A/if {"==": [{"var": "user.role"}, "guest"]}` + "\nadd " + rulesPath + "/- " + ruleOf("R_B", `{"==": [{"var": "user.role"}, "bot"]}`, `{"allow": false}`, bound)},
	{"a deny makes up for an allow that is wider", "",
		`replace ` + guard + `/if {"!=": [{"var": "request.context.identity_verified"}, null]}` + "\nadd " + rulesPath + "/- " +
			ruleOf("R_A", `{"!": `+verified+`}`, `{"allow": false}`, bound)},
	{"an allow becomes wider", "", `replace ` + guard + `/if {"in": [{"var": "request.context.identity_verified"}, [true, "by_phone"]]}`},
	{"an else branch is added", "", "add " + approval + `/else {"allow": false}`},
	{"an else-deny is dropped", "", "remove " + guard + "/else"},
	{"a prohibition is removed", "add " + rulesPath + "/- " + ruleOf("R_A", above(9000), `{"prohibits": ["adp_payments.issue_refund"]}`, bound),
		"remove " + rulesPath + "/R_A/then/prohibits"},
	{"the permission's gate is dropped, and a rule names it too", "", "remove " + refund + "/requires_approval_gate"},
	{"the permission's gate is dropped", "remove " + approval + "/then/requires_approval_gate", "remove " + refund + "/requires_approval_gate"},
	{"a deny that is bound to nothing", "", "add " + rulesPath + "/- " + ruleOf("R_A", `{"==": [{"var": "user.role"}, "bot"]}`, `{"allow": false}`, "")},
	{"a rule enforces nothing any more", "", "add " + guard + "/non_enforcing true"},
	{"a bound is looser", "", "replace " + refund + "/arg_constraints/amount_inr/max 90000"},
	{"a bound is tighter and another one gone", "", "replace " + refund + `/arg_constraints {"amount_inr": {"min": 1, "max": 20000}}`},
	{"a pattern is another one", "add " + refund + `/arg_constraints/note {"pattern": "^a"}`, "replace " + refund + `/arg_constraints/note/pattern "^b"`},
	{"an outcome bounds what it allows", "", "add " + approval + `/then/arg_constraints {"amount_inr": {"max": 10000}}`},
	{"a bound ends with an approval", "", "add " + refund + "/arg_constraints/amount_inr/unless_approved true"},
	{"bounds that leave no value are gone", "add " + approval + `/then/arg_constraints {"amount_inr": {"min": 60000}}`, "remove " + approval + "/then/arg_constraints"},
	{"an outcome states a higher mode than before", "replace " + approval + `/then/approval_mode "network"`, "replace " + approval + `/then/approval_mode "delegated"`},
	{"what only reads is allowed by silence",
		`add /decision_layer/decision_specs/- {"decision_key": "status.read", "approval_mode": "read_only"}` + "\nadd " + rulesPath + "/- " +
			ruleOf("R_A", `{"===": [{"var": "user.role"}, "bot"]}`, `{}`, `, "else": {}, "decision_binding": "status.read"`),
		"remove " + rulesPath + "/R_A/else"},
	{"an outcome states a lower mode", "", "replace " + approval + `/then/approval_mode "network"`},
	{"the adapter's mode is lowered", "", `replace /tooling_layer/adapter_registry/adp_payments/approval_mode "network"`},
	{"the permission is withdrawn", "", "replace " + refund + "/allow false"},
	{"the decision may authorise less", "", `replace /decision_layer/decision_specs/support.refund.execute/approval_mode "network"`},
	{"a denial becomes a stop",
		"remove /tooling_layer/permissions/p_orders_lookup\nremove /tooling_layer/permissions/p_policy_eval\nadd " + rulesPath + "/- " + ruleOf("R_A", `{"===": [{"var": "user.age"}, null]}`, `{"allow": false}`, ""),
		"add " + rulesPath + "/- " + ruleOf("R_B", `{"and": [{"===": [{"var": "user.age"}, null]}, {">": [{"var": "user.tries"}, 3]}]}`, `{"allow": false}`, "")},
	{"another intent", "", "add " + rulesPath + `/- {"rule_id": "R_A", "applies_to": {"intent": "support.status"}, "if": true, "then": {}}`},
	{"a sum that is not followed", "", "add " + rulesPath + "/- " + ruleOf("R_A", `{">": [{"+": [{"var": "request.context.refund_amount"}, {"var": "request.context.fee"}]}, 5000]}`, `{"allow": false}`, bound)},
	{"a condition that is not valid", "", "replace " + guard + `/if {"matches": [1]}`},
	{"a pack that cannot be compiled", "", "replace " + approval + `/decision_binding "nothing"`},
	{"a rule about other tenants is removed",
		"add " + rulesPath + "/- " + ruleOf("R_A", `{"!=": [{"var": "tenant_id"}, "tenant_acme_prod"]}`, `{"allow": false}`, ""), "remove " + rulesPath + "/R_A"},
	{"a rule about another intent of the run is removed",
		"add " + rulesPath + "/- " + ruleOf("R_A", `{"===": [{"var": "intent"}, "support.status"]}`, `{"allow": false}`, ""), "remove " + rulesPath + "/R_A"},
	{"a rule reads the message", "", "add " + rulesPath + "/- " + ruleOf("R_A", `{"in": ["fraud", {"var": "request.message"}]}`, `{"allow": false}`, "")},
	{"a rule reads the safety mode", "", "add " + rulesPath + "/- " + ruleOf("R_A", `{"===": [{"var": "safety_mode"}, "network"]}`, `{"allow": false}`, "")},
	{"what is true of all but lists", "add " + rulesPath + "/- " + ruleOf("R_A", `{"or": [{"var": "x"}, {"missing": ["x"]}, {"===": [{"var": "x"}, 0]}, {"===": [{"var": "x"}, false]}]}`, `{"allow": false}`, bound),
		"replace " + rulesPath + "/R_A/if true"},
	{"the tenant", "", `replace /pack_meta/tenant/tenant_id "tenant_b"`},
}

// TestChanges compares what is said of known changes with testdata/changes.txt.
func TestChanges(t *testing.T) {
	var b strings.Builder
	for _, c := range cases {
		changes := Compare(New(support(t, c.both)), New(support(t, c.both+"\n"+c.head)), jsonlogic.Solver{})
		fmt.Fprintf(&b, "# %s: %s\n", c.about, Overall(changes))
		for _, x := range changes {
			words := []string{x.Intent, x.Kind.String(), x.Subject, x.Arg}
			fmt.Fprintf(&b, "%s: %s\n", strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "), x.Verdict)
			for _, side := range []struct {
				sign, what string
				witness    map[string]any
			}{{"+", x.GainedWhat, x.Gained}, {"-", x.LostWhat, x.Lost}} {
				if side.witness != nil {
					fmt.Fprintf(&b, "  %s %s\n    %s\n", side.sign, side.what, pack.CompactJSON(side.witness))
				}
			}
			if x.Unstopped {
				b.WriteString("  base stops there\n")
			}
			if x.Reason != "" {
				fmt.Fprintf(&b, "  ? %s\n", x.Reason)
			}
			if x.Assumed != nil {
				fmt.Fprintf(&b, "  taking %v to be single values\n", x.Assumed)
			}
		}
	}
	golden(t, "testdata/changes.txt", b.String())
}

// golden compares a text with a file; UPDATE=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; UPDATE=1 rewrites it. Got\n%s", name, got)
	}
}

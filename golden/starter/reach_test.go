package starter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/repo"
)

func replace(path, value string) finding.Operation {
	return finding.Operation{Op: "replace", Path: path, Value: value}
}

func add(path, value string) finding.Operation {
	return finding.Operation{Op: "add", Path: path, Value: value}
}

const (
	rules  = "/policy_layer/policy_bundles/0/policy_dsl/rules"
	second = rules + "/1"
	when   = second + "/if"
)

// Conditions over the members that the contracts give a type: what is found is a
// request that can come, and what only another one would reach is said.
func TestShapes(t *testing.T) {
	v := func(path string) string { return fmt.Sprintf(`{"var": %q}`, path) }
	for name, c := range map[string]struct{ condition, want string }{
		"a whole number":               {`{">": [` + v("user.tenure_days") + `, 30]}`, ""},
		"a number below zero":          {`{"<": [` + v("user.tenure_days") + `, 0]}`, "no request reaches it"},
		"a text that is no number":     {`{"===": [` + v("user.role") + `, 7]}`, "no request reaches it"},
		"a text":                       {`{"!==": [` + v("user.role") + `, "clerk"]}`, ""},
		"a claim of the tenant's own":  {`{"===": [` + v("user.department") + `, 7]}`, ""},
		"a required text":              {`{"===": [` + v("user.user_id") + `, "usr_1"]}`, ""},
		"a required text is missing":   {`{"===": [` + v("user.user_id") + `, null]}`, "no request that the contracts"},
		"a member that may be missing": {`{"missing": ["user.delegation"]}`, ""},
		"a member that is there":       {`{"!!": ` + v("user.delegation") + `}`, ""},
		"a word of the contract":       {`{"===": [` + v("user.delegation.auth_type") + `, "saml"]}`, ""},
		"a word that is none":          {`{"===": [` + v("user.delegation.auth_type") + `, "basic"]}`, "no request reaches it"},
		"a list":                       {`{"in": ["payments.refund", ` + v("user.delegation.scopes") + `]}`, ""},
		"the safety mode":              {`{"===": [` + v("safety_mode") + `, "network"]}`, ""},
		"no safety mode":               {`{"===": [` + v("safety_mode") + `, "none"]}`, "no request"},
		"the tenant":                   {`{"===": [` + v("tenant_id") + `, "tenant_acme_prod"]}`, ""},
		"another tenant":               {`{"===": [` + v("tenant_id") + `, "tenant_other"]}`, "no request"},
		"the intent":                   {`{"===": [` + v("intent") + `, "support.refund"]}`, ""},
		"no intent":                    {`{"missing": ["intent"]}`, ""},
		"another intent":               {`{"===": [` + v("intent") + `, "support.other"]}`, "no request"},
		"the message":                  {`{"in": ["refund", ` + v("request.message") + `]}`, ""},
		"no channel":                   {`{"!": ` + v("request.channel") + `}`, ""},
		"a channel":                    {`{"===": [` + v("request.channel") + `, "mail"]}`, ""},
		"the budget":                   {`{"===": [` + v("run_budget.total_tokens") + `, 12000]}`, ""},
		"another budget":               {`{"===": [` + v("run_budget.total_tokens") + `, 7]}`, "no request"},
		"nothing at all":               {`{"and": [{">": [` + v("request.context.n") + `, 5]}, {"<": [` + v("request.context.n") + `, 3]}]}`, "no request reaches it"},
		"what is not followed":         {`{"===": [{"+": [` + v("request.context.n") + `, ` + v("request.context.m") + `]}, 9.5]}`, ""},
		"what cannot be followed":      {`{"===": [{"substr": [` + v("request.context.s") + `, 2, 3]}, "xyz"]}`, "not decided"},
	} {
		t.Run(name, func(t *testing.T) {
			u, environments := edited(t, replace(when, c.condition)), catalogs(t)
			cases, unreached := makeCases(u, environments)
			coverage := holding(t, u, environments, cases)
			got := ""
			for _, miss := range unreached {
				if miss.What == `rule "R_HIGH_VALUE_REQUIRES_APPROVAL"` {
					got = miss.Why
				}
			}
			if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") || (c.want == "") != coverage.Rules[1].Exercised() {
				t.Errorf("the rule is not reached because %q, wanted %q; covered by %q\n%s", got, c.want, coverage.Rules[1].Cases, lines(cases, unreached))
			}
		})
	}
}

// What is in the way of a whole pack, an intent or a gate is said.
func TestUnreached(t *testing.T) {
	for name, c := range map[string]struct {
		edits []finding.Operation
		want  []string
	}{
		"a pack that cannot be compiled": {
			[]finding.Operation{replace(second+"/decision_binding", `"nope"`)},
			[]string{`the pack: the pack is not valid: there is no decision "nope"`},
		},
		"a pack without an intent": {
			[]finding.Operation{replace(rules, `[]`), replace("/evaluation_layer/eval_targets", `[]`)},
			[]string{"the pack: it names no intent, in a rule or an evaluation target"},
		},
		"a rule that is always unknown where another fires": {
			[]finding.Operation{replace(when, `{">": [{"+": [1, "x"]}, 1]}`)},
			nil,
		},
		"a gate that nothing names": {
			[]finding.Operation{add("/policy_layer/approval_gates/-", `{"gate_id": "GATE_IDLE", "when": true, "required_approver_role": "x", "ttl_seconds": 60}`)},
			[]string{`gate "GATE_IDLE": no request reaches it`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, environments := edited(t, c.edits...), catalogs(t)
			cases, unreached := makeCases(u, environments)
			holding(t, u, environments, cases)
			var got []string
			for _, miss := range unreached {
				got = append(got, miss.What+": "+miss.Why)
			}
			if c.want != nil && strings.Join(got, "\n") != strings.Join(c.want, "\n") || len(got) == 0 {
				t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A rule that applies to every intent is shown in one of them, and an intent that
// the environment does not have in none.
func TestIntents(t *testing.T) {
	u := edited(t,
		add(rules+"/-", `{"rule_id": "R_EVERYWHERE", "if": {"===": [{"var": "request.context.night"}, true]}, "then": {"allow": false}}`),
		add(rules+"/-", `{"rule_id": "R_OTHER", "applies_to": {"intent": "support.other"}, "if": true, "then": {"allow": true}}`),
	)
	doc := read(t, `{"environment": "prod", "runtime": "1.4.0", "intents": ["support.refund"]}`)
	e := &repo.Environment{Document: doc, Environment: catalogs(t)[0].Environment}
	e.Runtime, e.Intents.OK, e.Intents.Node = catalogs(t)[0].Runtime, true, doc.Root.Get("intents")
	e.Intents.Items = append(e.Intents.Items, u.Pack.EvaluationLayer.EvalTargets.Items[0].Intent)
	environments := []*repo.Environment{e}
	cases, unreached := makeCases(u, environments)
	if c := holding(t, u, environments, cases); !c.Rules[2].Exercised() || c.Rules[3].Exercised() {
		t.Errorf("got %s", lines(cases, unreached))
	}
	if got := lines(nil, unreached); got != `not intent "support.other": the environment catalog of prod has no intent "support.other"
not rule "R_OTHER": no request can be of its intent
` {
		t.Errorf("got\n%s", got)
	}
}

// A pack that is made to need many proofs and cases gets some, soon, and is told
// about the rest.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, `, {"rule_id": "R_%d", "applies_to": {"intent": "intent.%d"}, "if": {">": [{"+": [{"var": "request.context.v%d"}, {"var": "request.context.w"}]}, %d]}, "then": {"allow": true}, "else": {"allow": false}, "decision_binding": "support.refund.execute"}`, i, i%150, i%7, i)
	}
	u := edited(t, replace(rules, "["+strings.TrimPrefix(b.String(), ",")+"]"))
	environments := catalogs(t)
	cases, unreached := makeCases(u, environments)
	said := lines(nil, unreached)
	for _, want := range []string{"51 more intents: a set is about 100 intents at most", "a set has 200 cases at most"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q in\n%.500s\n%s", want, said, said[max(0, len(said)-500):])
		}
	}
	if len(cases) == 0 || len(cases) > 200 {
		t.Errorf("there are %d cases", len(cases))
	}
	holding(t, u, environments, cases)
}

// Of an intent with very many rules, each is put as a question of its own.
func TestManyRules(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `, {"rule_id": "R_%d", "applies_to": {"intent": "support.refund"}, "if": {">": [{"var": "request.context.v%d"}, %d]}, "then": {"allow": true}, "else": {"allow": false}, "decision_binding": "support.refund.execute"}`, i, i, i)
	}
	u, environments := edited(t, replace(rules, "["+strings.TrimPrefix(b.String(), ",")+"]")), catalogs(t)
	cases, unreached := makeCases(u, environments)
	if c := holding(t, u, environments, cases); c.Percent() != 100 {
		t.Errorf("%d %% is covered:\n%s", c.Percent(), lines(nil, unreached))
	}
}

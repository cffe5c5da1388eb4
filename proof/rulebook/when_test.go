package rulebook

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/randompack"
)

const (
	financeGate = "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 "
	returns     = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules"
	guard       = "replace " + returns + "/R_REFUND_REQUIRES_IDV/if "
	verified    = `{"var": "request.context.identity_verified"}`
	added       = "add " + returns + `/- {"rule_id": "R_A", "applies_to": {"intent": "support.refund"}, "then": {"allow": false}, "if": `
)

// edits are changes of the documented pack, by what they are about.
var edits = []struct{ about, both, head string }{
	{"the limit of an approval is raised", "", "replace " + financeGate + "5000"},
	{"the limit of an approval is lowered", "", "replace " + financeGate + "2000"},
	{"anything but false is verified", "", guard + `{"!=": [` + verified + `, false]}`},
	{"anything but false is verified, of any type", "", guard + `{"!==": [` + verified + `, false]}`},
	{"whatever is there is verified", "", guard + `{"!!": ` + verified + `}`},
	{"nothing is a number", "", guard + `{"!": {"<": [` + verified + `, 3]}}`},
	{"a deny by silence is dropped", "", "remove " + returns + "/R_REFUND_REQUIRES_IDV/else"},
	{"a bound of an argument is looser", "", "replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max 90000"},
	{"the adapter's mode is lowered", "", `replace /tooling_layer/adapter_registry/adp_payments/approval_mode "network"`},
	{"some are denied", "", added + `{"in": [{"var": "user.tier"}, ["gold", "silver", "bronze"]]}}`},
	{"all but some are denied", "", added + `{"!": {"in": [{"var": "user.tier"}, ["gold", "silver"]]}}}`},
	{"those without a number are denied", "", added + `{"missing": ["request.context.order_id"]}}`},
	{"a tag denies", "", added + `{"in": ["blocked", {"var": "user.tags"}]}}`},
	{"a limit after a calculation", "", added + `{">": [{"*": [{"var": "request.context.refund_amount"}, 1.18]}, 11800]}}`},
	{"two variables are compared", "", added + `{">": [{"var": "request.context.refund_amount"}, {"var": "request.context.paid"}]}}`},
	{"a sum has another limit",
		added + `{">": [{"+": [{"var": "request.context.refund_amount"}, {"var": "request.context.fee"}]}, 9000]}}`,
		"replace " + returns + `/R_A/if/>/1 7000`},
	{"several amounts are denied", "", added + `{"or": [{"<": [{"var": "request.context.refund_amount"}, 10]}, {"<": [100, {"var": "request.context.refund_amount"}, 200]}, {"==": [{"var": "user.tier"}, "gold"]}]}}`},
	{"two variables of one name", added + `{"===": [{"var": "user.amount"}, 3]}}`, "replace " + returns + `/R_A/if {"===": [{"var": "request.context.amount"}, 3]}`},
}

// TestConditionsInWords compares what is said of known changes with testdata/when.txt.
func TestConditionsInWords(t *testing.T) {
	src, err := os.ReadFile("../../compiler/testdata/reference/context_pack_support_full.json")
	if err != nil {
		t.Fatal(err)
	}
	edited := func(script string) *proof.Model {
		after, err := edittest.Apply(src, script)
		if err != nil {
			t.Fatal(err)
		}
		return proof.New(randompack.Read(t, string(after)))
	}
	var b strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&b, "# %s\n", e.about)
		for _, c := range proof.Describe(edited(e.both), edited(e.both+"\n"+e.head), jsonlogic.Solver{}) {
			show(&b, c.GainedWhat, c.GainedWhen)
			show(&b, c.LostWhat, c.LostWhen)
		}
	}
	casefile.Golden(t, "testdata/when.txt", b.String())
}

func show(b *strings.Builder, what string, w *proof.When) {
	if w == nil {
		return
	}
	fmt.Fprintln(b, what)
	for i, cube := range w.Any {
		var all []string
		for _, t := range Terms(w, cube) {
			all = append(all, strings.TrimSpace(t.Code+" "+t.Is))
		}
		fmt.Fprintf(b, "  %s %s\n", [...]string{"when", "or"}[min(i, 1)], strings.Join(all, " and "))
	}
	if w.More {
		b.WriteString("  and more\n")
	}
	if w.NotProved != "" {
		fmt.Fprintf(b, "  ? %s\n", w.NotProved)
	}
	fmt.Fprintf(b, "    %s\n", pack.CompactJSON(w.Nearest))
}

func TestRanges(t *testing.T) {
	inf := math.Inf(1)
	all := jsonlogic.Range{}.Not()
	but := func(change func(*jsonlogic.Range)) jsonlogic.Range {
		r := all
		change(&r)
		return r
	}
	for want, r := range map[string]jsonlogic.Range{
		"x is true":                            {True: true},
		"x is not true":                        but(func(r *jsonlogic.Range) { r.True = false }),
		"x is false":                           {False: true},
		"x is missing":                         {Absent: true, Null: true},
		"x is there":                           but(func(r *jsonlogic.Range) { r.Absent, r.Null = false, false }),
		"x is a number":                        {Numbers: all.Numbers},
		"x is missing or no number":            but(func(r *jsonlogic.Range) { r.Numbers = nil }),
		"x is there and no number":             but(func(r *jsonlogic.Range) { r.Numbers, r.Absent, r.Null = nil, false, false }),
		"5000 < x <= 8000":                     {Numbers: []jsonlogic.Interval{{Low: 5000, High: 8000, WithHigh: true}}},
		"x >= 1":                               {Numbers: []jsonlogic.Interval{{Low: 1, High: inf, WithLow: true}}},
		"(x < 1 or x > 2)":                     {Numbers: []jsonlogic.Interval{{Low: -inf, High: 1}, {Low: 2, High: inf}}},
		"(x < 1 or x is 3 or missing)":         {Absent: true, Null: true, Numbers: []jsonlogic.Interval{{Low: -inf, High: 1}, {Low: 3, High: 3, WithLow: true, WithHigh: true}}},
		"(x < 1 or x is missing or no number)": but(func(r *jsonlogic.Range) { r.Numbers = []jsonlogic.Interval{{Low: -inf, High: 1}} }),
		`x is "a"`:                             {Texts: []string{"a"}},
		`x is one of "a", "b"`:                 {Texts: []string{"a", "b"}},
		`x is not "a"`:                         but(func(r *jsonlogic.Range) { r.Texts = []string{"a"} }),
		`x is neither "a" nor "b"`:             but(func(r *jsonlogic.Range) { r.Texts = []string{"a", "b"} }),
		`x is none of "a", "b", "c"`:           but(func(r *jsonlogic.Range) { r.Texts = []string{"a", "b", "c"} }),
		`x is there and not "a"`:               but(func(r *jsonlogic.Range) { r.Texts, r.Absent, r.Null = []string{"a"}, false, false }),
		"x is false or missing":                {False: true, Absent: true, Null: true},
	} {
		got := ranged("x", r)
		if text := strings.TrimSpace(got.Code + " " + got.Is); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

package render

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// TestPipeline renders what real packs come to. The words are those of other
// packages and are tested there; here it is the forms that must hold.
func TestPipeline(t *testing.T) {
	const (
		typo      = "replace /tooling_layer/permissions/p_orders_lookup/adapter_id \"adp_@everyone|`x`\"\n"
		removed   = "remove /tooling_layer/adapter_registry/adp_payments/capabilities/issue_refund\n"
		looser    = `replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr {"min": 1, "max": 60000}` + "\n"
		threshold = "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000\n"
		raised    = "replace /pack_meta/pack_version \"1.0.1\"\n"
	)
	for name, c := range map[string]struct {
		report *model.Report
		result model.Result
		says   string // in the Markdown
	}{
		"support":  {reporttest.Gated(t, reporttest.SupportRepository(t, ""), ""), model.Failed, `RPL006`},
		"example":  {reporttest.Gated(t, reporttest.ExampleRepository(t, ""), ""), model.Passed, `Golden compiles: (\d+) of \d+ as expected`},
		"typo":     {reporttest.Gated(t, reporttest.ExampleRepository(t, typo), ""), model.Failed, `1\. .*REF\d+`},
		"same":     {reporttest.Gated(t, reporttest.ExampleRepository(t, ""), reporttest.ExampleRepository(t, "")), model.Passed, `Layer by layer: class none, declared none; nothing changed`},
		"rejected": {reporttest.Gated(t, reporttest.ExampleRepository(t, removed), reporttest.ExampleRepository(t, "")), model.Rejected, `(?s)Cannot merge: .*Author must.*VER006`},
		"unraised": {reporttest.Gated(t, reporttest.ExampleRepository(t, looser), reporttest.ExampleRepository(t, "")), model.Failed, "(?s)### ⛔ Cannot merge: [^\n]*, must become 2.0.0: major change\\).*Set the version: `packgate bump .*2.0.0, "},
		"reached":  {reporttest.Gated(t, reporttest.ExampleRepository(t, threshold+raised), reporttest.ExampleRepository(t, "")), model.Failed, "(?s)> \\[!CAUTION.*runs \\*\\*without approval\\*\\*.*Edited: .*`refund_amount > 3000` → `> 5000`"},
		"small":    {reporttest.Gated(t, reporttest.ExampleRepository(t, looser+raised), reporttest.ExampleRepository(t, "")), model.Failed, "### ⛔ .* → 1.0.1, must become 2.0.0: major change"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.report.Result != c.result {
				t.Errorf("the result is %s, wanted %s", c.report.Result, c.result)
			}
			reporttest.ValidJSON(t, c.report)
			markdown := render(t, c.report, ".md")
			if !regexp.MustCompile(c.says).MatchString(markdown) {
				t.Errorf("%s is not said in\n%s", c.says, markdown)
			}
			if n := openLines(markdown); n > 40 {
				t.Errorf("%d lines are open in\n%s", n, markdown)
			}
			if !regexp.MustCompile(`(pass|fail|reject): 1 pack`).MatchString(render(t, c.report, ".txt")) {
				t.Error("the terminal has no verdict")
			}
		})
	}
}

func TestWriteContext(t *testing.T) {
	o := reporttest.Open(t, reporttest.ExampleRepository(t, ""))
	written := 0
	for _, c := range golden.Run(o.Unit, o.Environments, o.Config) {
		if c.Detail == nil || c.Detail.Context == nil {
			continue
		}
		written++
		c.Detail.Context.CompiledPrompt.System += "\n::error::forged\x1b[2J\u202e ##[error]x"
		var b bytes.Buffer
		if err := WriteContext(&b, build.NewHeading(o.Unit, c), c.Detail.Context); err != nil {
			t.Fatal(err)
		}
		for _, wanted := range []string{"pack      ctxpack.support@", "\nsystem    ", "\nrules fired\n", "\ntools\n", "\ncontrols\n", "\ntokens    ", c.Hash} {
			if !strings.Contains(b.String(), wanted) {
				t.Errorf("%q is missing in\n%s", wanted, b.String())
			}
		}
		for _, forged := range []string{"\n::error", "\x1b", "\u202e", "##["} {
			if strings.Contains(b.String(), forged) {
				t.Errorf("%q is left in\n%s", forged, b.String())
			}
		}
	}
	if written == 0 {
		t.Error("no case of the example has a compiled context")
	}
}

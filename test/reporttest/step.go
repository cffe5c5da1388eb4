package reporttest

import (
	"fmt"

	"github.com/contextosai/packgate/report/model"
)

// refundOf is a request of a refund.
func refundOf(amount int) map[string]any {
	return map[string]any{"request": map[string]any{"context": map[string]any{"identity_verified": true, "refund_amount": amount}, "intent": "support.refund"}}
}

// refundRow is the row of the tool that refunds.
func refundRow(max int, gates ...string) *model.SurfaceRow {
	return &model.SurfaceRow{
		Intent: "support.refund", Capability: "adp_payments.issue_refund", ApprovalMode: "destructive", SafetyMode: "destructive",
		Gates: append([]string{}, gates...), Bounds: map[string]any{
			"amount_inr": map[string]any{"min": 1, "max": max}, "idempotency_key": map[string]any{"required": true},
		},
	}
}

// Grown is a major version that is declared as such and loosens what it can.
func Grown() model.Pack {
	p := WithDiff(Clean(model.Passed), Steps("major", "major", ""))
	d := p.Diff
	d.Head = "ctxpack.support@2.0.0"
	p.Pack = d.Head
	when := step("policy_layer", "approval_gates/GATE_FINANCE_APPROVAL/when", "changed", "major",
		`proved: more is permitted: tool "adp_payments.issue_refund" is surfaced without gate "GATE_FINANCE_APPROVAL"`,
		`{">":[{"var":"request.context.refund_amount"},3000]}`, `{">":[{"var":"request.context.refund_amount"},5000]}`)
	when.Proof = &model.Proof{Verdict: "grew", Gained: &model.Shown{What: `tool "adp_payments.issue_refund" is surfaced without gate "GATE_FINANCE_APPROVAL"`, Request: refundOf(3001)}}
	promise := step("business_context", "non_negotiables/never promise a refund", "removed", "major", "a constraint is lost", `"never promise a refund"`, "")
	AddChange(d, 3, promise)
	AddChange(d, 4, when)
	d.Loosened = []model.Loosened{
		{What: "non-negotiable removed", Verdict: "grew", Change: promise},
		{What: "gate holds fewer requests", Verdict: "grew", Witness: refundOf(3001), Change: when},
		{What: "condition loosened", Verdict: "undecided", Change: step("policy_layer", "policy_bundles/B/rules/R_X/if", "changed", "major", "not proved: too many steps", "true", "false")},
	}
	lookup := model.SurfaceRow{Intent: "support.refund", Capability: "adp_orders.lookup", ApprovalMode: "read_only", SafetyMode: "read_only", Gates: []string{}, Bounds: map[string]any{}, Ungated: map[string]any{}}
	voucher := refundRow(10, "GATE_FINANCE_APPROVAL")
	voucher.Capability, voucher.ApprovalMode, voucher.Ungated = "adp_payments.issue_voucher", "network", refundOf(3000)
	d.Surface = []model.SurfaceChange{
		{Intent: "support.refund", Capability: lookup.Capability, Kind: "removed", Verdict: "shrank", Old: &lookup, Lost: []string{"small", "large", "other", "fourth"}},
		{Intent: "support.refund", Capability: voucher.Capability, Kind: "added", Verdict: "grew", New: voucher, Open: true, Witness: refundOf(3000), Gained: []string{"small"}},
		{
			Intent: "support.refund", Capability: "adp_payments.issue_refund", Kind: "changed", Verdict: "incomparable", Open: true, Witness: refundOf(5000),
			Old: refundRow(50000, "GATE_FINANCE_APPROVAL"), New: refundRow(60000), NotProved: "more than the solver's steps",
			Aspects: []model.SurfaceAspect{
				{What: "requests", Verdict: "shrank", Words: `tool "x" is not surfaced`, Witness: refundOf(1)},
				{What: "mode", Old: "network", New: "destructive", Verdict: "grew"},
				{What: "sessions", Old: "destructive", New: "network", Verdict: "grew"},
				{What: "gate", Name: "GATE_FINANCE_APPROVAL", Old: "held", Verdict: "grew", Witness: refundOf(5000)},
				{What: "gate", Name: "GATE_LEAD", Old: "held", New: "held", Verdict: "grew"},
				{What: "ungated", Verdict: "grew", Witness: refundOf(5000)},
				{What: "bound", Name: "amount_inr", Old: `{"max":50000,"min":1}`, New: `{"max":60000,"min":1}`, Verdict: "grew"},
				{What: "bound", Name: "currency", Old: `{"enum":["INR","EUR"]}`, Verdict: "undecided", NotProved: "more than the solver's steps"},
			},
		},
	}
	p.ToolSurface = []model.SurfaceRow{*voucher, *refundRow(60000)}
	permits(d, when.Proof.Gained)
	p.Golden[0].Base = &model.GoldenBase{Outcome: "compiled", Hash: Digest}
	p.Golden[1].Base = &model.GoldenBase{
		Outcome: "refused", Reason: "no rule", Stage: "policy", Tools: &model.ToolStep{Added: []string{"adp_payments.issue_voucher"}, Removed: []string{"adp_orders.lookup"}},
		Tokens: []model.TokenStep{{Bucket: "policy", Base: 120, Head: 90}, {Bucket: "tools", Base: 40, Head: 61}},
		Sections: []model.SectionChange{
			{Path: "/compiled_prompt/context_blocks/pol_1", Stage: "policy", Subject: "R_X", Old: "a | b\n# c", New: "a", Causes: []model.Cause{{Path: when.Path, File: packFile, Line: 120}}},
			{Path: "/manifests/tool_manifest/adp_orders/lookup", Stage: "tools", Old: "{}", Causes: []model.Cause{{Path: "/tooling_layer/permissions/p", File: packFile, Line: 200, Gone: true}}},
		},
	}
	return p
}

// permits says what is permitted before and now, and by which requests one sees it.
func permits(d *model.Diff, gained *model.Shown) {
	d.Effects = []model.Effect{
		{Intent: "support.refund", Kind: "gate", Subject: "adp_payments.issue_refund", Arg: "GATE_FINANCE_APPROVAL", Holder: "tool", Verdict: "grew", Gained: gained},
		{Intent: "support.refund", Kind: "decision", Subject: "support.status", Verdict: "shrank", Lost: &model.Shown{What: `decision "support.status" is not allowed`, Request: refundOf(1)}},
		{Intent: "support.refund", Kind: "bounds", Subject: "adp_crm.note", Arg: "text", Verdict: "undecided", NotProved: "patterns are not compared"},
	}
	d.Flips = []model.Flip{
		{Intent: "support.refund", Kind: "decision", Subject: "support.status", Old: "allowed", New: "denied", Verdict: "shrank", Request: refundOf(1), From: "golden case small", Cases: []string{"small", "large"}},
		{Intent: "support.refund", Kind: "tool", Subject: "adp_payments.issue_refund", Old: "surfaced behind GATE_FINANCE_APPROVAL", New: "surfaced", Verdict: "grew",
			Request: refundOf(3001), From: "boundary request.context.refund_amount = 3001", Overlay: "staging"},
	}
}

// GrownAndFailing has much that is open.
func GrownAndFailing() model.Pack {
	p := Grown()
	p.Result = model.Failed
	p.Findings = append([]model.Finding{tooSmall("3.0.0"), Orphan()}, Failing().Findings[:2]...)
	p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: 2, Warnings: 1}
	for i := range 6 {
		c := p.Diff.Surface[1]
		c.Capability = fmt.Sprintf("adp_more.tool_%d", i)
		p.Diff.Surface = append(p.Diff.Surface, c)
		l := p.Diff.Loosened[1]
		l.Change.Path += fmt.Sprint(i)
		p.Diff.Loosened = append(p.Diff.Loosened, l)
	}
	return p
}

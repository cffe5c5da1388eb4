package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// refundOf is a request of a refund.
func refundOf(amount int) map[string]any {
	return map[string]any{"request": map[string]any{"context": map[string]any{"identity_verified": true, "refund_amount": amount}, "intent": "support.refund"}}
}

// refundRow is the row of the tool that refunds.
func refundRow(max int, gates ...string) *SurfaceRow {
	return &SurfaceRow{
		Intent: "support.refund", Capability: "adp_payments.issue_refund", ApprovalMode: "destructive", SafetyMode: "destructive",
		Gates: append([]string{}, gates...), Bounds: map[string]any{
			"amount_inr": map[string]any{"min": 1, "max": max}, "idempotency_key": map[string]any{"required": true},
		},
	}
}

// grown is a major version that is declared as such and loosens what it can.
func grown() Pack {
	p := withDiff(clean(Passed), steps("major", "major", ""))
	d := p.Diff
	d.Head = "ctxpack.support@2.0.0"
	p.Pack = d.Head
	when := step("policy_layer", "approval_gates/GATE_FINANCE_APPROVAL/when", "changed", "major",
		`proved: more is permitted: tool "adp_payments.issue_refund" is surfaced without gate "GATE_FINANCE_APPROVAL"`,
		`{">":[{"var":"request.context.refund_amount"},3000]}`, `{">":[{"var":"request.context.refund_amount"},5000]}`)
	when.Proof = &Proof{Verdict: "grew", Gained: &Shown{What: `tool "adp_payments.issue_refund" is surfaced without gate "GATE_FINANCE_APPROVAL"`, Request: refundOf(3001)}}
	promise := step("business_context", "non_negotiables/never promise a refund", "removed", "major", "a constraint is lost", `"never promise a refund"`, "")
	addChange(d, 3, promise)
	addChange(d, 4, when)
	d.Loosened = []Loosened{
		{What: "non-negotiable removed", Verdict: "grew", Change: promise},
		{What: "gate holds fewer requests", Verdict: "grew", Witness: refundOf(3001), Change: when},
		{What: "condition loosened", Verdict: "undecided", Change: step("policy_layer", "policy_bundles/B/rules/R_X/if", "changed", "major", "not proved: too many steps", "true", "false")},
	}
	lookup := SurfaceRow{Intent: "support.refund", Capability: "adp_orders.lookup", ApprovalMode: "read_only", SafetyMode: "read_only", Gates: []string{}, Bounds: map[string]any{}, Ungated: map[string]any{}}
	voucher := refundRow(10, "GATE_FINANCE_APPROVAL")
	voucher.Capability, voucher.ApprovalMode, voucher.Ungated = "adp_payments.issue_voucher", "network", refundOf(3000)
	d.Surface = []SurfaceChange{
		{Intent: "support.refund", Capability: lookup.Capability, Kind: "removed", Verdict: "shrank", Old: &lookup, Lost: []string{"small", "large", "other", "fourth"}},
		{Intent: "support.refund", Capability: voucher.Capability, Kind: "added", Verdict: "grew", New: voucher, Open: true, Witness: refundOf(3000), Gained: []string{"small"}},
		{
			Intent: "support.refund", Capability: "adp_payments.issue_refund", Kind: "changed", Verdict: "incomparable", Open: true, Witness: refundOf(5000),
			Old: refundRow(50000, "GATE_FINANCE_APPROVAL"), New: refundRow(60000), NotProved: "more than the solver's steps",
			Aspects: []SurfaceAspect{
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
	p.ToolSurface = []SurfaceRow{*voucher, *refundRow(60000)}
	permits(d, when.Proof.Gained)
	p.Golden[0].Base = &GoldenBase{Outcome: "compiled", Hash: digest}
	p.Golden[1].Base = &GoldenBase{
		Outcome: "refused", Reason: "no rule", Stage: "policy", Tools: &ToolStep{Added: []string{"adp_payments.issue_voucher"}, Removed: []string{"adp_orders.lookup"}},
		Tokens: []TokenStep{{Bucket: "policy", Base: 120, Head: 90}, {Bucket: "tools", Base: 40, Head: 61}},
		Sections: []SectionChange{
			{Path: "/compiled_prompt/context_blocks/pol_1", Stage: "policy", Subject: "R_X", Old: "a | b\n# c", New: "a", Causes: []Cause{{Path: when.Path, File: packFile, Line: 120}}},
			{Path: "/manifests/tool_manifest/adp_orders/lookup", Stage: "tools", Old: "{}", Causes: []Cause{{Path: "/tooling_layer/permissions/p", File: packFile, Line: 200, Gone: true}}},
		},
	}
	return p
}

// permits says what is permitted before and now, and by which requests one sees it.
func permits(d *Diff, gained *Shown) {
	d.Effects = []Effect{
		{Intent: "support.refund", Kind: "gate", Subject: "adp_payments.issue_refund", Arg: "GATE_FINANCE_APPROVAL", Holder: "tool", Verdict: "grew", Gained: gained},
		{Intent: "support.refund", Kind: "decision", Subject: "support.status", Verdict: "shrank", Lost: &Shown{What: `decision "support.status" is not allowed`, Request: refundOf(1)}},
		{Intent: "support.refund", Kind: "bounds", Subject: "adp_crm.note", Arg: "text", Verdict: "undecided", NotProved: "patterns are not compared"},
	}
	d.Flips = []Flip{
		{Intent: "support.refund", Kind: "decision", Subject: "support.status", Old: "allowed", New: "denied", Verdict: "shrank", Request: refundOf(1), From: "golden case small", Cases: []string{"small", "large"}},
		{Intent: "support.refund", Kind: "tool", Subject: "adp_payments.issue_refund", Old: "surfaced behind GATE_FINANCE_APPROVAL", New: "surfaced", Verdict: "grew",
			Request: refundOf(3001), From: "boundary request.context.refund_amount = 3001", Overlay: "staging"},
	}
}

// grownAndFailing has much that stands open.
func grownAndFailing() Pack {
	p := grown()
	p.Result = Failed
	p.Findings = append([]Finding{tooSmall("3.0.0"), orphan()}, failing().Findings[:2]...)
	p.Gates[1] = Gate{Gate: "references", Title: "References", Status: "fail", Errors: 2, Warnings: 1}
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

// TestBoundWords writes bounds as one reads them.
func TestBoundWords(t *testing.T) {
	for bound, want := range map[string]string{
		`{"min": 1, "max": 50000}`:                       "1…50000",
		`{"min": 1}`:                                     "≥ 1",
		`{"max": 2.5, "required": true}`:                 "≤ 2.5, required",
		`{"enum": ["a", 2]}`:                             `one of "a",2`,
		`{"pattern": "^x$", "unless_approved": true}`:    `matching "^x$", unless approved`,
		`{"required": false}`:                            "{}",
		`{}`:                                             "{}",
		`{"max": 3, "unit": "h"}`:                        `≤ 3, {"unit":"h"}`,
		`[{"max": 3}, {"min": 1, "unless_approved": 0}]`: "≤ 3 and ≥ 1",
		`7`:  "7",
		``:   "not bound",
		`{x`: "{x",
	} {
		if got := writtenBound(bound); got != want {
			t.Errorf("%s is written %q, want %q", bound, got, want)
		}
	}
}

// TestCallouts holds that only tools which can change something are called out.
func TestCallouts(t *testing.T) {
	read := SurfaceChange{Kind: "added", Open: true, New: &SurfaceRow{ApprovalMode: "read_only"}}
	write := SurfaceChange{Kind: "added", Open: true, New: &SurfaceRow{ApprovalMode: "local_write"}}
	held := SurfaceChange{Kind: "added", New: &SurfaceRow{ApprovalMode: "destructive"}}
	if got := callouts([]SurfaceChange{read, write, held, {Kind: "removed"}}); len(got) != 1 || got[0].New != write.New {
		t.Errorf("called out are %+v", got)
	}
}

// TestEmptyStepIsSilent holds that a block vanishes when it is empty.
func TestEmptyStepIsSilent(t *testing.T) {
	p := withDiff(clean(Passed), steps("minor", "minor", ""))
	for extension := range renderings {
		got := strings.ToLower(render(t, compared(run(Passed, p)), extension))
		for _, words := range []string{"loosened", "tool surface", "permitted before", "flip", "caution", "since the base"} {
			if strings.Contains(got, words) {
				t.Errorf("%s says %q of a step that does nothing", extension, words)
			}
		}
	}
}

// TestHostileStep puts text that acts wherever a pack's text can stand in what is
// said of a step.
func TestHostileStep(t *testing.T) {
	const evil = "::error::x ##[error] @everyone | `` <!-- </details> \x1b[31m\u202e\n> [!CAUTION]\n### forged"
	src := render(t, compared(run(Passed, grown())), ".json")
	for _, word := range []string{"adp_payments.issue_voucher", "GATE_FINANCE_APPROVAL", "support.refund", "non-negotiable removed", "small", "policy_bundles", "INR", "allowed", "R_X", "more than the solver's steps", "identity_verified", "pol_1"} {
		quoted, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(src, word) {
			t.Fatalf("the sample does not say %q", word)
		}
		var r Report
		if err := json.Unmarshal([]byte(strings.ReplaceAll(src, word, string(quoted[1:len(quoted)-1]))), &r); err != nil {
			continue // within a text that is JSON itself
		}
		for extension := range map[string]bool{".md": true, ".txt": true} {
			got := render(t, &r, extension)
			for _, forged := range []string{"\n::", "##[", "\x1b", "\u202e", "<!--", "\n###  forged", "\n### forged", "@everyone |"} {
				if strings.Contains(got, forged) && !(extension == ".txt" && (forged == "<!--" || forged == "@everyone |")) {
					t.Errorf("%q in place of %q is left in\n%s", forged, word, got)
				}
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") && extension == ".md" {
				t.Errorf("a fold is closed by the text in place of %q", word)
			}
		}
	}
}

package replay

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// RPL006: the cases show every intent, every overlay and the families that count.
var RPL006 = &gate.Rule{
	ID: "RPL006", Name: "missing-golden-case", Severity: finding.Error,
	Title: "Every intent has a golden case, and the pack one of each family",
	Doc: "If an intent has no golden case, nobody has ever looked at its compile. The families that every pack should show are a " +
		"warning each: `allowed`, `denied`, `approval`, `safety_ceiling` and `budget_pressure`. A family counts if a case that " +
		"names it really shows it: in one of family `approval` a gate is active, in one of `budget_pressure` a bucket is " +
		"truncated, in one of `safety_ceiling` the safety mode keeps a tool out, in one of `denied` a decision is not allowed. " +
		"A pack need not show what it cannot: approvals without gates, a ceiling without tools above `read_only`, a denial if " +
		"nothing denies. An overlay that no case compiles is a warning too. If only a case that cannot be compiled, or that " +
		"does not end as expected, shows something, it is not checked: that case has its own finding.\n\n" +
		"`packgate golden init PACK` writes a first set of cases that you can edit.",
	Bad:  `{"intents": ["support.refund", "support.exchange"], "cases": [{"case": "refund", "family": "allowed", "intent": "support.refund"}]}`,
	Good: `{"intents": ["support.refund"], "cases": [{"case": "refund", "family": "allowed", "intent": "support.refund"}, {"case": "not-verified", "family": "denied", "intent": "support.refund"}]}`,
	Check: func(p *gate.Pass) {
		if unfit(p) != nil {
			p.NotChecked("the pack cannot be compiled")
			return
		}
		checkIntents(p)
		if len(p.Golden()) > 0 { // where there is none, one finding says enough
			checkFamilies(p)
			checkOverlays(p)
		}
	},
}

const initCases = "write a case for it, or let packgate golden init write a first set"

// failing returns the cases that have to be fixed before it is known what they
// show: they cannot be compiled, or end otherwise than they expect. Each has a
// finding of its own, which is not to be told a second time as something missing.
func failing(p *gate.Pass) []*golden.Result {
	var list []*golden.Result
	results := p.Golden()
	for i := range results {
		if r := &results[i]; r.Detail == nil || r.Expected != string(r.Outcome) {
			list = append(list, r)
		}
	}
	return list
}

// awaits notes that something is not known to be missing, as long as a failing
// case may show it. It reports whether there is such a case. A file that could not
// be read as a case may show anything.
func awaits(p *gate.Pass, what string, may func(*golden.Result) bool) bool {
	for _, r := range failing(p) {
		switch {
		case r.Input == nil:
			p.NotChecked(fmt.Sprintf("%s cannot be read, and may be a case that seems to be missing", r.File))
		case may(r):
			p.NotChecked(fmt.Sprintf("%s: %s, which is to show it, does not come out as it expects", what, p.Unit.Within(r.Input.Name)))
		default:
			continue
		}
		return true
	}
	return false
}

func checkIntents(p *gate.Pass) {
	seen := map[string]bool{}
	for _, r := range p.Golden() {
		if r.Detail != nil {
			seen[r.Intent] = true
		}
	}
	for _, intent := range p.Pack.Intents() {
		if seen[intent.Value] || awaits(p, "intent "+gate.Quote(intent.Value), func(r *golden.Result) bool { return r.Intent == intent.Value }) {
			continue
		}
		p.Report(gate.Faultf(intent.Node, initCases, "intent %s has no golden case", gate.Quote(intent.Value)).Keyed(intent.Value))
	}
}

// family is one family of golden cases that a pack should have.
type family struct {
	name string
	what string // what a case of it shows, after "in which"
	// possible says whether the pack can have such a case.
	possible func(*gate.Pass) bool
}

func families() []family {
	return []family{
		{golden.FamilyAllowed, "a decision is allowed", func(*gate.Pass) bool { return true }},
		{golden.FamilyDenied, "a decision is not allowed, or the request is refused", canDeny},
		{golden.FamilyApproval, "an approval gate is active", func(p *gate.Pass) bool { return len(p.Gates) > 0 }},
		{golden.FamilyCeiling, "a tool stays out because of the safety mode", hasEffects},
		{golden.FamilyBudget, "a bucket is truncated", func(*gate.Pass) bool { return true }},
	}
}

func checkFamilies(p *gate.Pass) {
	for _, f := range families() {
		if !f.possible(p) {
			continue
		}
		var claims []finding.Related
		found := false
		for _, r := range p.Golden() {
			if r.Family != f.name || r.Detail == nil {
				continue
			}
			found = found || r.Shows(f.name)
			claims = append(claims, gate.See(r.Input.Family.Node, "this case is said to be one")...)
		}
		if found || awaits(p, fmt.Sprintf("family %q", f.name), func(r *golden.Result) bool { return r.Family == f.name }) {
			continue
		}
		p.Report(gate.Diagnostic{
			At: idPlace(p), Key: f.name, Severity: finding.Warning, Hint: initCases, Related: claims[:min(len(claims), gate.MostListed)],
			Message: fmt.Sprintf("there is no golden case of family %q, in which %s", f.name, f.what),
		})
	}
}

// canDeny reports whether a decision can be denied or left without an answer: an
// outcome denies, or a decision above read_only is bound.
func canDeny(p *gate.Pass) bool {
	return slices.ContainsFunc(p.Policy().Rules, func(r *policy.Rule) bool {
		return r.Decision != nil && !r.Decision.ReadOnly || slices.ContainsFunc(r.Branches(), (*policy.Branch).Denies)
	})
}

// hasEffects reports whether a tool can be above a safety mode.
func hasEffects(p *gate.Pass) bool {
	return slices.ContainsFunc(p.Pack.ToolingLayer.AdapterRegistry.Items, func(a pack.Adapter) bool {
		return len(a.Capabilities.Items) > 0 && pack.Mode(a.ApprovalMode) != pack.ReadOnly
	})
}

func checkOverlays(p *gate.Pass) {
	compiled := map[string]bool{}
	for _, r := range p.Golden() {
		if r.Detail != nil {
			compiled[r.Overlay] = true
		}
	}
	for _, o := range p.Unit.Overlays {
		id := o.OverlayID
		if !id.OK || compiled[id.Value] || awaits(p, "overlay "+gate.Quote(id.Value), func(r *golden.Result) bool { return r.Overlay == id.Value }) {
			continue
		}
		p.Report(gate.Faultf(id.Node, fmt.Sprintf("write a case whose overlay is %s, or remove the overlay", gate.Quote(id.Value)),
			"no golden case is compiled with overlay %s", gate.Quote(id.Value)).Keyed(p.Unit.Within(o.Name)).As(finding.Warning))
	}
}

// RPL010: every part of the policy is exercised.
var RPL010 = &gate.Rule{
	ID: "RPL010", Name: "uncovered-policy", Severity: finding.Warning, Strict: true,
	Title: "Golden cases exercise every rule, every else branch and every approval gate",
	Doc: "What no case exercises can change without anybody noticing, because no snapshot shows it. A rule is exercised by a " +
		"case in which its `then` holds, an else branch by one in which the `else` does, and a gate by one in which it is " +
		"active; only cases that compile count. If a case cannot be compiled, or does not end as expected, what no other case " +
		"exercises is not checked. The message has the coverage of the pack.\n\n" +
		"Write a case that reaches it; `packgate golden init PACK` finds the smallest request for each. POL001 and POL002 " +
		"report what no request can reach.",
	Bad:   `{"rule_id": "R_REFUND_REQUIRES_IDV", "else": {"allow": false}, "cases": [{"identity_verified": true}]}`,
	Good:  `{"rule_id": "R_REFUND_REQUIRES_IDV", "else": {"allow": false}, "cases": [{"identity_verified": true}, {"identity_verified": false}]}`,
	Check: checkCoverage,
}

// RPL011: truncation is the exception.
var RPL011 = &gate.Rule{
	ID: "RPL011", Name: "frequent-truncation", Severity: finding.Warning,
	Title: "Few golden cases are truncated",
	Doc: "A prompt that does not fit its budget loses evidence, memory or policy, and the model decides on the rest. That may " +
		"happen occasionally; if it happens in many cases, the budget is too small or the texts are too long. Cases of family " +
		"`budget_pressure`, which are made to be truncated, do not count.\n\n" +
		"Raise the budget of the bucket that the case names, supply less, or shorten the texts. The accepted share is " +
		"`compile.max_truncation_rate` in the config, 0.2 by default.",
	Bad:   `{"cases": [{"truncated_buckets": ["evidence"]}, {"truncated_buckets": ["evidence"]}, {"truncated_buckets": []}]}`,
	Good:  `{"cases": [{"truncated_buckets": []}, {"truncated_buckets": []}, {"truncated_buckets": []}]}`,
	Check: checkTruncation,
}

func checkCoverage(p *gate.Pass) {
	results := compiled(p)
	if len(results) == 0 {
		return
	}
	if unfit(p) != nil {
		p.NotChecked("the pack cannot be compiled")
		return
	}
	coverage := golden.Cover(p.Unit, results)
	exercised, all := coverage.Count()
	if open := failing(p); exercised < all && len(open) > 0 {
		p.NotChecked(fmt.Sprintf("the cases that come out as they expect cover %d of %d parts of the policy, %d %%; %s does not", exercised, all, coverage.Percent(), open[0].File))
		return
	}
	for _, part := range []struct {
		list []golden.Covered
		what string
	}{
		{coverage.Rules, "no golden case makes rule %s fire"},
		{coverage.Else, "no golden case takes the else of rule %s"},
		{coverage.Gates, "no golden case activates gate %s"},
	} {
		for _, c := range part.list {
			if !c.Exercised() {
				p.Report(gate.Faultf(c.Node, "write a case that reaches it, or let packgate golden init find the request",
					part.what+"; the cases cover %d of %d parts of the policy, %d %%", gate.Quote(c.Name), exercised, all, coverage.Percent()).
					Keyed(c.Name))
			}
		}
	}
}

// tolerated is the share of truncated cases where the config sets none.
const tolerated = 0.2

func checkTruncation(p *gate.Pass) {
	rate := tolerated
	if set := p.Config.Compile.MaxTruncationRate; set.OK {
		rate = set.Value
	}
	all := 0
	var truncated []finding.Related
	for _, r := range p.Golden() {
		if r.Outcome != compiler.Compiled || r.Family == "budget_pressure" {
			continue
		}
		if all++; r.Shows(golden.FamilyBudget) {
			truncated = append(truncated, gate.See(pack.Place(r.Input.Case.Node, r.Input.Node), "%s", bucketsOf(&r))...)
		}
	}
	if all == 0 {
		p.NotChecked("there is no golden case outside the family \"budget_pressure\" that compiles")
		return
	}
	if share := float64(len(truncated)) / float64(all); share > rate {
		p.Report(gate.Diagnostic{
			At: idPlace(p), Related: truncated[:min(len(truncated), gate.MostListed)],
			Message: fmt.Sprintf("%d of %d golden cases are truncated, more than the tolerated share of %g", len(truncated), all, rate),
			Hint:    "raise the budgets of these cases' run contexts if runs have more, make the pack shorter, or raise compile.max_truncation_rate in the config",
		})
	}
}

// bucketsOf lists the truncated buckets of a compile in words.
func bucketsOf(r *golden.Result) string {
	var names []string
	for _, b := range r.Detail.Context.ContextLedger.Budget.TruncatedBuckets {
		names = append(names, string(b))
	}
	return "truncated: " + gate.List(names)
}

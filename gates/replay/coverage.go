package replay

import (
	"fmt"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
)

// RPL010: every part of the policy is exercised.
var RPL010 = &gate.Rule{
	ID: "RPL010", Name: "uncovered-policy", Severity: finding.Warning, Strict: true,
	Title: "Golden cases exercise every rule, every else branch and every approval gate",
	Doc: "What no case exercises can change without anybody noticing, because no snapshot shows it. " +
		"A rule is exercised by a case in which its `then` holds, an else branch by one in which the `else` does, and a gate by one in which it is active; only cases that compile count. " +
		"As long as a case cannot be compiled, or ends otherwise than it expects, what no other case exercises is not checked. " +
		"The message gives the coverage of the pack.\n\n" +
		"Write a case that reaches it; `packgate golden init PACK` finds the smallest request for each. What no request can reach is reported by POL001 and POL002.",
	Bad:   `{"rule_id": "R_REFUND_REQUIRES_IDV", "else": {"allow": false}, "cases": [{"identity_verified": true}]}`,
	Good:  `{"rule_id": "R_REFUND_REQUIRES_IDV", "else": {"allow": false}, "cases": [{"identity_verified": true}, {"identity_verified": false}]}`,
	Since: "0.1.0",
	Check: checkCoverage,
}

// RPL011: truncation is the exception.
var RPL011 = &gate.Rule{
	ID: "RPL011", Name: "frequent-truncation", Severity: finding.Warning,
	Title: "Few golden cases are truncated",
	Doc: "A prompt that does not fit its budget loses evidence, memory or policy, and the model decides on what is left. " +
		"That may happen now and then; where it happens to many cases, the budget is too small or the pack says too much. " +
		"Cases of family `budget_pressure`, which are made to be truncated, do not count.\n\n" +
		"Raise the budget of the bucket that the case names, supply less, or say it more briefly. " +
		"The share that is tolerated is `compile.max_truncation_rate` in the config, 0.2 if it is absent.",
	Bad:   `{"cases": [{"truncated_buckets": ["evidence"]}, {"truncated_buckets": ["evidence"]}, {"truncated_buckets": []}]}`,
	Good:  `{"cases": [{"truncated_buckets": []}, {"truncated_buckets": []}, {"truncated_buckets": []}]}`,
	Since: "0.1.0",
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
				p.Report(gate.Diagnostic{
					At: c.Node, Key: c.Name,
					Message: fmt.Sprintf(part.what+"; the cases cover %d of %d parts of the policy, %d %%", gate.Quote(c.Name), exercised, all, coverage.Percent()),
					Hint:    "write a case that reaches it, or let packgate golden init find the request",
				})
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
		p.NotChecked("there is no golden case outside of family \"budget_pressure\" that compiles")
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

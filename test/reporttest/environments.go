package reporttest

import (
	"encoding/json"

	"github.com/contextosai/packgate/report/model"
)

// Environments are environments of which overlays and a catalog changed.
func Environments() []model.Environment {
	bound := model.Change{
		Path: "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr", Kind: "changed", Row: "tooling_layer.arg_constraints.loosened", Class: "major",
		Reason: "proved: more is permitted", Old: json.RawMessage(`{"max":20000,"min":1}`), New: json.RawMessage(`{"max":30000,"min":1}`),
		File: "packs/support/overlays/prod-eu.json", Line: 3, Column: 9,
	}
	ceiling := model.Change{
		Path: "/max_approval_mode", Kind: "removed", Row: "catalog.released", Class: "major",
		Reason: "a bound is looser or gone", Old: json.RawMessage(`"network"`), File: "environments/prod.json", Line: 7, Column: 3,
	}
	listed := model.Change{Kind: "added", Row: "catalog.listed", Class: "minor", Reason: "one more name is known in the environment", File: "environments/eu.json", Line: 1, Column: 1}
	return []model.Environment{
		{Environment: "eu|east", Class: "minor", Changes: []model.Change{listed}},
		{
			Environment: "prod", Class: "major", Changes: []model.Change{bound, ceiling},
			Loosened: []model.Loosened{
				{What: "argument bound loosened", Verdict: "grew", Witness: refundOf(30000), Change: bound},
				{What: "bound of the catalog loosened or removed", Verdict: "grew", Change: ceiling},
			},
			Effects: []model.Effect{{
				Intent: "support.refund", Kind: "bounds", Subject: "adp_payments.issue_refund", Arg: "amount_inr", Verdict: "grew",
				Gained: &model.Shown{What: `argument "amount_inr" may be up to 30000 (was 20000)`, Request: refundOf(30000)},
			}},
		},
		{Environment: "staging", Class: "major", NotCompared: "only the first 24 environments are compared"},
	}
}

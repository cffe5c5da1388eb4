package overlays

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo/overlay"
)

// OVL002: what an overlay may change is a short list.
var OVL002 = &gate.Rule{
	ID: "OVL002", Name: "overlay-place", Severity: finding.Error, NoWaiver: true,
	Title: "An overlay sets only what an environment may have of its own",
	Doc: "An environment may have its own endpoints, its own language, timezone, currency and region, and tighter numbers: in the conditions of rules and gates, in `arg_constraints`, in eval targets and release deltas. " +
		"Anything else makes another pack of it, which needs a version, a review and a signature of its own. " +
		"A place is named by its keyed path, with identities in place of indexes, and must be in the pack. A value that the pack has already is fine anywhere.\n\n" +
		"An overlay that changes the currency and leaves thresholds or bounds as they are is warned of: 3000 is another amount in another currency. " +
		"Set each of them in the overlay; those that are no amounts, to the number that they have.\n\n" +
		"Set one of the allowed places, or change the pack.",
	Bad:   `{"path": "/policy_layer/guardrails/must_refuse", "value": []}`,
	Good:  `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "internal://orders-staging"}`,
	Since: "0.1.0",
	Check: func(p *gate.Pass) {
		reportRefused(p, overlay.Place)
		for _, v := range overlay.Views(p.Unit) {
			checkCurrency(p, v)
		}
	},
}

// OVL003: an overlay gives no new tools.
var OVL003 = &gate.Rule{
	ID: "OVL003", Name: "overlay-adds-tool", Severity: finding.Error, NoWaiver: true,
	Title: "An overlay neither adds nor allows an adapter, a capability or a permission",
	Doc: "What an agent can do is what reviewers of the pack look at first. " +
		"A tool that comes with an overlay passes no review of the pack, has no golden case, and is in one environment without being in the version that all others have.\n\n" +
		"Add it to the pack, where the version says that behaviour expands.",
	Bad:   `{"path": "/tooling_layer/permissions/p_payout", "value": {"permission_id": "p_payout", "adapter_id": "adp_payments", "capability": "payout", "allow": true}}`,
	Good:  `{"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", "value": 20000}`,
	Since: "0.1.0",
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Grant) },
}

// OVL004: an overlay changes no mode.
var OVL004 = &gate.Rule{
	ID: "OVL004", Name: "overlay-approval-mode", Severity: finding.Error, NoWaiver: true,
	Title: "An overlay leaves every approval_mode as it is",
	Doc: "`approval_mode` says how much harm an adapter can do, and everything that guards it is chosen by it: gates, idempotency, the safety ceiling of a session. " +
		"An adapter does not become harmless in staging because a file says so.\n\n" +
		"Point the adapter at a harmless endpoint and keep its mode.",
	Bad:   `{"path": "/tooling_layer/adapter_registry/adp_payments/approval_mode", "value": "local_write"}`,
	Good:  `{"path": "/tooling_layer/adapter_registry/adp_payments/endpoint_ref", "value": "internal://payments-sandbox"}`,
	Since: "0.1.0",
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Mode) },
}

// OVL005: an overlay changes no decision.
var OVL005 = &gate.Rule{
	ID: "OVL005", Name: "overlay-decision", Severity: finding.Error, NoWaiver: true,
	Title: "An overlay leaves the decision specs as they are",
	Doc: "A decision spec is what decision records refer to by key and version: its evidence, its outcomes, its owner, its eligibility. " +
		"If it differed by environment, one key and version would mean two things, and a record of one could not be replayed against the other.\n\n" +
		"Change the decision in the pack and raise its version.",
	Bad:   `{"path": "/decision_layer/decision_specs/support.refund.execute/required_evidence", "value": ["order_lookup"]}`,
	Good:  `{"path": "/evaluation_layer/eval_targets/support.refund/utility", "value": 0.95}`,
	Since: "0.1.0",
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Decision) },
}

// OVL006: an overlay changes no meaning.
var OVL006 = &gate.Rule{
	ID: "OVL006", Name: "overlay-ontology", Severity: finding.Error, NoWaiver: true,
	Title: "An overlay leaves the ontology as it is",
	Doc: "The ontology says what the words of evidence mean. " +
		"A pack whose ontology differs by environment has rules that were tested on one meaning and run on another.\n\n" +
		"Change the ontology in the pack, where its version and that of the pack say so.",
	Bad:   `{"path": "/intelligence_refs/ontology/version", "value": "1.1.0"}`,
	Good:  `{"path": "/pack_meta/environment_defaults/region", "value": "eu-west-1"}`,
	Since: "0.1.0",
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Ontology) },
}

// reportRefused reports the settings that are refused for one kind of reason.
func reportRefused(p *gate.Pass, kind overlay.Kind) {
	for _, o := range own(p) {
		for _, s := range overlay.Steps(p.Unit, o) {
			if r := s.Refusal; r != nil && r.Kind == kind {
				p.Report(gate.Diagnostic{
					At: r.At, Message: r.Message, Hint: r.Hint, Key: key(p.Unit, o.Name), Related: gate.See(s.At, "the value in the pack"),
				})
			}
		}
	}
}

const currencyPath = "/pack_meta/environment_defaults/currency"

// checkCurrency warns of a view whose currency is another one and which says
// nothing about some of the pack's numbers.
func checkCurrency(p *gate.Pass, v *overlay.View) {
	var currency *overlay.Step
	for _, s := range overlay.Effective(v.Steps) {
		if s.Path() == currencyPath {
			currency = &s
		}
	}
	if currency == nil {
		return
	}
	all := overlay.Thresholds(p.Pack)
	var kept []*pack.Node
	for _, n := range all {
		if !said(v.Steps, n) {
			kept = append(kept, n)
		}
	}
	if len(kept) == 0 {
		return
	}
	var related []finding.Related
	for _, n := range kept[:min(len(kept), gate.MostListed)] {
		related = append(related, gate.Also(n, "keeps its number"))
	}
	p.Report(gate.Diagnostic{
		At: currency.Setting.Value, Severity: finding.Warning, Key: key(p.Unit, currency.Overlay.Name), Related: related,
		Message: fmt.Sprintf("the currency changes from %s to %s, and %d of the pack's %d thresholds and bounds keep their numbers",
			gate.Quote(currency.At.Text), gate.Quote(currency.Setting.Value.Text), len(kept), len(all)),
		Hint: "set them too; those that are no amounts, to the number that they have",
	})
}

// said reports whether a setting is about a value or about what holds it.
func said(steps []overlay.Step, n *pack.Node) bool {
	for i := range steps {
		if at := steps[i].At; at.Start <= n.Start && n.End <= at.End {
			return true
		}
	}
	return false
}

package evaluation

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// EVL014: who wrote a scorecard is known.
var EVL014 = &gate.Rule{
	ID: "EVL014", Name: "scorecard-not-signed", Severity: finding.Error,
	Title: "Scorecards are signed by the evaluator that the config names",
	Doc: "Whoever changes a pack can also write a scorecard for it. If the config names the `evaluator:`, the workflow that " +
		"measures packs, a scorecard counts only with the signature of that workflow: a Sigstore bundle beside it, " +
		"`scorecards/NAME.json.sigstore.json` for `scorecards/NAME.json`, over the bytes of the file. It is verified like the " +
		"signature of a published pack, without a network if `publish.trusted_root` names the trusted root. A scorecard that " +
		"nobody signed, that was changed after it was signed, or that somebody else signed does not count, in the pack and in " +
		"the version that it is compared with: it is neither a measurement nor a baseline, and the metrics of release gates are " +
		"not measured by it (EVL013). For a scorecard of an earlier version this is a warning.\n\n" +
		"Let the evaluator's workflow measure the pack and sign the result, with `cosign sign-blob --bundle`.",
	Bad: `"evaluator": {"workflow": "acme/evals/.github/workflows/measure.yml@refs/heads/main"},
"files": ["scorecards/release.json"]`,
	Good: `"evaluator": {"workflow": "acme/evals/.github/workflows/measure.yml@refs/heads/main"},
"files": ["scorecards/release.json", "scorecards/release.json.sigstore.json"]`,
	Since: "0.2.0",
	Check: checkSigned,
}

func checkSigned(p *gate.Pass) {
	c := cardsOf(p.Subject)
	for _, card := range c.unsigned {
		why := p.Unsigned(card)
		if p.Evaluator == nil && card.Signature != nil && card.Signature.Unread == "" {
			p.NotChecked(why)
			continue
		}
		d := gate.Faultf(pack.Place(card.Pack.Node, card.Node), "let the evaluator measure the pack and sign the scorecard: cosign sign-blob --bundle",
			"the scorecard of %s counts as none: %s", gate.Quote(card.Pack.Value), why)
		if !c.current(card) {
			d = d.As(finding.Warning)
		}
		p.Report(d.Keyed(p.Unit.Within(card.Name)).See(p.Config.Evaluator.Workflow.Node, "the config says who signs scorecards"))
	}
}

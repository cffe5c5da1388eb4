package promotion

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
)

const whyNot = "An environment is moved past the rules of its catalog by packgate rollback alone, which goes back to what ran before."

// PIN001 is about pins of what is not published.
var PIN001 = &gate.Rule{
	ID: "PIN001", Name: "pinned-not-published", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "A pins file wants versions that are published",
	Doc: `A line of ` + "`pins/ENV.json`" + ` that a change brings names a version that is in the registry, that verifies, is
neither deprecated nor revoked, and whose digest is that of the pack's bytes (what ` + "`packgate publish`" + ` prints as
*content*). Else the line could not be applied after the merge, or it would name something else than what was
reviewed. Where the catalog has ` + "`complete: true`" + `, every check of the version has to have run.

A registry that could not be asked counts as one that says no. Where no registry is configured, and where one on the
network is not asked (a check on a laptop), the rule is listed as not checked.

` + "`packgate promote PACK --from ENV --to ENV`" + ` writes the line with its digest.`,
	Bad:  `{"ctxpack.support": {"version": "1.2.0", "digest": "sha256:<the digest of 1.1.0>"}}`,
	Good: `{"ctxpack.support": {"version": "1.2.0", "digest": "sha256:<the digest of 1.2.0>"}}`,
}

// PIN002 is about versions that did not run in the environment before.
var PIN002 = &gate.Rule{
	ID: "PIN002", Name: "not-promoted", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "A version runs in the environment before",
	Doc: `Where the catalog of an environment has ` + "`promote.from`" + `, the same bytes of the pack have to run in that
environment by its signed records when the line is proposed, and again when it is applied. What the pins file there
wants is not enough: it may not have been applied, and a rollback may have moved the environment since.

The catalog of the base counts too, so that a change cannot take the rule away and use that in one step. The rule is
about the pack's bytes: a change of an overlay or of the catalog of an environment needs the roles of
` + "`promote.roles`" + ` and no promotion.

Where no record can be asked, the pins file or the catalog of the environment before has to have the version, and the
rule is listed as not checked.`,
	Bad:  `{"environment": "prod", "promote": {"from": "staging"}, "staging runs": "1.1.0", "prod wants": "1.2.0"}`,
	Good: `{"environment": "prod", "promote": {"from": "staging"}, "staging runs": "1.2.0", "prod wants": "1.2.0"}`,
}

// PIN003 is about versions that did not run for long enough in the environment before.
var PIN003 = &gate.Rule{
	ID: "PIN003", Name: "not-soaked", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "A version has run for long enough in the environment before",
	Doc: `Where the catalog of an environment has ` + "`promote.soak`" + `, the same bytes of the pack have to have run for so
long in the environment of ` + "`promote.from`" + `. The time is that of the first of the signed records in a row that name
these bytes, as a timestamp service or the transparency log has it. Another version between, and a stop, begin it
anew; another overlay does not. Where the catalogs of the base and of the change demand different times, the longer
one counts.

The finding says until when: run the check again then. What could not be asked is never long enough, and neither is
a repository that has no registry.`,
	Bad:  `{"environment": "prod", "promote": {"from": "staging", "soak": "24h"}, "staging runs 1.2.0 since": "2 hours ago"}`,
	Good: `{"environment": "prod", "promote": {"from": "staging", "soak": "24h"}, "staging runs 1.2.0 since": "2 days ago"}`,
}

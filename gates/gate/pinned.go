package gate

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
)

// Environments groups the rule about environments in which a pack is not pinned, for the docs.
// Its findings are those of the check that finds the fault.
var Environments = &Gate{
	ID: "environments", Title: "Environments",
	About: "A fault of an environment counts where the pack is pinned, and keeps it from being pinned elsewhere.",
	Rules: []*Rule{ENV001},
}

// ENV001 reports an error of an environment in which the pack is not pinned: see NotPinnable.
var ENV001 = &Rule{
	ID: "ENV001", Name: "not-pinnable", Severity: finding.Warning, NoWaiver: Always, Since: "0.2.0",
	WhyNot: "A waiver of the rule that it names excuses the fault there too.",
	Title:  "The pack could be pinned in the environment",
	Doc: `Each environment has a verdict of its own: the pack with the overlays of the environment, held against its
catalog. An error there counts where the pack is pinned or is being pinned: ` + "`pins/ENV.json`" + `, or ` + "`pins`" + ` of the
catalog, names the pack in the change or in its base. In any other environment it is this warning, and
` + "`packgate pin`" + ` refuses to pin the pack there.

What is wrong with the pack itself is an error wherever it runs, under its own rule. So is what a change does to
a catalog or an overlay (OVL011), the text of an overlay, an endpoint that no environment has for the tenant, and
what golden cases show.

Every environment counts where nobody said where packs run: no catalog has ` + "`pins`" + ` and there is no pins file. So
it does for a pack that is pinned nowhere and has an error in each of them: there is none that it could run
in. An environment that the base pins the pack in and that is gone counts under the names that are new.

Bring what is missing to the environment before the pack is pinned there, or correct the pack. To have it
count everywhere, raise it under ` + "`severity:`" + ` to an error.`,
	Bad:  `{"environment": "staging", "pins": {}, "ontologies": {"ont.support": {"1.1.0": {}}}}`,
	Good: `{"environment": "staging", "pins": {}, "ontologies": {"ont.support": {"1.0.0": {}, "1.1.0": {}}}}`,
}

// NotPinnable returns what is said of an error of an environment that does not count.
func NotPinnable(f finding.Finding) finding.Finding {
	out := f
	out.Rule, out.Name, out.Severity = ENV001.ID, ENV001.Name, ENV001.Severity
	out.Key = fmt.Sprintf("%s %s", f.Rule, f.Key)
	out.Message = fmt.Sprintf("the pack cannot be pinned in environment %s (%s): %s", Quote(f.Environment), f.Rule, f.Message)
	return out
}

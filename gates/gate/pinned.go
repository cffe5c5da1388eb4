package gate

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
)

// Environments groups the rule about environments in which a pack is not pinned, for the docs.
// Its findings are those of the check that finds the fault.
var Environments = &Gate{
	ID: "environments", Title: "Environments",
	About: "An error of an environment counts if the pack is pinned there; otherwise it prevents the pack from being pinned there.",
	Rules: []*Rule{ENV001},
}

// ENV001 reports an error of an environment in which the pack is not pinned: see NotPinnable.
var ENV001 = &Rule{
	ID: "ENV001", Name: "not-pinnable", Severity: finding.Warning, NoWaiver: Always, Since: "0.2.0",
	WhyNot: "A waiver of the rule that it names also excuses the fault here.",
	Title:  "The pack could be pinned in the environment",
	Doc: "Each environment has a verdict of its own: that of the pack with the overlays of the environment, checked against its " +
		"catalog. An error there counts if the pack is pinned or is being pinned there: `pins/ENV.json`, or `pins` of the " +
		"catalog, names the pack in the change or in its base. In any other environment it is this warning, and `packgate pin` " +
		"refuses to pin the pack there.\n\n" +
		"A fault of the pack itself is an error wherever the pack runs, under its own rule. The same applies to what a change " +
		"does to a catalog or an overlay (OVL011), the text of an overlay, an endpoint that no environment has for the tenant, " +
		"and what golden cases show.\n\n" +
		"Every environment counts if nothing states where packs run: no catalog has `pins` and there is no pins file. Every " +
		"environment also counts for a pack that is pinned nowhere and has an error in each of them, because it could run in " +
		"none. If the base pins the pack in an environment that no longer exists, the errors count in the environments with new " +
		"names.\n\n" +
		"Add what is missing to the environment before you pin the pack there, or correct the pack. To make the finding count " +
		"everywhere, raise it to an error under `severity:`.",
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

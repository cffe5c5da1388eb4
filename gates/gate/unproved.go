package gate

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Proof groups the rule about claims that no gate could decide, for the docs. Its
// findings are those of the gate that makes the claim.
var Proof = &Gate{
	ID: "proof", Title: "Proof",
	About: "What a gate claims of all requests is proved, or named as not proved.",
	Rules: []*Rule{NPR001},
}

// NPR001 reports a claim that could not be decided: see Pass.NotProved.
var NPR001 = &Rule{
	ID: "NPR001", Name: "not-proved", Severity: finding.Warning, Strict: true, Since: "0.2.0",
	Title: "A claim about all requests is decided",
	Doc: "Some rules claim something of every request, such as that a destructive tool never runs without an approval. " +
		"They prove it, or show a request that refutes it. Where neither was possible the claim is open: it is no fault that was found, and it did not pass. " +
		"The finding is one of the gate whose rule makes the claim, and says what is not proved and why: the steps of the proof were used up, or a part of a condition is not followed, such as a product of two variables. " +
		"It is an error where the claim is RSK002's.\n\n" +
		"Write the condition with comparisons of one variable with constants, divide it among several rules, or close what it opens. " +
		"A claim that a person has checked can be waived with the reason.",
	Bad:  `"if": {"==": [{"*": [{"var": "request.context.amount"}, {"var": "request.context.rate"}, {"var": "request.context.rate"}]}, 17.25]}`,
	Good: `"if": {"<=": [{"var": "request.context.amount"}, 3000]}`,
}

// Claim is what a rule could not decide, although its failure would be an error.
type Claim struct {
	At      *pack.Node        // what the claim is about
	What    string            // what is not proved, beginning with "that" or "whether"
	Reason  string            // what stood in the way; "" where it is not known
	Error   bool              // it is an error in any mode, not only in strict mode
	Key     string            // tells apart claims of one rule about one place
	Related []finding.Related // such as the conditions that are not followed
}

// NotProved reports a claim of the pass's rule as NPR001, so that its gate does not
// pass. Claims whose failure is a warning are not checked: see NotChecked.
func (p *Pass) NotProved(c Claim) {
	f := finding.Finding{
		Rule: NPR001.ID, Name: NPR001.Name, Gate: p.gate.ID, Severity: NPR001.Severity,
		Message: fmt.Sprintf("%s is not proved (%s): %s", c.What, p.rule.ID, cmp.Or(c.Reason, "it is undecided")),
		Hint:    "write the conditions with comparisons of one variable with constants, or divide them among several rules",
		Key:     p.rule.ID + " " + c.Key, Related: c.Related, Location: c.At.Location(),
	}
	if c.Error {
		f.Severity = finding.Error
	}
	p.Add(f)
}

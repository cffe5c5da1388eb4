// Package gate says what a gate and a rule are, and what a rule sees of a pack.
//
// A rule is a value that carries its own page: id, name, severity, title,
// explanation, a bad and a good example, and the function that checks it. The
// words that a user reads in the terminal, in the docs and in a report all come
// from that one literal. A rule sees a Pass and says things through it; it opens
// no file, prints nothing and keeps nothing.
package gate

import "github.com/contextosai/packgate/finding"

// Gate is one of the eight validations that a pack has to pass.
type Gate struct {
	ID    string  // "schema", "references", …
	Title string  // "Schema", "Referential integrity", …
	About string  // what the gate makes sure of, in a sentence
	Rules []*Rule // in the order in which they are documented
}

// Rule is one check, with the words that explain it.
type Rule struct {
	ID       string           // REF001; never used again for anything else
	Name     string           // unresolved-decision-binding; works wherever the id does
	Severity finding.Severity // the default
	Strict   bool             // a warning that becomes an error in strict mode
	NoWaiver bool             // findings cannot be waived
	Title    string           // one line: what holds where the rule is kept
	Doc      string           // why it matters and how to fix it; Markdown paragraphs
	Bad      string           // an example that breaks the rule (JSON or JSON fragment)
	Good     string           // the example, fixed
	Since    string           // the version of packgate that brought it
	// Check reports every fault of the rule. It is called with a Pass of its
	// own rule.
	Check func(*Pass)
}

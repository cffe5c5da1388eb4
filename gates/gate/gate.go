// Package gate says what a gate and a rule are, and what a rule sees of a pack.
//
// A rule is a value that carries its own page: id, name, severity, title,
// explanation, a bad and a good example, and the function that checks it. The
// words that a user reads in the terminal, in the docs and in a report all come
// from that one literal. A rule sees a Pass and says things through it; it opens
// no file, prints nothing and keeps nothing.
package gate

import (
	"cmp"

	"github.com/contextosai/packgate/finding"
)

// Gate is one of the eight validations that a pack has to pass.
type Gate struct {
	ID    string // "schema", "references", …
	Title string // "Schema", "Referential integrity", …
	About string // what the gate makes sure of, in a sentence
	// Layer is the layer that the gate judges: without it nothing of it runs. Reads are
	// others that it reads, each of which leaves a part open.
	Layer string
	Reads []string
	Rules []*Rule // in the order in which they are documented
}

// Rule is one check, with the words that explain it.
type Rule struct {
	ID       string           // REF001; never used again for anything else
	Name     string           // unresolved-decision-binding; works wherever the id does
	Severity finding.Severity // the default
	Strict   bool             // a warning that becomes an error in strict mode
	NoWaiver Refusal          // when findings cannot be waived
	WhyNot   string           // why they cannot: sentences; "" where they always can
	Ratchet  bool             // it compares with the version before
	Things   bool             // a waiver names the thing that a finding is of, as it does for every ratchet
	Title    string           // one line: what holds where the rule is kept
	Doc      string           // why it matters and how to fix it; Markdown paragraphs
	Bad      string           // an example that breaks the rule (JSON or JSON fragment)
	Good     string           // the example, fixed
	From     Origin           // what all that it says follows from; Anything for a rule that is quickly checked
	Since    string           // the version of packgate that brought it; "" for the first, 0.1.0
	// Check reports every fault of the rule. It is called with a Pass of its
	// own rule.
	Check func(*Pass)
}

// Named reports whether a waiver of the rule names the thing that a finding is of.
func (r *Rule) Named() bool { return r.Ratchet || r.Things }

// Introduced returns the version of packgate that brought the rule.
func (r *Rule) Introduced() string { return cmp.Or(r.Since, "0.1.0") }

// Refusal says when findings of a rule can be excused by nobody: neither by a waiver nor
// by a lower severity.
type Refusal uint8

// When they cannot.
const (
	Never    Refusal = iota // they always can
	InStrict                // in strict mode
	Always
)

// In reports whether they cannot be excused in a run that is strict or not.
func (r Refusal) In(strict bool) bool { return r == Always || r == InStrict && strict }

// String says whether findings can be waived: "yes", "not in strict mode" or "no".
func (r Refusal) String() string { return [...]string{"yes", "not in strict mode", "no"}[r] }

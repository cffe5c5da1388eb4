package model

// RulePage is the page of a rule, for those who read a finding of it.
type RulePage struct {
	ID, Name string
	Gate     string // whose rule it is
	Severity string // the default
	Title    string // one line: what holds where the rule is kept
	Doc      string // why it matters and what to do; Markdown paragraphs
	Bad      string // an example that breaks the rule, "" for none
	Good     string // the example, corrected
}

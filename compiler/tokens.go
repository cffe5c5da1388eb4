package compiler

import "github.com/contextosai/packgate/pack"

// Tokenizer counts tokens. Name is part of every snapshot's meaning: another
// tokenizer means other budgets. Count has to give the same for the same text
// always, and Tokenizer has to be safe for concurrent use.
type Tokenizer interface {
	Name() string
	Count(text string) int
}

// TokenizerOf returns the name of the tokenizer that a stored compiled context
// was counted with, "" where its budget report is none that says so. Two contexts
// of different tokenizers cannot be compared token by token.
func TokenizerOf(stored *pack.Node) string {
	report := stored.Get("budget_report")
	if report == nil || report.Kind != pack.Object {
		return ""
	}
	switch name := report.Get("tokenizer"); {
	case name == nil:
		return Estimate{}.Name()
	case name.Kind == pack.String:
		return name.Text
	}
	return ""
}

// Estimate is the tokenizer that needs no vocabulary: one token for each four
// UTF-16 code units, rounded up.
type Estimate struct{}

// Name returns "estimate".
func (Estimate) Name() string { return "estimate" }

// Count returns the estimated number of tokens of a text.
func (Estimate) Count(text string) int {
	units := 0
	for _, c := range text {
		units++
		if c > 0xFFFF {
			units++
		}
	}
	return (units + 3) / 4
}

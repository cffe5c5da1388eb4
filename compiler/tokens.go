package compiler

// Tokenizer counts tokens. Name is part of every snapshot's meaning: another
// tokenizer means other budgets.
type Tokenizer interface {
	Name() string
	Count(text string) int
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

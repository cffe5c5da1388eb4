// Package detect finds what has no place in a Context Pack: secrets, personal
// data, hidden and look-alike characters, code, and words that give a model
// orders. It looks at one text at a time, and at the name of the member that
// holds it, and knows nothing of packs: the rules decide where to look, and what
// a match means there.
//
// A pack is read by many and kept for ever, so a secret in it is lost. A pack is
// also full of what looks like a secret and is none: digests, record ids, request
// ids, references. The detectors therefore lean on structure and not on entropy:
// on the prefixes that issuers give to their tokens, on check digits, on the name
// beside the value. Entropy alone decides nothing, and bare digits need a word
// that tells what they are.
//
// All matching takes time linear in the text: prefixes are compared where a word
// begins, and Go's regular expressions do not backtrack.
package detect

// Match is one hit in a text.
type Match struct {
	// Kind is what was found, with its article: "a GitHub token".
	Kind string
	// Start and End are byte offsets in the text that was looked at, half-open.
	// Of something encoded they are those of its encoded form.
	Start, End int
	// Via names the encodings that had to be undone, from the outside in:
	// "base64", "base64 and hexadecimal". It is empty for plain text.
	Via string
}

// Mask returns the first few characters of a secret text, at most most of them
// and never more than a third, and an ellipsis.
func Mask(text string, most int) string {
	letters := []rune(text)
	return string(letters[:min(most, len(letters)/3)]) + "…"
}

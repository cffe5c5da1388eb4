package detect

import "strings"

// charCount says how many digits and capitals a text holds. Bare digits are those in
// words without letters: of a digest, none.
type charCount struct{ digits, capitals, bare int }

// in reports whether a text has as many of each. A form that needs more than a text
// holds matches nowhere in it, and need not be tried.
func (least charCount) in(text charCount) bool {
	return text.digits >= least.digits && text.capitals >= least.capitals && text.bare >= least.bare
}

// count counts the ASCII digits and capitals of a text. A word is what \b takes for
// one: letters, digits and underscores.
func count(text string) (n charCount) {
	run, lettered := 0, false // of the word at hand
	for i := range len(text) {
		switch c := text[i]; {
		case digit[c]:
			n.digits++
			run++
		case alnum[c], c == '_':
			lettered = true
			if c >= 'A' && c <= 'Z' {
				n.capitals++
			}
		default:
			if !lettered {
				n.bare += run
			}
			run, lettered = 0, false
		}
	}
	if !lettered {
		n.bare += run
	}
	return n
}

// fewestDigits is how many digits a text has to hold to be looked at for numbers: each
// kind in the table has as many, but for accounts whose numbers are letters.
const fewestDigits = 4

// personalPossible reports whether a text has the digits or the sign without which
// no personal data is in it.
func personalPossible(text string) bool {
	digits := 0
	for i := range len(text) {
		if text[i] == '@' {
			return true
		}
		if digit[text[i]] {
			if digits++; digits >= fewestDigits {
				return true
			}
		}
	}
	return false
}

// addressed reports whether an @ of a text is followed by something like a domain,
// with two letters after a dot. Names such as pack@1.0.0 have none.
func addressed(text string) bool {
	for {
		_, after, ok := strings.Cut(text, "@")
		if !ok {
			return false
		}
		text = after
		for i := 0; i+2 < len(after) && (alnum[after[i]] || after[i] == '-' || after[i] == '.'); i++ {
			if after[i] == '.' && letter(after[i+1]) && letter(after[i+2]) {
				return true
			}
		}
	}
}

func letter(c byte) bool { return alnum[c] && !digit[c] }

package tokens

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// MaxRun is how many bytes of one run are counted together: of letters and
// marks, of other signs, and of blanks. The longest words of natural languages
// have some 200 bytes, a sentence without blanks some hundred more.
const MaxRun = 1024

// parts cuts a text so that no part holds a longer run. A word, in the sense of
// both vocabularies, is a run of letters with a sign before it, a run of signs
// with a blank before and line ends behind it, a run of blanks or three digits:
// so no word of a part is longer than two runs.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		// A byte that is no UTF-8 is longer than it looks.
		if len(text) > MaxRun || !utf8.ValidString(text) {
			start := 0
			var r runs
			for i, c := range text {
				if !r.add(c) {
					if !yield(text[start:i]) {
						return
					}
					start, r = i, runs{}
					r.add(c)
				}
			}
			text = text[start:]
		}
		yield(text)
	}
}

// runs holds the lengths of the runs that end at a place, in bytes. A mark goes
// on with letters in one vocabulary and with signs in the other; a slash may
// stand among the line ends behind signs.
type runs struct {
	letters, signs, blanks int
}

// add goes on with one character. It reports false where a run gets too long.
func (r *runs) add(c rune) bool {
	// A byte that is no UTF-8 is taken for U+FFFD, as the vocabularies do.
	size := len(string(c))
	letter, mark, blank := unicode.IsLetter(c), unicode.IsMark(c), unicode.IsSpace(c)
	extend := func(run *int, in bool) bool {
		if *run += size; !in {
			*run = 0
		}
		return *run <= MaxRun
	}
	letters := extend(&r.letters, letter || mark)
	signs := extend(&r.signs, !letter && !blank && !unicode.IsNumber(c))
	blanks := extend(&r.blanks, blank || c == '/')
	return letters && signs && blanks
}

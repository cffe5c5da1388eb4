// Package tokens counts the tokens of a text as models do, by byte pair
// encoding with the vocabularies cl100k_base and o200k_base.
//
// An estimate tells what a change costs, and not what fits into a model. Who has
// to know that chooses the vocabulary of the model; who does not pays nothing for
// it: the vocabularies are embedded in the program, and one is read when the
// first text is counted with it, which takes some milliseconds once.
//
// # What a count is
//
// It is the number of tokens that the reference implementation's encode_ordinary
// gives: a spelled-out special token such as <|endoftext|> is text like any
// other, so that no text can pose as one. A byte that is no UTF-8 counts as the
// character U+FFFD, which is also what a compiled context holds of it.
//
// # What is bounded
//
// Byte pairs are merged within a word, and the time for that grows with the
// square of its length: a megabyte of one letter would take many minutes. A
// longer run of letters, of signs or of blanks is therefore counted in parts of
// MaxRun bytes, and each cut may make a difference of a token or two. A text
// without such runs is counted exactly. A megabyte takes about a second at worst.
package tokens

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/compiler"
)

// list returns the tokenizers, sorted by name.
func list() []compiler.Tokenizer {
	return []compiler.Tokenizer{
		bytePair{"cl100k_base", cl100kBase},
		compiler.Estimate{},
		bytePair{"o200k_base", o200kBase},
	}
}

// Names returns the names of the tokenizers, sorted.
func Names() []string {
	var names []string
	for _, t := range list() {
		names = append(names, t.Name())
	}
	return names
}

// Find returns the tokenizer of a name, one of Names. The error names them. What
// it returns may be used by several goroutines at once.
func Find(name string) (compiler.Tokenizer, error) {
	tokenizers := list()
	i := slices.IndexFunc(tokenizers, func(t compiler.Tokenizer) bool { return t.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no tokenizer %q, wanted one of %s", name, strings.Join(Names(), ", "))
	}
	return tokenizers[i], nil
}

// bytePair counts by byte pair encoding.
type bytePair struct {
	name string
	load func() *vocabulary
}

// Name returns the name of the vocabulary.
func (b bytePair) Name() string { return b.name }

// Count returns the number of tokens of a text.
func (b bytePair) Count(text string) int {
	vocabulary, total := b.load(), 0
	for part := range parts(text) {
		n, err := vocabulary.count(part)
		if err != nil { // the matcher gave up; no text has more tokens than bytes
			n = len(string([]rune(part)))
		}
		total += n
	}
	return total
}

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

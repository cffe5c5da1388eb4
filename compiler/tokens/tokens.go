// Package tokens counts the tokens of a text as models do, by byte pair
// encoding with the vocabularies cl100k_base and o200k_base.
//
// An estimate tells what a change costs, and not what fits into a model. Who has
// to know that chooses the vocabulary of the model; who does not pays nothing for
// it: the vocabularies are embedded in the program, and one is read when the
// first text is counted with it, which takes some ten milliseconds once.
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
	"slices"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/contextosai/packgate/compiler"
)

// The vocabularies, each read when it is first needed. They never change after.
var (
	cl100kBase = sync.OnceValue(codec.NewCl100kBase)
	o200kBase  = sync.OnceValue(codec.NewO200kBase)
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
	load func() *codec.Codec
}

// Name returns the name of the vocabulary.
func (b bytePair) Name() string { return b.name }

// Count returns the number of tokens of a text.
func (b bytePair) Count(text string) int {
	vocabulary, total := b.load(), 0
	for part := range parts(text) {
		n, err := vocabulary.Count(part)
		if err != nil { // the matcher gave up; no text has more tokens than bytes
			n = len(string([]rune(part)))
		}
		total += n
	}
	return total
}

package detect

import (
	"iter"
	"strings"
	"sync"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func bytesOf(text string) (c byteSet) {
	for i := range len(text) {
		c[text[i]>>6] |= 1 << (text[i] & 63)
	}
	return c
}

// within reports whether all of the set are in another one.
func (c *byteSet) within(other *byteSet) bool {
	return c[0]&^other[0]|c[1]&^other[1]|c[2]&^other[2]|c[3]&^other[3] == 0
}

// keyword is a keyword of a pattern, with its bytes and its first word.
type keyword struct {
	text, first string
	byteSet
	ofFirst byteSet
}

// sieve returns the keywords of each pattern of a list. A keyword is looked for only in a
// text that has all of its bytes, which few have.
type sieve func() [][]keyword

func sieveOf(list []pattern) sieve {
	return sync.OnceValue(func() [][]keyword {
		all := make([][]keyword, len(list))
		for i := range list {
			for _, k := range list[i].keywords {
				first, _, _ := strings.Cut(k, " ")
				all[i] = append(all[i], keyword{k, first, bytesOf(k), bytesOf(first)})
			}
		}
		return all
	})
}

// tried returns the places of the patterns of which a text holds a keyword.
func (s sieve) tried(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		there := bytesOf(text)
		for i, keywords := range s() {
			for k := range keywords {
				if keywords[k].within(&there) && strings.Contains(text, keywords[k].text) {
					if !yield(i) {
						return
					}
					break
				}
			}
		}
	}
}

// any reports whether a text holds the first word of a keyword: without one, its words hold
// no keyword, whatever is between them.
func (s sieve) any(text string) bool {
	there := bytesOf(text)
	for _, keywords := range s() {
		for k := range keywords {
			if keywords[k].ofFirst.within(&there) && strings.Contains(text, keywords[k].first) {
				return true
			}
		}
	}
	return false
}

package tokens

import (
	_ "embed" // of the vocabularies
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"sync"

	"github.com/dlclark/regexp2"
)

// The files hold the tokens of a vocabulary by rank: how many there are, in four bytes; the length of
// each, in one; and all their texts. As a map in Go's source they take four times the space.
// They come from OpenAI's tiktoken, whose licence is in the same folder.
var (
	//go:embed vocabularies/cl100k_base
	cl100kFile string
	//go:embed vocabularies/o200k_base
	o200kFile string
)

// The regular expressions by which the two cut a text into words, the same as in tiktoken.
const (
	cl100kWords = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kWords  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// The vocabularies, each read when it is first needed. They never change after.
var (
	cl100kBase = sync.OnceValue(func() *vocabulary { return newVocabulary(cl100kFile, cl100kWords) })
	o200kBase  = sync.OnceValue(func() *vocabulary { return newVocabulary(o200kFile, o200kWords) })
)

// vocabulary finds the rank of a token. It has a hash table of its own because filling a map of
// Go with the tokens takes four times as long (25 ms and 6).
type vocabulary struct {
	words *regexp2.Regexp
	texts string   // of all tokens, by rank
	ends  []uint32 // of each token within texts
	slots []uint32 // a hash table of ranks, each plus one; 0 where none is
	seed  maphash.Seed
}

// newVocabulary reads one of the files. Words are what the expression matches.
func newVocabulary(file, words string) *vocabulary {
	n := int(binary.BigEndian.Uint32([]byte(file[:4])))
	v := &vocabulary{
		words: regexp2.MustCompile(words, regexp2.None),
		texts: file[4+n:],
		ends:  make([]uint32, n),
		slots: make([]uint32, 1<<bits.Len(uint(2*n))),
		seed:  maphash.MakeSeed(),
	}
	start := uint32(0)
	for rank := range n {
		end := start + uint32(file[4+rank])
		v.ends[rank] = end
		slot := v.slot(v.texts[start:end])
		for v.slots[slot] != 0 {
			slot = v.next(slot)
		}
		v.slots[slot] = uint32(rank) + 1
		start = end
	}
	return v
}

// slot returns where the search for a token begins.
func (v *vocabulary) slot(token string) int {
	return int(maphash.String(v.seed, token)) & (len(v.slots) - 1)
}

func (v *vocabulary) next(slot int) int { return (slot + 1) & (len(v.slots) - 1) }

// token returns the text of a rank.
func (v *vocabulary) token(rank int) string {
	start := uint32(0)
	if rank > 0 {
		start = v.ends[rank-1]
	}
	return v.texts[start:v.ends[rank]]
}

// noRank is the rank of what is no token: it comes after all others.
const noRank = math.MaxInt

// rank returns the rank of a token, noRank of other text.
func (v *vocabulary) rank(text string) int {
	for slot := v.slot(text); v.slots[slot] != 0; slot = v.next(slot) {
		if rank := int(v.slots[slot]) - 1; v.token(rank) == text {
			return rank
		}
	}
	return noRank
}

// count returns the number of tokens of a text. The error is that of the matcher.
func (v *vocabulary) count(text string) (int, error) {
	total := 0
	match, err := v.words.FindStringMatch(text)
	for err == nil && match != nil {
		total += v.tokens(match.String())
		match, err = v.words.FindNextMatch(match)
	}
	return total, err
}

// piece is a part of a word that is one token: where it starts, and the rank of what it
// makes with the piece after it.
type piece struct{ start, rank int }

// tokens returns the number of tokens of a word. Of all neighbours, those that make the
// token of the least rank are joined, the first of them if there are several, until no two make one.
func (v *vocabulary) tokens(word string) int {
	if v.rank(word) != noRank {
		return 1
	}
	pieces := make([]piece, len(word)+1) // the last one is the end
	for i := range pieces {
		pieces[i].start = i
	}
	joined := func(i int) int {
		if i+2 >= len(pieces) {
			return noRank
		}
		return v.rank(word[pieces[i].start:pieces[i+2].start])
	}
	for i := range pieces {
		pieces[i].rank = joined(i)
	}
	for {
		first := piece{rank: noRank}
		for i, p := range pieces {
			if p.rank < first.rank {
				first = piece{i, p.rank}
			}
		}
		if first.rank == noRank {
			return len(pieces) - 1
		}
		i := first.start
		pieces = append(pieces[:i+1], pieces[i+2:]...)
		pieces[i].rank = joined(i)
		if i > 0 {
			pieces[i-1].rank = joined(i - 1)
		}
	}
}

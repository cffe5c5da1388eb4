package tokens

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

// libraries returns the vocabularies of the library, by name.
func libraries() map[string]*codec.Codec {
	return map[string]*codec.Codec{"cl100k_base": codec.NewCl100kBase(), "o200k_base": codec.NewO200kBase()}
}

// ours returns our own vocabularies, by name.
func ours() map[string]*vocabulary {
	return map[string]*vocabulary{"cl100k_base": cl100kBase(), "o200k_base": o200kBase()}
}

// The files hold the tokens of the library, each at its rank. UPDATE=1 writes them.
func TestVocabulariesAreThoseOfTheLibrary(t *testing.T) {
	for name, library := range libraries() {
		var lengths, texts []byte
		for {
			token, err := library.Decode([]uint{uint(len(lengths))})
			if err != nil {
				break
			}
			if len(token) == 0 || len(token) > 255 {
				t.Fatalf("%s: a token has %d bytes, and the files have one byte for the length", name, len(token))
			}
			lengths, texts = append(lengths, byte(len(token))), append(texts, token...)
		}
		file := append(binary.BigEndian.AppendUint32(nil, uint32(len(lengths))), append(lengths, texts...)...)
		path := filepath.Join("vocabularies", name)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if there, err := os.ReadFile(path); err != nil || string(there) != string(file) {
			t.Errorf("%s is not what the library has (%v); UPDATE=1 writes it", path, err)
		}
	}
}

// Each token has its rank, and what is none has none.
func TestRanks(t *testing.T) {
	for name, v := range ours() {
		if len(v.ends) < 100_000 {
			t.Fatalf("%s has %d tokens", name, len(v.ends))
		}
		for rank := range v.ends {
			if got := v.rank(v.token(rank)); got != rank {
				t.Fatalf("%s: %q has rank %d, wanted %d", name, v.token(rank), got, rank)
			}
		}
		for _, text := range []string{"", "no token at all", "\xff\xff\xff"} {
			if got := v.rank(text); got != noRank {
				t.Errorf("%s: %q has rank %d", name, text, got)
			}
		}
	}
}

// sameCount compares what is counted in a text with what the library counts.
func sameCount(t *testing.T, text string, libraries map[string]*codec.Codec) {
	t.Helper()
	for name, v := range ours() {
		want, err := libraries[name].Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.count(text); err != nil || got != want {
			t.Errorf("%s: %d tokens in %q (%v), wanted %d", name, got, text, err, want)
		}
	}
}

func TestCountsAreThoseOfTheLibrary(t *testing.T) {
	libraries := libraries()
	for _, v := range vectors(t) {
		sameCount(t, v.Text, libraries)
	}
	for _, text := range hostile(MaxRun) {
		sameCount(t, text, libraries)
	}
	// Every token, alone and between others: words of all scripts, and bytes that are no UTF-8.
	for _, v := range ours() {
		for rank := 0; rank < len(v.ends); rank += 7 {
			sameCount(t, v.token(rank)+v.token(len(v.ends)-1-rank)+v.token(rank/2), libraries)
		}
	}
}

// FuzzCountIsThatOfTheLibrary looks for a text for which the library gives another count.
func FuzzCountIsThatOfTheLibrary(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Text)
	}
	f.Add(strings.Repeat("don't, DON'T; ", 9) + "ſ'ſ 'S\u0301")
	libraries := libraries()
	f.Fuzz(func(t *testing.T, text string) {
		for part := range parts(text) {
			sameCount(t, part, libraries)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		newVocabulary(o200kFile, o200kWords)
	}
}

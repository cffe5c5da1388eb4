package detect

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A sieve lets a pattern through exactly where one of its keywords is in the text, and its
// first words are in every text whose words hold a keyword.
func TestSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, list := range [][]pattern{patterns, programs, orders} {
		sieve := sieveOf(list)
		var all []string
		for _, p := range list {
			all = append(all, p.keywords...)
		}
		through := 0
		for range 2000 {
			text := around(r)
			for range r.IntN(4) {
				k := all[r.IntN(len(all))]
				k = k[:len(k)-r.IntN(2)] // as it is, or not quite
				text += strings.ReplaceAll(k, " ", []string{" ", "_", " - "}[r.IntN(3)]) + around(r)
			}
			var want []int
			for i, p := range list {
				if slices.ContainsFunc(p.keywords, func(k string) bool { return strings.Contains(text, k) }) {
					want = append(want, i)
				}
			}
			if got := slices.Collect(sieve.tried(text)); !slices.Equal(got, want) {
				t.Errorf("%q: patterns %v are tried, wanted %v", text, got, want)
			}
			through += len(want)
			lower := strings.ToLower(text)
			if words := spaced(lower); !sieve.any(lower) && slices.ContainsFunc(all, func(k string) bool { return strings.Contains(words, k) }) {
				t.Errorf("%q is passed over", text)
			}
		}
		if through < 1000 {
			t.Errorf("%d patterns were tried, wanted more", through)
		}
	}
}

package render

import "testing"

// A promotion is none of the packs that the headline counts.
func TestTallyWords(t *testing.T) {
	for _, c := range []struct {
		of   tally
		want string
	}{
		{tally{packs: 12}, "12 packs"},
		{tally{packs: 12, blocked: 3, larger: 2}, "3 of 12 packs are blocked; in 2 of them agents can do more"},
		{tally{packs: 2, waiting: 1, gone: 1}, "1 of 2 packs, 1 pack removed"},
		{tally{packs: 1, blocked: 1, repository: true}, "1 pack is blocked, and the repository has errors"},
		{tally{promotions: 2, blocked: 1}, "1 of 2 promotions is blocked"},
		{tally{promotions: 2, waiting: 2}, "2 of 2 promotions"},
		{tally{packs: 1, promotions: 1}, "1 pack and 1 promotion"},
		{tally{packs: 1, promotions: 1, blocked: 1, larger: 2}, "1 pack and 1 promotion, 1 of them blocked; in 2 of them agents can do more"},
		{tally{packs: 2, promotions: 3, waiting: 4}, "2 packs and 3 promotions"},
		{tally{}, "0 packs"},
	} {
		if got := c.of.words(); got != c.want {
			t.Errorf("%+v: %q, wanted %q", c.of, got, c.want)
		}
	}
}

package gating

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
)

// Every pack is dealt out once, the largest first, to the shard with the fewest bytes.
func TestDeal(t *testing.T) {
	sizes := map[string]int64{"a": 5, "b": 9, "c": 5, "d": 4, "e": 0, "f": 0, "g": 3}
	for n, want := range map[int]string{
		1: "[{[a b c d e f g] 26}]",
		2: "[{[b d e f] 13} {[a c g] 13}]",
		3: "[{[b] 9} {[a d] 9} {[c e f g] 8}]",
		8: "[{[b] 9} {[a] 5} {[c] 5} {[d] 4} {[g] 3} {[e] 0} {[f] 0} {[] 0}]",
	} {
		if got := fmt.Sprint(deal(sizes, n)); got != want {
			t.Errorf("%d shards are %s, wanted %s", n, got, want)
		}
	}
}

func TestParseShard(t *testing.T) {
	for value, hint := range map[string]string{
		"1/1": "", "3/4": "", "256/256": "", "": "",
		"x": "such as 1/4", "1": "such as 1/4", "1/": "such as 1/4", "/2": "such as 1/4", "1/2/3": "such as 1/4",
		"01/2": "such as 1/4", "+1/2": "such as 1/4", " 1/2": "such as 1/4", "1/99999999999999999999": "such as 1/4",
		"0/3": "1/3 to 3/3", "4/3": "1/3 to 3/3", "-1/3": "1/3 to 3/3", "1/0": "1 to 256", "1/-2": "1 to 256", "1/257": "1 to 256",
	} {
		s, err := ParseShard("--shard", value)
		usage, refused := err.(*repo.Problem)
		switch {
		case hint == "" && (err != nil || !s.Whole() && s.String() != value):
			t.Errorf("%q is %v (%v)", value, s, err)
		case hint != "" && (!refused || !strings.Contains(usage.Hint, hint) || usage.Message != fmt.Sprintf("--shard is %q", value)):
			t.Errorf("%q is refused with %#v, wanted the hint %q", value, err, hint)
		}
	}
}

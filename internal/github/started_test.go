package github

import (
	"slices"
	"testing"
)

func TestStarters(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		"Promote it\n\n" + StarterLine("Ann"): {"ann"},
		"a\r\npackgate-started-by:ann\r\nb":   {"ann"},
		"> **Packgate-Started-By:** @ann\n":   {"ann"},
		"- `Packgate-Started-By: ann`, bob":   {"ann", "bob"},
		StarterLine("a") + "\n" + StarterLine("robot[bot]"): {"a", "robot[bot]"},
		"see Packgate-Started-By: ann":                      nil,
		"Packgate-Started-By ann":                           nil,
		"Signed-off-by: ann\nPackgate-Started: ann":         nil,
	} {
		if got := starters(text); !slices.Equal(got, want) {
			t.Errorf("%q names %q, wanted %q", text, got, want)
		}
	}
}

package build

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What a page holds says the same as the JSON text that it was made of, in printable ASCII and without a number sign.
func TestASCIIJSONLaw(t *testing.T) {
	runes := []rune("a#\"\\<>& \n\t\x00\x7f\u0080é\u2028\u2029\ud7ff\ue000\ufffd\uffff\U00010000😀\U0010ffff")
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 2))
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteRune(runes[random.IntN(len(runes))])
		}
		if seed%10 == 0 {
			text.WriteString("\xff\xc3") // which Marshal replaces
		}
		src, err := json.Marshal(map[string]string{text.String(): text.String()})
		if err != nil {
			t.Fatal(err)
		}
		got := asciiJSON(src)
		if slices.ContainsFunc(got, func(b byte) bool { return b < ' ' || b > '~' || b == '#' }) {
			t.Fatalf("%q became %q", src, got)
		}
		var was, is map[string]string
		if err := json.Unmarshal(got, &is); err != nil || json.Unmarshal(src, &was) != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		for name, value := range was {
			if is[name] != value || len(is) != 1 {
				t.Fatalf("%q became %q", src, got)
			}
		}
	}
}

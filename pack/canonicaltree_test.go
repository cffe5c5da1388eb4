package pack

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// sameAsCanonical compares AppendCanonical with what jcs makes of the value as
// encoding/json writes it.
func sameAsCanonical(t *testing.T, v any) {
	t.Helper()
	src, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want, refused := Canonical(src)
	got, err := AppendCanonical(nil, v)
	if (refused == nil) != (err == nil) || err == nil && string(got) != string(want) {
		t.Fatalf("the canonical form of %q is\n%q (%v), wanted\n%q (%v)", src, got, err, want, refused)
	}
}

func TestCanonicalTree(t *testing.T) {
	for _, v := range []any{
		nil, map[string]any(nil), []any(nil), true, false, "", "a", []any{}, map[string]any{}, []any{nil, []any{false}, map[string]any{"": 1.0}},
		0.0, math.Copysign(0, -1), 1.0, -1.0, 0.1, 1e-6, 9.999999e-7, 1e-7, 1e20, 999999999999999900000.0, 1e21, -1e21, 1e22, 1e100, 1e-100,
		5e-324, math.MaxFloat64, -math.MaxFloat64, 9007199254740992.0, 9007199254740993.0, 4.35, 333333333.33333329, 2.2250738585072014e-308,
		"\x00\x01\b\t\n\v\f\r\x1f \x7f\u0080\"\\/<>&'", "\u2028\u2029\ufeff\ufffd\uffff", "é e\u0301 😀 \U0010FFFF",
		"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80 \xe2\x80",
		map[string]any{"b": 1.0, "a": "x", "A": nil, "": true, "aa": 1e3, "a\x00": 0.5},
		map[string]any{"\u20ac": 1.0, "\r": 2.0, "\ufb33": 3.0, "1": 4.0, "😀": 5.0, "\u0080": 6.0, "ö": 7.0},
		map[string]any{"\ue000": 1.0, "\uffff": 2.0, "\U00010000": 3.0, "\ud7ff": 4.0, "x\U00010000": 5.0, "x\uffff": 6.0, "x\uffffa": 7.0},
		map[string]any{"\xff": 1.0, "\ufffe": 2.0, "\ufffd\x01": 3.0},
		map[string]any{"\xff": 1.0, "\xfe": 2.0},
	} {
		sameAsCanonical(t, v)
	}
	for _, v := range []any{math.NaN(), math.Inf(-1), 7, json.Number("7"), []any{struct{}{}}, map[string]any{"a": []string{"x"}}} {
		if got, err := AppendCanonical(nil, v); err == nil {
			t.Errorf("%v has the canonical form %s, wanted an error", v, got)
		}
	}
}

// The order of names is that of UTF-16, whatever the names.
func TestCompareUTF16(t *testing.T) {
	sorted := []string{"", "\x00", "A", "a", "a\x00", "aa", "\u0080", "ö", "\u20ac", "\ud7ff", "\U00010000", "\U00010000a", "😀", "\U0010FFFF", "\ue000", "\ufb33", "\ufffe", "\uffff"}
	for i, a := range sorted {
		for j, b := range sorted {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareUTF16(a, b); got != want {
				t.Errorf("%q and %q compare as %d, wanted %d", a, b, got, want)
			}
		}
	}
}

// A random number is any of the bits of a float64, which random decimals are not.
func TestCanonicalTreeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 7))
	for range 20_000 {
		n := math.Float64frombits(r.Uint64())
		if math.IsNaN(n) || math.IsInf(n, 0) {
			continue
		}
		sameAsCanonical(t, []any{n, math.Trunc(n), float64(r.Uint32()) / 100, math.Ldexp(1, r.IntN(2000)-1000)})
	}
}

// What is read from JSON has the same canonical form by either way.
func FuzzCanonicalTree(f *testing.F) {
	f.Add(`{"a": [1, -0, 1e21, 5e-324, "\u2028\ud83d\ude00\u0000"], "\ufb33": {}, "😀": null}`)
	f.Add(`"\ud800"`)
	f.Add(`[` + strings.Repeat(`[`, 40) + strings.Repeat(`]`, 41))
	f.Fuzz(func(t *testing.T, src string) {
		var v any
		if json.Unmarshal([]byte(src), &v) == nil {
			sameAsCanonical(t, v)
		}
	})
}

package pack

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"
)

// The examples of RFC 8785, as facts about the canonical form that all digests
// are made from.
func TestCanonicalExamples(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"section 3.2.2, values", `{
		  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
		  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
		  "literals": [null, true, false]
		}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"section 3.2.3, order of names", `{
		  "\u20ac": "Euro Sign",
		  "\r": "Carriage Return",
		  "\ufb33": "Hebrew Letter Dalet With Dagesh",
		  "1": "One",
		  "\ud83d\ude00": "Emoji: Grinning Face",
		  "\u0080": "Control",
		  "\u00f6": "Latin Small Letter O With Diaeresis"
		}`, `{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
			`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\uFB33" + `":"Hebrew Letter Dalet With Dagesh"}`},
		{"section 3.2.1, white space", " [ 1 , { } ,\t[ ] ]\r\n", `[1,{},[]]`},
	} {
		got, err := Canonical([]byte(c.src))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", c.name, got, err, c.want)
		}
	}
	// Section 3.2.4 gives the bytes of the example of section 3.2.2.
	const bytes = "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b" +
		"3333333333333333332e333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22" +
		"737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d"
	got, err := Canonical([]byte(`{"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false],
		"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}`))
	if err != nil || hex.EncodeToString(got) != bytes {
		t.Errorf("section 3.2.4: %x (%v)", got, err)
	}
}

// RFC 8785, appendix B: the bits of a number and how it is written.
func TestCanonicalNumbers(t *testing.T) {
	for _, c := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		f := math.Float64frombits(c.bits)
		for _, literal := range []string{strconv.FormatFloat(f, 'e', -1, 64), strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'e', 30, 64)} {
			got, err := Canonical([]byte(literal))
			if err != nil || string(got) != c.want {
				t.Errorf("%016x, written %s: %s (%v), want %s", c.bits, literal, got, err, c.want)
			}
		}
	}
	for _, literal := range []string{"NaN", "Infinity", "1e400"} {
		if got, err := Canonical([]byte(literal)); err == nil {
			t.Errorf("%s has the canonical form %s", literal, got)
		}
	}
}

func TestCanonicalDigest(t *testing.T) {
	doc := read(t, `{"b":[1.0,"\u0061"],"a":-0}`)
	// The SHA-256 of {"a":0,"b":[1,"a"]}, by sha256sum.
	const want = "sha256:341c8bc41b889d9c82b1c3b62ef35a8d27b06537a80060b88cd25f62408a7552"
	digest, err := doc.CanonicalDigest()
	if err != nil || digest != want {
		t.Errorf("%s (%v), want %s", digest, err, want)
	}
	for _, other := range []string{`{"a":0,"b":[1,"a"]}`, "{\r\n\t\"a\": 0e5,\n\t\"\\u0062\": [10e-1, \"a\"]\n}\n"} {
		if got, err := read(t, other).CanonicalDigest(); err != nil || got != digest {
			t.Errorf("%q: %s (%v)", other, got, err)
		}
	}
	for _, other := range []string{`{"a":0,"b":["a",1]}`, `{"a":0,"b":[1,"A"]}`, `{"a":0,"b":[1,"a"],"c":null}`, `{"a":0,"b":["1","a"]}`} {
		if got, err := read(t, other).CanonicalDigest(); err != nil || got == digest {
			t.Errorf("%q has the same digest (%v)", other, err)
		}
	}
	if _, err := Canonical([]byte("{")); err == nil || !strings.HasPrefix(err.Error(), "canonical form: ") {
		t.Errorf("error %v", err)
	}
}

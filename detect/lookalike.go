package detect

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters that are drawn like a Latin one, by that letter: the
// Cyrillic, Greek, Armenian, Hebrew, Cherokee and Latin letters that share a shape
// with it in common typefaces (the idea of a skeleton is that of Unicode, UTS #39).
// They are written as escapes, since nobody could tell them apart here.
var lookalikes = []struct {
	latin rune
	drawn string // the letters that are drawn like it
}{
	{'a', "\u0430\u03B1\u0251\u0561\u2C65"},
	{'b', "\u042C\u0184\u0185\u13CF\u0253"},
	{'c', "\u0441\u03F2\u1D04\u2CA5\uABAF"},
	{'d', "\u0501\u13E7\u0257\u146F"},
	{'e', "\u0435\u04BD\u212E\u1D07\uAB32"},
	{'f', "\u0584\u03DD\u017F\u0192\uA799"},
	{'g', "\u0261\u0581\u018D\u1D83"},
	{'h', "\u04BB\u0570\u13C2\u0266"},
	{'i', "\u0456\u03B9\u0131\u0269\u026A\u13A5\u1D7F\uAB75"},
	{'j', "\u0458\u03F3\u0575\u029D"},
	{'k', "\u043A\u03BA\u0138\u1D0B\u0199"},
	{'l', "\u04CF\u0627\u05D5\u05DF\u01C0\u0196\u07CA\u2113\u13DE"},
	{'m', "\u043C\u1D0D\u0271"},
	{'n', "\u0578\u057C\u03B7\u0272\u0273"},
	{'o', "\u043E\u03BF\u03C3\u0585\u05E1\u0665\u06F5\u0647\u1D0F\u2C9F\u0D20\u101D"},
	{'p', "\u0440\u03C1\u03F1\u2CA3\u1D18"},
	{'q', "\u051B\u0563\u0566"},
	{'r', "\u0433\u1D26\u2C85\u027C\uAB47"},
	{'s', "\u0455\u0282\uA731\u10FD"},
	{'t', "\u0442\u03C4\u1D1B\u01AB"},
	{'u', "\u057D\u03C5\u028B\u1D1C"},
	{'v', "\u0475\u03BD\u05D8\u1D20\u2C75"},
	{'w', "\u051D\u0561\u0461\u03C9\u026F\u1D21"},
	{'x', "\u0445\u03C7\u166E\u157D"},
	{'y', "\u0443\u03B3\u04AF\u028F\u1EFF\u10E7"},
	{'z', "\u1D22\u0290\u01B6"},
	{'A', "\u0410\u0391\u13AA\u15C5"},
	{'B', "\u0412\u0392\u13F4\u15F7\uA7B4"},
	{'C', "\u0421\u03F9\u13DF\u2CA4\u216D"},
	{'D', "\u13A0\u15DE"},
	{'E', "\u0415\u0395\u13AC\u2D39"},
	{'F', "\u03DC\u15B4\uA798"},
	{'G', "\u050C\u13C0\u13F3"},
	{'H', "\u041D\u0397\u13BB\u157C\u2C8E"},
	{'I', "\u0406\u0399\u04C0\u2C92\u2160\u13C6"},
	{'J', "\u0408\u037F\u13AB\u148D"},
	{'K', "\u041A\u039A\u13E6\u2C94"},
	{'L', "\u13DE\u14AA\u2CD0"},
	{'M', "\u041C\u039C\u03FA\u13B7\u2C98"},
	{'N', "\u039D\u2C9A"},
	{'O', "\u041E\u039F\u0555\u2C9E\u2D54\u0B20"},
	{'P', "\u0420\u03A1\u13E2\u2CA2"},
	{'Q', "\u051A\u2D55"},
	{'R', "\u13A1\u13D2\u1587\u01A6"},
	{'S', "\u0405\u054F\u13D5\u13DA"},
	{'T', "\u0422\u03A4\u13A2\u2CA6"},
	{'U', "\u054D\u1200\u144C"},
	{'V', "\u0474\u13D9\u142F\u2D38"},
	{'W', "\u051C\u13B3\u13D4"},
	{'X', "\u0425\u03A7\u2CAC\u2D5D"},
	{'Y', "\u04AE\u03A5\u03D2\u13A9\u2CA8\u0423"},
	{'Z', "\u0396\u13C3"},
	{'_', "\u02CD\uFE4D\uFE4E\uFE4F"},
	{'-', "\u2010\u2011\u2012\u2013\u2014\u2212\u02D7\u06D4\u2043"},
	{'.', "\u0660\u06F0\u2024\u0701\u0702\uA4F8"},
	{':', "\u02D0\u02F8\u0589\u05C3\u2236\uA789\u0703\u0704\uFE30"},
	{'/', "\u2044\u2215\u29F8\u2571"},
	{'3', "\u0417\u0437\u04E0\u04E1\u01B7\u021C\u2CCC"},
	{'4', "\u13CE"},
	{'6', "\u0431\u13EE\u2CD2"},
	{'8', "\u0222\u0223\u09EA"},
	{'9', "\u09ED\uA76E\u2CCA"},
}

// toLatin maps each look-alike to its Latin letter. It is made when the first
// text is met that is not plain.
var toLatin = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for _, l := range lookalikes {
		for _, r := range l.drawn {
			// A shape between two letters, such as that of an upright stroke, counts
			// as the one that comes first.
			if was, ok := m[r]; !ok || l.latin < was {
				m[r] = l.latin
			}
		}
	}
	return m
})

// strokes are ASCII characters that are taken for one another beside foreign
// letters: upright strokes and circles.
var strokes = strings.NewReplacer("I", "l", "1", "l", "|", "l", "0", "O")

// Skeleton returns a text in which letters that look alike are equal: in Unicode's
// compatibility form, with Latin letters for their look-alikes and without hidden
// characters. Two names with one skeleton are the same to a reader.
func Skeleton(text string) string { return strokes.Replace(Plain(text)) }

// Plain returns the text that a reader sees, as far as it can be written in Latin
// letters: hidden characters are gone, compatibility forms such as fullwidth
// letters are undone, and look-alikes are the Latin letters that they look like.
func Plain(text string) string {
	if plain(text) {
		return text
	}
	latinOf := toLatin()
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		if latin, ok := latinOf[r]; ok {
			return latin
		}
		return r
	}, norm.NFKC.String(text))
}

// Foreign returns the characters of an identifier that make it look like another
// one: those that are not ASCII, each once, in order.
func Foreign(text string) (runes []rune) {
	for _, r := range text {
		if r > unicode.MaxASCII && !slices.Contains(runes, r) {
			runes = append(runes, r)
		}
	}
	return runes
}

package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

var texts = []string{"", "a", "\r", "\r\n", "\n\r", "a\r\nb\rc\nd", "🦀\r\né€x\n", "{\"a\": \"🦀\"}\r\n", "x\U0001F468\u200d\U0001F469y\n\n"}

// A place leads to its offset and back, and its character counts what is before it
// in the line, as the standard library counts it.
func FuzzPlaces(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4<<10 || !utf8.ValidString(src) {
			return // a client's text is valid
		}
		x := newText(src)
		for at := 0; at <= len(src); at++ {
			if !boundary(src, at) {
				continue
			}
			lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(src[:at], "\r\n", "\n"), "\r", "\n"), "\n")
			before := lines[len(lines)-1]
			for units, want := range map[encoding]int{utf8Units: len(before), utf16Units: len(utf16.Encode([]rune(before)))} {
				p := x.position(at, units)
				if p != (Position{Line: len(lines) - 1, Character: want}) {
					t.Fatalf("offset %d of %q is %+v, want line %d character %d (%s)", at, src, p, len(lines)-1, want, units)
				}
				if back := x.offset(p, units); back != at {
					t.Fatalf("offset %d of %q is %+v, which is %d (%s)", at, src, p, back, units)
				}
			}
		}
	})
}

// Places that are not there stand for the nearest that are.
func TestPlacesOutside(t *testing.T) {
	x := newText("ab\r\n🦀c\n")
	for _, c := range []struct {
		p    Position
		want int
	}{
		{Position{-1, 5}, 0}, {Position{0, -3}, 0}, {Position{0, 99}, 2}, {Position{1, 1}, 4}, {Position{1, 2}, 8},
		{Position{2, 0}, 10}, {Position{2, 7}, 10}, {Position{99, 0}, 10},
	} {
		if got := x.offset(c.p, utf16Units); got != c.want {
			t.Errorf("%+v is %d, want %d", c.p, got, c.want)
		}
	}
	if got := x.offset(Position{1, 3}, utf8Units); got != 4 {
		t.Errorf("the middle of a character is %d", got)
	}
	for at, want := range map[int]Position{-1: {0, 0}, 3: {0, 2}, 99: {2, 0}} {
		if got := x.position(at, utf16Units); got != want {
			t.Errorf("%d is %+v, want %+v", at, got, want)
		}
	}
}

// The difference of two texts leads from one to the other, and parts no character.
func FuzzDifference(f *testing.F) {
	for _, a := range texts {
		for _, b := range texts {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		start, end, with := difference(a, b)
		x := newText(a)
		for _, units := range []encoding{utf8Units, utf16Units} {
			if got := x.replace(x.span(start, end, units), with, units); got.src != b {
				t.Fatalf("from %q to %q it gives %q (%s)", a, b, got.src, units)
			}
		}
		if a == b && (start != end || with != "") {
			t.Fatalf("%q differs from itself", a)
		}
	})
}

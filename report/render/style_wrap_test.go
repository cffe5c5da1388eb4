package render

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		what, line string
		columns    int
		want       string
	}{
		{"nothing is asked for", "  a line of many words and more", 0, "  a line of many words and more"},
		{"it fits", "  twenty-two columns ok", 23, "  twenty-two columns ok"},
		{"one column less", "  twenty-two columns ok", 22, "  twenty-two columns\n  ok"},
		{"too little room", "                an indent and words that do not fit", 30, "                an indent and words that do not fit"},
		{"a mark", "  → do this, and then do that", 25, "  → do this, and then do\n    that"},
		{"a letter is no mark", "  a word or two, and then more", 25, "  a word or two, and then\n  more"},
		{"a painted mark", "  \x1b[31m✗\x1b[0m do this, and then do that", 25, "  \x1b[31m✗\x1b[0m do this, and then do\n    that"},
		{"a long word", "see " + strings.Repeat("x", 30) + " too", 20, "see\n" + strings.Repeat("x", 30) + "\ntoo"},
		{"a long word at the beginning", "  " + strings.Repeat("x", 30) + " too", 25, "  " + strings.Repeat("x", 30) + "\n  too"},
		{"blanks within", "one  two  three  four  five", 22, "one  two  three  four\nfive"},
		{"a path with blanks", "here is " + solid("my packs/a b.json:1:2:") + " error", 24, "here is\nmy packs/a b.json:1:2:\nerror"},
		{"a colour over the end", "a \x1b[2mdim text of some words\x1b[0m and on", 20, "a \x1b[2mdim text of some\x1b[0m\n\x1b[2mwords\x1b[0m and on"},
		{"a colour that ends before", "a \x1b[2mdim\x1b[0m text of some words", 20, "a \x1b[2mdim\x1b[0m text of some\nwords"},
		{"wide letters", "契約書 契約書 契約書 契約書", 20, "契約書 契約書 契約書\n契約書"},
		{"marks on letters", "e\u0301e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301e\u0301 12345678 9", 20, "e\u0301e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301e\u0301 12345678\n9"},
		{"blanks at the end", "twenty columns it is" + "     ", 20, "twenty columns it is     "},
		{"blanks alone", strings.Repeat(" ", 50), 20, strings.Repeat(" ", 50)},
		{"a colour that does not end", "\x1b[2 and some more of the words", 20, "\x1b[2 and some more of\nthe words"},
		{"nothing", "", 20, ""},
	} {
		if got := wrap(c.line, c.columns); got != c.want {
			t.Errorf("%s: %q in %d columns is\n%q\nwanted\n%q", c.what, c.line, c.columns, got, c.want)
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9]*m")

// Wrapping changes blanks alone, breaks nothing that is solid, and leaves no line
// too long that could be broken.
func FuzzWrap(f *testing.F) {
	f.Add("  → set pack_version to 2.0.0, or let packgate bump do it", "my packs/a b.json", 30)
	f.Add("契約書 e\u0301 契約書 契約書 ✗", "a/b", 24)
	f.Add("    a\tb\x00c \x1b[2m", "\x00", 60)
	f.Fuzz(func(t *testing.T, words, path string, columns int) {
		path += "/pack.json"
		whole := strings.ReplaceAll(solid(path), joint, " ")
		line := "  " + text(words) + " " + solid(path) + " " + text(words)
		got := wrap(line, columns)
		if !strings.Contains(got, whole) {
			t.Errorf("%q is broken in %q", whole, got)
		}
		if a, b := strings.Fields(got), strings.Fields(strings.ReplaceAll(line, joint, " ")); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("%q became %q", b, a)
		}
		painted := wrap((&terminal{style: Style{Color: true}}).paint("red", line), columns)
		if strings.Count(painted, colorStart) != 2*len(strings.Split(painted, "\n")) {
			t.Errorf("a colour goes over the end of a line: %q", painted)
		}
		if columns-hanging(line) < narrowest {
			return
		}
		for part := range strings.SplitSeq(got, "\n") {
			words := strings.FieldsFunc(strings.ReplaceAll(part, whole, "path"), func(r rune) bool { return r == ' ' })
			if slices.ContainsFunc(words, func(s string) bool { return columnsOf(s) == 0 }) {
				continue // nobody sees where they stand
			}
			if len(words) > 0 && columnsOf(words[0]) == 1 {
				words = words[1:] // a mark, which stays with what follows
			}
			if columnsOf(strings.TrimRight(part, " ")) > columns && len(words) > 1 {
				t.Errorf("a line of more than %d columns could be broken: %q", columns, part)
			}
		}
	})
}

// A narrow report says what a wide one says, and each of its lines is safe.
func TestWidth(t *testing.T) {
	p := reporttest.Failing()
	p.Path = "my packs/support/pack.json"
	for i := range p.Findings {
		p.Findings[i].File = p.Path
	}
	p.Findings[0].Message = strings.Repeat("x", 70) + " ::error::forged"
	r := reporttest.Run(model.Failed, p, reporttest.Goldens())
	show := func(style Style) string {
		var b bytes.Buffer
		if err := Terminal(&b, r, style); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := show(Style{Width: 60})
	casefile.Golden(t, filepath.Join("testdata", "golden", "narrow.txt"), got)
	if regexp.MustCompile(`(?m)^\s*::`).MatchString(got) {
		t.Error("a line that was broken begins with a command")
	}
	if a, b := strings.Fields(got), strings.Fields(show(Style{})); len(a) != len(b) {
		t.Errorf("the narrow report has %d words, and the wide one %d", len(a), len(b))
	}
	if plain := colours.ReplaceAllString(show(Style{Width: 60, Color: true}), ""); plain != got {
		t.Error("colours change where lines are broken")
	}
}

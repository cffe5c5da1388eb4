package render

import (
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/test/reporttest"
)

// A reader of its own stands against the escaping: it reads Markdown as the
// specification says and knows nothing of how it was written. It refuses
// whatever could be markup, so all that it accepts is text, code spans and the
// elements that split text.

// reading is what a reader of the Markdown gets to see.
type reading struct {
	shown     string   // the text without markup
	stretches []string // text outside of code, as it is between two tags
}

// read reads inline Markdown. It fails on any character that could be markup
// and is neither escaped nor part of a code span or a span element.
func read(s string) (reading, error) {
	var r reading
	stretch := ""
	end := func() {
		if stretch != "" {
			r.stretches = append(r.stretches, stretch)
		}
		stretch = ""
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0:
			stretch += s[i+1 : i+2]
			r.shown += s[i+1 : i+2]
			i += 2
		case strings.HasPrefix(s[i:], "<span>"):
			end()
			i += len("<span>")
		case strings.HasPrefix(s[i:], "</span>"):
			end()
			i += len("</span>")
		case c == '`':
			code, size, err := readCode(s[i:])
			if err != nil {
				return r, err
			}
			end()
			r.shown += code
			i += size
		case strings.IndexByte("\\`*_[]<>#~&|!", c) >= 0, c == '\n', c == '\r':
			return r, fmt.Errorf("%q at byte %d of %q is active", c, i, s)
		default:
			stretch += s[i : i+1]
			r.shown += s[i : i+1]
			i++
		}
	}
	end()
	return r, nil
}

// readCode reads a code span (CommonMark 0.29, section 6.3).
func readCode(s string) (code string, size int, err error) {
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if ticks > 80 {
		return "", 0, fmt.Errorf("%d backticks are too many for the reference implementation", ticks)
	}
	for i := ticks; i < len(s); {
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == ticks {
			code = s[ticks:i]
			if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.Trim(code, " ") != "" {
				code = code[1 : len(code)-1]
			}
			return code, i + run, nil
		}
		i += max(run, 1)
	}
	return "", 0, fmt.Errorf("the code span that begins %.20q has no end", s)
}

// linked is what GitHub looks for in a stretch of text, written down from its
// documentation ("Autolinked references and URLs", "Mentioning people and
// teams", "Using emojis", "Writing mathematical expressions").
var linked = []*regexp.Regexp{
	regexp.MustCompile(`@[a-zA-Z0-9_]`),
	regexp.MustCompile(`(?i)gh-\d`),
	regexp.MustCompile(`#\d`),
	regexp.MustCompile(`[A-Za-z]+-\d+`),
	regexp.MustCompile(`(?i)GHSA(-[0-9a-z]{4}){3}`),
	regexp.MustCompile(`(?i)\b(https?|ftp)://`),
	regexp.MustCompile(`(?i)www\.`),
	regexp.MustCompile(`(?i)(mailto|xmpp):\S+@`),
	regexp.MustCompile(`[a-zA-Z0-9.+_-]+@[a-zA-Z0-9]`),
	regexp.MustCompile(`:[a-z0-9_+-]+:`),
	regexp.MustCompile(`\b[0-9a-f]{7,40}\b`),
	regexp.MustCompile(`\$.+\$`),
}

// harmless checks the laws that hold for all Markdown of a pack's text.
func harmless(t *testing.T, markdown, want string) {
	t.Helper()
	r, err := read(markdown)
	if err != nil {
		t.Fatal(err)
	}
	if r.shown != want {
		t.Errorf("shows  %q\nwanted %q\nfrom   %q", r.shown, want, markdown)
	}
	for _, stretch := range r.stretches {
		for _, pattern := range linked {
			if found := pattern.FindString(stretch); found != "" {
				t.Errorf("%q would become active in %q", found, markdown)
			}
		}
	}
	for _, forged := range []string{"<!--", "##[", "\n", "\r"} {
		if strings.Contains(markdown, forged) {
			t.Errorf("%q is in the source %q", forged, markdown)
		}
	}
	drawn(t, markdown)
}

// drawn checks that every character is one that can be seen.
func drawn(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector) ||
			r >= 0x2028 && r <= 0x2029 || r >= 0xe0000 && r <= 0xe0fff || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x34f {
			t.Errorf("%U is left in %.200q", r, s)
		}
	}
}

// checkEscaping checks all laws of the escaping for one text.
func checkEscaping(t *testing.T, s string) {
	t.Helper()
	want := Visible(shorten(s, maxMarkdownText))
	drawn(t, want)
	harmless(t, Markdown(s), want)
	code := Code(s)
	if strings.Trim(want, " ") == "" {
		want = " "
	}
	harmless(t, code, want)
	if utf8.ValidString(s) { // the message holds the value as Go quotes it
		message := fmt.Sprintf("%s is %q, wanted %q", "x", s, "y")
		if utf8.RuneCountInString(message) <= maxMarkdownText {
			harmless(t, Message(message), "x is "+want+", wanted y")
		}
	}
	if _, err := read(Message(s)); err != nil {
		t.Error(err)
	}
	checkCells(t, Markdown(s), code, Message(s))
	checkInert(t, s)
	checkHTML(t, s)
}

// checkHTML holds that a line of HTML has no markup but what splits text, shows
// the text as it stands and becomes no link.
func checkHTML(t *testing.T, s string) {
	t.Helper()
	got := HTML(s)
	stretches := regexp.MustCompile(`</?span>`).Split(got, -1)
	if strings.ContainsAny(strings.Join(stretches, ""), "<>\n") || strings.Contains(got, "##[") {
		t.Errorf("%q is active in HTML", got)
	}
	for i, stretch := range stretches {
		stretches[i] = html.UnescapeString(stretch)
		for _, pattern := range linked {
			if found := pattern.FindString(stretches[i]); found != "" {
				t.Errorf("%q would become active in %q", found, got)
			}
		}
	}
	if shown, want := strings.Join(stretches, ""), Visible(shorten(s, maxMarkdownText)); shown != want {
		t.Errorf("%q is shown as %q", want, shown)
	}
}

// separators finds what GitHub splits a table row at, and what remains.
func checkCells(t *testing.T, inlines ...string) {
	t.Helper()
	for _, inline := range inlines {
		c := cell(inline)
		for i := range len(c) {
			if c[i] == '|' && (i == 0 || c[i-1] != '\\') {
				t.Errorf("a pipe splits the cell %q", c)
			}
		}
		if back := strings.ReplaceAll(c, `\|`, "|"); back != inline {
			t.Errorf("the cell %q is read as %q, and was written as %q", c, back, inline)
		}
	}
}

func checkInert(t *testing.T, s string) {
	t.Helper()
	for _, line := range strings.Split(Inert("  "+s), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("the line %q is a command", line)
		}
	}
}

func TestEscaping(t *testing.T) {
	for i, s := range reporttest.Hostile(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkEscaping(t, s) })
	}
}

// TestEscapingOfMixtures puts pieces together at random, since what is harmless
// alone may not be so beside another.
func TestEscapingOfMixtures(t *testing.T) {
	pieces := strings.Split("@ # 1 a G H - : / w . ` ``` | \\ < ! -- > & ; $ * _ [ ] ( ) ~ = + tada www http :// abcdef0 \n \x1b \u202e é 日 ::error:: ##[ <!-- <span> </span> \\` \\|", " ")
	pieces = append(pieces, " ", "  ", `"`, "GHSA-abcd-abcd-abcd", strings.Repeat("`", 45))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if checkEscaping(t, b.String()); t.Failed() {
			t.Fatalf("for %q", b.String())
		}
	}
}

func FuzzEscaping(f *testing.F) {
	for _, s := range reporttest.Hostile(f) {
		f.Add(s)
	}
	f.Fuzz(checkEscaping)
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain":             "plain",
		"a\nb\tc\r":         "a b c ",
		"\x1b[2J":           `\u{1b}[2J`,
		"admin\u202egnp":    `admin\u{202e}gnp`,
		"zero\u200bwidth":   `zero\u{200b}width`,
		"\U000e0041":        `\u{e0041}`,
		"\u3164":            `\u{3164}`,
		"naïve 日本 ٣ 😀":      "naïve 日本 ٣ 😀",
		"line\u2028separat": `line\u{2028}separat`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, wanted %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"日本語", 3, "日本語"},
		{"日本語です", 3, "日本語… (2 more characters)"},
		{strings.Repeat("x", 60000), 5, "xxxxx… (59995 more characters)"},
	} {
		if got := shorten(c.in, c.n); got != c.want {
			t.Errorf("shorten(%.10q, %d) = %q, wanted %q", c.in, c.n, got, c.want)
		}
	}
}

func TestMessage(t *testing.T) {
	for in, want := range map[string]string{
		`pack_version "1.1.0" is a step`:  "pack\\_version `1.1.0` is a step",
		`"a\"b" and "c|d"`:                "`a\"b` and `c|d`",
		`there is no "`:                   `there is no "`,
		"run `packgate check --fix`":      "run `packgate check --fix`",
		"`@|` and `":                      "\\`<span>@</span>\\|\\` and \\`",
		`"\x1b[31m"`:                      "`\\u{1b}[31m`",
		`wanted one of "a", "b"`:          "wanted one of `a`, `b`",
		`"\q" is no Go string`:            "`\"\\q\"` is no Go string",
		`add {"a": ["b", 1]} to "c"`:      "add `{\"a\": [\"b\", 1]}` to `c`",
		`was {"a":"b… and is "c"`:         "was {`a`:\"b… and is `c`",
		`a 5" disk and "c"`:               "a 5\" disk and `c`",
		`ask "@everyone" or @everyone`:    "ask `@everyone` or <span>@</span>everyone",
		`#"1<!--"`:                        `\#<span>1\<\!--</span>`,
		`costs $5 and $6`:                 `costs <span>$</span>5 and <span>$</span>6`,
		`in 0123456789abcdef and in case`: `in 012345<span>6</span>789abc<span>d</span>ef and in case`,
	} {
		if got := Message(in); got != want {
			t.Errorf("Message(%q)\n got    %s\n wanted %s", in, got, want)
		}
	}
}

// What is not looked at closely could not have been found.
func TestMayLink(t *testing.T) {
	pieces := strings.Split("@ # 1 a G H - : / w . $ www http :// abcdef0 é x g 0123456 _ + ", " ")
	random := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if s := b.String(); autolinked().MatchString(s) && !mayLink(s) {
			t.Fatalf("%q is missed", s)
		}
	}
}

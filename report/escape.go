package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Visible returns the text with every character that could act on what shows
// it written out: control characters (a terminal obeys them), format characters
// (bidirectional controls reorder what one reads, zero-width ones hide) and
// line separators become \u{…}. Line breaks and tabs become blanks.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markdownActive are the ASCII characters that Markdown (GitHub Flavored
// Markdown, section 2.4) may give a meaning; a backslash takes it away.
// Those that act at the beginning of a line only are not among them, since no
// text of a pack begins one.
const markdownActive = "\\`*_[]<>#~$&|"

// autolinked finds what GitHub links outside of code without any markup:
// mentions, issue references, URLs, www hosts and emoji names.
var autolinked = regexp.MustCompile(`@|#[0-9]|://|[wW]{3}\.|[gG][hH]-[0-9]|:[a-zA-Z0-9_+-]+:`)

// Markdown returns text as it stands, for a paragraph or a table cell: nothing
// in it acts as Markdown or HTML, mentions anyone or becomes a link.
func Markdown(s string) string {
	var b strings.Builder
	rest := Visible(s)
	for rest != "" {
		at := autolinked.FindStringIndex(rest)
		if at == nil {
			b.WriteString(escapeActive(rest))
			break
		}
		// An HTML comment splits the text, so that the filters that look for
		// links in it find none.
		b.WriteString(escapeActive(rest[:at[0]+1]))
		b.WriteString("<!-- -->")
		rest = rest[at[0]+1:]
	}
	return b.String()
}

func escapeActive(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(markdownActive, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Code returns a Markdown code span that shows the text as it stands, also
// inside a table cell.
func Code(s string) string {
	s = strings.ReplaceAll(Visible(s), "|", `\|`)
	if strings.TrimSpace(s) == "" {
		return "` `"
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' {
		pad = " "
	}
	return fence + pad + s + pad + fence
}

func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// quoted finds values as messages quote them (Go's %q).
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Message returns a finding's message in Markdown: quoted values as code spans,
// all else as text.
func Message(s string) string {
	var b strings.Builder
	last := 0
	for _, at := range quoted.FindAllStringIndex(s, -1) {
		b.WriteString(Markdown(s[last:at[0]]))
		value, err := strconv.Unquote(s[at[0]:at[1]])
		if err != nil {
			value = s[at[0]:at[1]]
		}
		b.WriteString(Code(value))
		last = at[1]
	}
	b.WriteString(Markdown(s[last:]))
	return b.String()
}

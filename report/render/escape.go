package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds on one text of a pack, in characters, so that no value pushes everything else
// out of sight; the JSON report holds every value whole.
const (
	maxTerminalText = 2000
	maxMarkdownText = 500
)

// shorten cuts a text to n characters and says how many are left out.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return fmt.Sprintf("%s… (%d more characters)", s[:i], utf8.RuneCountInString(s[i:]))
		}
		n--
	}
	return s
}

// Visible returns the text in one line. Every character that could act on what displays it is
// written out: control characters (a terminal obeys them), format characters (bidirectional ones
// reorder what one reads), characters that are not drawn (they hide text, or make two names look
// like one) and line separators become \u{…}. Line breaks and tabs become blanks.
func Visible(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainASCII reports whether a text holds, as most do, only characters of ASCII that are drawn.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character is not drawn, or acts on its neighbours:
// Unicode's categories C, Zl and Zp and its default ignorable characters.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// markdownActive are the ASCII characters that Markdown (GitHub Flavored Markdown,
// section 2.4) may give a meaning, which a backslash takes away. Those that act at
// the beginning of a line only are not among them: no text of a pack begins one.
const markdownActive = "\\`*_[]<>#~&|!"

// autolinked finds what GitHub turns into something else outside of code without any
// markup: mentions, mathematics, issue references, URLs, www hosts, tickets (GH-1 and
// those that a repository defines), advisories, emoji names and commits.
var autolinked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[@$]|#[0-9]|://|[wW]{3}\.|[a-zA-Z]-[0-9]|[gG][hH][sS][aA]-|:[a-zA-Z0-9_+-]+:|[0-9a-fA-F]{7}`)
})

// Markdown escapes text for a paragraph or a table cell: nothing in it acts as Markdown or HTML,
// mentions anyone or becomes a link. It is cut after 500 characters.
func Markdown(s string) string { return inert(s, escapeActive) }

// HTML escapes text for the line that begins an HTML block, in which a backslash escapes nothing.
// A text of more than 500 characters is cut.
func HTML(s string) string { return inert(s, escapeHTML) }

// escapeHTML also breaks up what GitHub's runner takes for a command.
func escapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "##[", "#&#35;[")
}

// inert returns text that is escaped and in which nothing becomes a link.
func inert(s string, escape func(string) string) string {
	var b strings.Builder
	rest := Visible(shorten(s, maxMarkdownText))
	for rest != "" {
		var at []int
		if mayLink(rest) {
			at = autolinked().FindStringIndex(rest)
		}
		if at == nil {
			b.WriteString(escape(rest))
			break
		}
		// GitHub looks for these in each stretch of text between two tags. One character in an
		// element of its own splits the stretch, and nobody sees it. GitHub's documentation asks
		// for it around a dollar sign, on which a backslash has no effect.
		split := at[0]
		if strings.Trim(rest[at[0]:at[1]], "0123456789abcdefABCDEF") == "" {
			split = at[1] - 1 // six digits are too few for a commit
		}
		b.WriteString(escape(rest[:split]))
		b.WriteString("<span>" + escape(rest[split:split+1]) + "</span>")
		rest = rest[split+1:]
	}
	return b.String()
}

// mayLink reports whether autolinked can find anything in a text, at a glance and to save time.
func mayLink(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '@', c == '$', c == '#', c == ':', c == '-', c == '.':
			return true
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			if digits++; digits == 7 {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

func escapeActive(s string) string {
	if !strings.ContainsAny(s, markdownActive) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(markdownActive, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cell returns inline Markdown for a table cell. GitHub splits a row at its pipes before it looks
// for code spans, and takes one backslash from each pipe, so that here each needs one more.
func cell(inline string) string { return strings.ReplaceAll(inline, "|", `\|`) }

// longestFence is how many backticks may enclose a code span. The reference
// implementation stops looking for the end of a span beyond 80.
const longestFence = 40

// Code returns a Markdown code span that shows the text unchanged. Text that not even a code span
// can hold safely is returned as Markdown returns it: very long runs of backticks, and
// beginnings of comments and of log commands, which programs look for in the source. A
// text of more than 500 characters is cut.
func Code(s string) string {
	text := Visible(shorten(s, maxMarkdownText))
	fence := longestRun(text) + 1
	if fence > longestFence || strings.Contains(text, "<!--") || strings.Contains(text, "##[") {
		return "<span>" + Markdown(s) + "</span>" // joins with no neighbour
	}
	if strings.Trim(text, " ") == "" {
		return "` `"
	}
	pad := ""
	first, last := text[0], text[len(text)-1]
	if first == '`' || last == '`' || first == ' ' && last == ' ' {
		pad = " " // one blank on either side belongs to the span and is not shown
	}
	ticks := strings.Repeat("`", fence)
	return ticks + pad + text + pad + ticks
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

// quoted finds values as messages quote them (Go's %q), commands in backquotes, and whole digests.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|\x60[a-z][^\x60\n]+\x60|sha256:[0-9a-f]{64})`)
})

// Message returns a finding's message in Markdown: quoted values, commands and digests as code
// spans, and the rest as text. A message of more than 500 characters is cut.
func Message(s string) string {
	var b strings.Builder
	quotes(shorten(s, maxMarkdownText), func(words string) { b.WriteString(Markdown(words)) }, func(value string) { b.WriteString(Code(value)) })
	return b.String()
}

// quotes goes through a message: by turns its words and, unquoted, what it quotes. A value that
// is written as JSON is quoted as a whole, and a quote that ends nowhere, or in the middle of a
// word, is none: the value behind it was cut.
func quotes(s string, say, show func(string)) {
	last := 0
	for i := 0; i < len(s); i++ {
		value, end := quotedAt(s, i)
		if end == 0 {
			continue
		}
		say(s[last:i])
		show(value)
		last, i = end, end-1
	}
	say(s[last:])
}

// quotedAt returns the value that a message quotes from an index on, and where it ends; 0 for none.
func quotedAt(s string, i int) (value string, end int) {
	switch s[i] {
	case '"', '`', 's':
		if i > 0 && isWord(s[i-1]) || s[i] == 's' && !strings.HasPrefix(s[i:], "sha256:") {
			return "", 0
		}
		at := quoted().FindStringIndex(s[i:])
		if at == nil {
			return "", 0
		}
		end = i + at[1]
		if end < len(s) && isWord(s[end]) {
			return "", 0
		}
		if unquoted, err := strconv.Unquote(s[i:end]); err == nil {
			return unquoted, end
		}
		return s[i:end], end
	case '{', '[':
		d := json.NewDecoder(strings.NewReader(s[i:]))
		var any json.RawMessage
		if d.Decode(&any) != nil || !bytes.ContainsRune(any, '"') {
			return "", 0
		}
		return string(any), i + len(any)
	}
	return "", 0
}

// isWord reports whether a byte is of a word, beside which no quote begins or ends.
func isWord(c byte) bool {
	return c == '_' || c == '"' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// command finds what GitHub's runner takes for a command when it reads a log:
// two colons at the beginning of a line, and the older form anywhere in one.
var command = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[\s\p{Z}]*::|##\[`) })

// Inert returns lines of a log in which nothing is a command to GitHub's runner.
func Inert(lines string) string {
	if !strings.Contains(lines, "::") && !strings.Contains(lines, "##[") {
		return lines
	}
	return command().ReplaceAllStringFunc(lines, func(found string) string {
		if before, ok := strings.CutSuffix(found, "##["); ok {
			return before + `#\u{23}[`
		}
		return strings.TrimSuffix(found, ":") + `\u{3a}`
	})
}

// Fenced returns a text in a fenced code block of Markdown (GitHub Flavored Markdown,
// section 4.5), which nothing in it can close, and in which nothing is a command to a runner.
func Fenced(text string) string {
	return strings.Join(fencedIn("text", Inert(text)), "\n") + "\n"
}

package lsp

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding says in which units a character of a position is counted (LSP 3.17,
// "Position").
type encoding string

// The encodings that the server can count in. A client that names none counts in
// UTF-16.
const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
)

// text is a text with the places where its lines begin. As the protocol has it, a
// line ends with \n, \r\n or a \r alone; packgate's own lines end with \n only, so
// places are handed over as byte offsets.
type text struct {
	src   string
	lines []int
}

func newText(src string) *text {
	t := &text{src: src, lines: make([]int, 1, 2+strings.Count(src, "\n"))}
	for i := range len(src) {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// end returns the byte offset at which the content of a line ends.
func (t *text) end(line int) int {
	if line+1 == len(t.lines) {
		return len(t.src)
	}
	end := t.lines[line+1]
	if strings.HasSuffix(t.src[t.lines[line]:end], "\r\n") {
		return end - 2
	}
	return end - 1
}

// position returns the line and character of a byte offset. An offset outside of the
// text, or between \r and \n, gives the nearest place before it.
func (t *text) position(offset int, units encoding) Position {
	offset = min(max(offset, 0), len(t.src))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > offset }) - 1
	before := t.src[t.lines[line]:min(offset, t.end(line))]
	if units == utf8Units {
		return Position{Line: line, Character: len(before)}
	}
	count := 0
	for _, r := range before {
		count += utf16.RuneLen(r)
	}
	return Position{Line: line, Character: count}
}

// offset returns the byte offset of a position. A character beyond the end of its line
// stands for that end, a line beyond the last for the end of the text, and one in the
// middle of a character for its beginning.
func (t *text) offset(p Position, units encoding) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.src)
	}
	at, end := t.lines[p.Line], t.end(p.Line)
	if units == utf8Units {
		at = min(at+max(p.Character, 0), end)
		for at > t.lines[p.Line] && at < len(t.src) && !utf8.RuneStart(t.src[at]) {
			at--
		}
		return at
	}
	for left := p.Character; left > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(t.src[at:])
		if left -= utf16.RuneLen(r); left < 0 {
			break
		}
		at += size
	}
	return at
}

// span returns the range between two byte offsets.
func (t *text) span(start, end int, units encoding) Range {
	return Range{Start: t.position(start, units), End: t.position(end, units)}
}

// replace returns the text with a range of it replaced.
func (t *text) replace(r Range, with string, units encoding) *text {
	start := t.offset(r.Start, units)
	end := max(start, t.offset(r.End, units))
	return newText(t.src[:start] + with + t.src[end:])
}

// difference returns the smallest edit that makes one text of another: the byte range
// of the first and what takes its place. It never begins or ends within a character,
// nor between \r and \n.
func difference(from, to string) (start, end int, with string) {
	for start < min(len(from), len(to)) && from[start] == to[start] {
		start++
	}
	for start > 0 && !(boundary(from, start) && boundary(to, start)) {
		start--
	}
	tail := 0
	for tail < min(len(from), len(to))-start && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	for tail > 0 && !(boundary(from, len(from)-tail) && boundary(to, len(to)-tail)) {
		tail--
	}
	return start, len(from) - tail, to[start : len(to)-tail]
}

// boundary reports whether a text can be parted at an offset.
func boundary(s string, at int) bool {
	return at == 0 || at == len(s) || utf8.RuneStart(s[at]) && !(s[at-1] == '\r' && s[at] == '\n')
}

package pack

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func (r *reader) badUTF8() bool {
	return r.fault(Encoding, r.at, r.at+1, fmt.Sprintf("the byte 0x%02X is not valid UTF-8", r.src[r.at]), "save the file as UTF-8")
}

// text reads a string (RFC 8259, section 7), at its opening quote.
func (r *reader) text() (string, bool) {
	open := r.at
	r.at++
	// Most strings need no decoding: those are taken as they stand.
	for r.at < len(r.src) && r.src[r.at] >= 0x20 && r.src[r.at] < utf8.RuneSelf && r.src[r.at] != '\\' {
		if r.src[r.at] == '"' {
			s := r.plain[open+1 : r.at]
			r.at++
			return s, true
		}
		r.at++
	}
	buf := append([]byte(nil), r.src[open+1:r.at]...)
	for r.at < len(r.src) {
		switch c := r.src[r.at]; {
		case c == '"':
			r.at++
			return string(buf), true
		case c == '\\':
			var ok bool
			if buf, ok = r.escape(buf, open); !ok {
				return "", false
			}
		case c < 0x20:
			return "", r.control(c)
		default:
			_, size := utf8.DecodeRune(r.src[r.at:])
			if size == 1 && c >= utf8.RuneSelf {
				return "", r.badUTF8()
			}
			buf = append(buf, r.src[r.at:r.at+size]...)
			r.at += size
		}
	}
	return "", r.unclosed(open)
}

func (r *reader) unclosed(open int) bool {
	return r.fault(Syntax, open, len(r.src), "the string that begins here is not closed", "add the closing double quote")
}

// control notes a control character in a string. A line break there is nearly
// always a forgotten quote.
func (r *reader) control(c byte) bool {
	message, escaped := fmt.Sprintf("a string contains the control character U+%04X", c), fmt.Sprintf(`\u%04x`, c)
	switch c {
	case '\n', '\r':
		message, escaped = "the line ends within a string", `\n`
	case '\t':
		message, escaped = "a string contains a tab", `\t`
	}
	return r.fault(Syntax, r.at, r.at+1, message, "close the string before it, or write "+escaped)
}

// escape reads one escape sequence, at its backslash, in the string that
// begins at open.
func (r *reader) escape(buf []byte, open int) ([]byte, bool) {
	start := r.at
	if r.at++; r.at == len(r.src) {
		return nil, r.unclosed(open)
	}
	c := r.src[r.at]
	r.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return append(buf, "\"\\/\b\f\n\r\t"[i]), true
	}
	if c == 'u' {
		return r.unicodeEscape(buf, start)
	}
	r.at = start + 1
	return nil, r.badEscape(start)
}

// badEscape notes a backslash, at start, with something after it that no
// escape sequence has.
func (r *reader) badEscape(start int) bool {
	c, size := utf8.DecodeRune(r.src[start+1:])
	if c == utf8.RuneError && size == 1 {
		return r.badUTF8()
	}
	shown, hint := "a backslash before "+character(c), `write \\ for a backslash`
	switch {
	case c == '\'':
		hint = "remove the backslash; a single quote needs none"
	case c > ' ' && c <= unicode.MaxASCII:
		shown = `\` + string(c)
	}
	return r.fault(Syntax, start, start+1+size, shown+" is not an escape sequence", hint)
}

func (r *reader) unicodeEscape(buf []byte, start int) ([]byte, bool) {
	c, ok := r.hex4()
	if !ok {
		return nil, r.fault(Syntax, start, start+2, `\u is not followed by four hexadecimal digits`, `write four digits, or \\ for a backslash`)
	}
	if utf16.IsSurrogate(c) {
		low := rune(-1)
		if r.at+1 < len(r.src) && r.src[r.at] == '\\' && r.src[r.at+1] == 'u' {
			r.at += 2
			low, _ = r.hex4()
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return nil, r.fault(Encoding, start, start+6, "half of a surrogate pair is alone", "write the character itself, or both halves")
		}
	}
	return utf8.AppendRune(buf, c), true
}

// hex4 reads four hexadecimal digits and moves past them when they are there.
func (r *reader) hex4() (rune, bool) {
	if r.at+4 > len(r.src) {
		return 0, false
	}
	c, err := strconv.ParseUint(r.plain[r.at:r.at+4], 16, 16)
	if err != nil {
		return 0, false
	}
	r.at += 4
	return rune(c), true
}

// scanNumber returns where the number at start ends and whether it is written
// as an integer. ok is false where a digit is missing; end is then its place.
func scanNumber(src []byte, start int) (end int, integer, ok bool) {
	i := start
	peek := func() byte {
		if i < len(src) {
			return src[i]
		}
		return 0
	}
	digits := func() bool {
		first := i
		for c := peek(); c >= '0' && c <= '9'; c = peek() {
			i++
		}
		return i > first
	}
	if peek() == '-' {
		i++
	}
	if peek() == '0' {
		i++
	} else if !digits() {
		return i, false, false
	}
	integer = true
	if peek() == '.' {
		i, integer = i+1, false
		if !digits() {
			return i, false, false
		}
	}
	if c := peek(); c == 'e' || c == 'E' {
		i, integer = i+1, false
		if c := peek(); c == '+' || c == '-' {
			i++
		}
		if !digits() {
			return i, false, false
		}
	}
	return i, integer, true
}

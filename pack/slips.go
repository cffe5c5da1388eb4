package pack

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding"
)

// What the reader can want at a place, as messages name it.
const (
	wantValue  = "a value"
	wantName   = "a member name in double quotes"
	wantColon  = "':'"
	wantMember = "',' or '}'" // after a member
	wantItem   = "',' or ']'" // after an item
	wantDigit  = "a digit"
)

const (
	hintComment = "remove the comment; JSON has none"
	hintQuotes  = "use straight double quotes"
	hintZeros   = "write the number without leading zeros, or as a string"
	hintNumber  = "write numbers as JSON does: digits before and after the point, no leading plus, no NaN or Infinity"
)

// unexpected notes that something else than wanted is at the next byte. It
// knows the slips that people make most and says what to do about each.
func (r *reader) unexpected(wanted string) bool {
	if r.at >= len(r.src) {
		r.fault(Syntax, r.at, r.at, "the document ends where "+wanted+" was expected", "close what is open, or restore the missing rest")
		if r.open != nil {
			opened := r.doc.Range(r.open.Start, r.open.Start+1) // the innermost object or array
			r.faults[len(r.faults)-1].Related = []finding.Related{{Location: opened, Message: "opened here"}}
		}
		return false
	}
	end, shown, ok := r.token()
	if !ok {
		return r.badUTF8()
	}
	return r.fault(Syntax, r.at, end, shown+" appears where "+wanted+" was expected", r.slip(wanted, end))
}

// token returns where the next token ends, as far as a reader of the message
// sees one, and how messages show it. ok is false where the next byte is not
// UTF-8.
func (r *reader) token() (end int, shown string, ok bool) {
	if end := r.wordEnd(); end > r.at {
		return end, quote(r.plain[r.at:end]), true
	}
	c, size := utf8.DecodeRune(r.src[r.at:])
	if c == utf8.RuneError && size == 1 {
		return 0, "", false
	}
	return r.at + size, character(c), true
}

// wordEnd returns where the word ends that begins at the next byte: letters
// first, then letters and digits. It is the next byte where there is no word.
func (r *reader) wordEnd() int {
	end := r.at
	for end < len(r.src) && (isWordStart(r.src[end]) || end > r.at && isDigit(r.src[end])) {
		end++
	}
	return end
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

// unseen are the characters that messages name.
var unseen = map[rune]string{
	'\'': "a single quote", '"': "a double quote", '\\': "a backslash", 0: "a zero byte", '\uFEFF': "a byte order mark",
	'\u00A0': "a no-break space", ' ': "a space", '\t': "a tab", '\n': "a line break", '\r': "a line break",
}

// character shows one character: as it is, or by name where it cannot be seen
// or would be lost between quotes.
func character(c rune) string {
	if name := unseen[c]; name != "" {
		return name
	}
	if unicode.IsPrint(c) {
		return "'" + string(c) + "'"
	}
	return fmt.Sprintf("the character U+%04X", c)
}

// slip returns the hint for what is at the next byte, up to end, where
// something else was wanted; "" where the message says it all.
func (r *reader) slip(wanted string, end int) string {
	c, _ := utf8.DecodeRune(r.src[r.at:])
	previous := r.previous()
	switch {
	case c == '/' || c == '#':
		return hintComment
	case strings.ContainsRune("'‘’“”", c):
		return hintQuotes
	case c == ',' && strings.IndexByte(",[{", previous) >= 0:
		return "remove the extra comma"
	case (c == '}' || c == ']') && previous == ',':
		return "remove the comma before it"
	case strings.ContainsRune(",}]", c) && previous == ':':
		return "write a value after the colon"
	case c == 0:
		return "save the file as UTF-8"
	case !unicode.IsPrint(c):
		return "remove it, or type a plain space"
	case c == ';':
		return "use a comma"
	}
	switch wanted {
	case wantName:
		return "write the member's name in double quotes"
	case wantColon:
		return "write a colon between the name and its value"
	case wantDigit:
		return hintNumber
	case wantMember, wantItem:
		return r.missingComma(wanted, c)
	}
	return wrongValue(c, r.plain[r.at:end])
}

// missingComma returns the hint for c where a comma or the end was wanted.
func (r *reader) missingComma(wanted string, c rune) string {
	before := r.src[r.at-1] // there is one: at least the value before it
	switch {
	case c == '}':
		return "close the array with ']' first"
	case c == ']':
		return "close the object with '}' first"
	case c == ':' && wanted == wantItem:
		return "use an object; the items of an array have no names"
	case before == '0' && c >= '0' && c <= '9':
		return hintZeros
	case isDigit(before) && (c == '.' || c == '_' || unicode.IsLetter(c)):
		return "write the number in decimal digits, or as a string"
	case c == '"' || c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9' || unicode.IsLetter(c):
		return "add the missing comma before it"
	}
	return ""
}

// wrongValue returns the hint for a token that begins with c and is no value.
func wrongValue(c rune, token string) string {
	switch strings.ToLower(token) {
	case "true", "false", "null", "none", "nil", "undefined":
		return "write true, false or null, in small letters"
	case "nan", "inf", "infinity", "+", ".":
		return hintNumber
	}
	if unicode.IsLetter(c) {
		return "put texts in double quotes"
	}
	return ""
}

// previous returns the last byte before the next one that is no white space.
func (r *reader) previous() byte {
	for i := r.at - 1; i >= 0; i-- {
		switch c := r.src[i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// trailing notes data after the end of the document.
func (r *reader) trailing() bool {
	_, shown, ok := r.token()
	if !ok {
		return r.badUTF8()
	}
	hint := "keep one JSON document per file"
	switch c := r.src[r.at]; {
	case c == '/' || c == '#':
		hint = hintComment
	case c == '}' || c == ']':
		hint = "remove it, or open what it closes"
	case isDigit(c) && r.at > 0 && isDigit(r.src[r.at-1]):
		hint = hintZeros
	}
	return r.fault(Trailing, r.at, len(r.src), shown+" follows the end of the document", hint)
}

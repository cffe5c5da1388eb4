package pack

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clip returns a text, or the most characters of it that may be shown with an
// ellipsis after them.
func Clip(text string, most int) string {
	count := 0
	for i := range text {
		if count == most {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// Counted returns how many there are of something, such as "1 error", "2 errors" or "2 entries".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if root, ok := strings.CutSuffix(noun, "y"); ok && root != strings.TrimRight(root, "bcdfghjklmnpqrstvwxz") {
		noun = root + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Joined joins words as a sentence does: "a, b and c", or with another conjunction.
func Joined(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// CompactJSON returns a value as one line of JSON, member names sorted, without
// the escapes that only HTML needs. A value that has no JSON form, which nothing
// read from JSON is, is named by its Go type.
func CompactJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("a value of type %T", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// longest is how many bytes of a text out of the document a message repeats.
const longest = 80

// clipBytes shortens a text for a message. What a document repeats is up to its
// author, and a message should not be as long as the document.
func clipBytes(s string) string {
	if len(s) <= longest {
		return s
	}
	end := longest
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

func quote(s string) string { return fmt.Sprintf("%q", clipBytes(s)) }

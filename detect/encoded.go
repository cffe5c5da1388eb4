package detect

import (
	stdbase64 "encoding/base64"
	stdhex "encoding/hex"
	"net/url"
	"strings"
)

const (
	// maxEncodings is how many encodings, one around the other, are undone.
	maxEncodings = 3
	// leastEncoded is the length of the shortest encoded text that is decoded.
	leastEncoded = 16
	// probed is how many characters decide whether decoding is worth it. It is a
	// multiple of both four and two.
	probed = 16
)

// findEncoded finds secrets in what the text holds in base64, hexadecimal digits
// or percent escapes.
func findEncoded(text string, encodings int) (found []Match) {
	for start := 0; start < len(text); {
		if !encodedChar(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && encodedChar(text[end]) {
			end++
		}
		if end-start >= leastEncoded {
			found = append(found, decodeRun(text, start, end, encodings)...)
		}
		start = end
	}
	if strings.Count(text, "%") >= 2 {
		plain, err := url.PathUnescape(text)
		if err == nil && plain != text && len(secretsWithin(plain, encodings-1)) > 0 {
			found = append(found, within(plain, "percent escapes", 0, len(text), encodings)...)
		}
	}
	return found
}

func encodedChar(c byte) bool { return word[c] || c == '+' || c == '/' }

// decodeRun looks at one run of characters that may be encoded: as a whole, and
// in the pieces that a path is made of.
func decodeRun(text string, start, end, encodings int) []Match {
	run := text[start:end]
	if plain := unbase64(run); plain != "" {
		if found := within(plain, "base64", start, end, encodings); len(found) > 0 {
			return found
		}
	}
	if plain := unhex(run); plain != "" {
		if found := within(plain, "hexadecimal", start, end, encodings); len(found) > 0 {
			return found
		}
	}
	var found []Match
	for at := 0; at < len(run); {
		n := strings.IndexAny(run[at:], "/-_+")
		if n < 0 {
			n = len(run) - at
		}
		if n >= leastEncoded && n < len(run) {
			if plain := unbase64(run[at : at+n]); plain != "" {
				found = append(found, within(plain, "base64", start+at, start+at+n, encodings)...)
			}
		}
		at += n + 1
	}
	return found
}

// within returns the first secret of a decoded text, at the place of its encoded
// form: one edit removes them all.
func within(plain, via string, start, end, encodings int) []Match {
	found := secretsWithin(plain, encodings-1)
	if len(found) == 0 {
		return nil
	}
	if found[0].Via != "" {
		via += " and " + found[0].Via
	}
	return []Match{{Kind: found[0].Kind, Start: start, End: end, Via: via}}
}

// unbase64 returns the text that is encoded, in either alphabet and with or
// without padding, or "" where it is none.
func unbase64(run string) string {
	encoding := stdbase64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = stdbase64.RawURLEncoding
	}
	head, err := encoding.DecodeString(run[:probed])
	if err != nil || !printable(head) {
		return ""
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	plain, err := encoding.DecodeString(run)
	if err != nil {
		return ""
	}
	return string(plain)
}

func unhex(run string) string {
	head, err := stdhex.DecodeString(run[:probed])
	if err != nil || !printable(head) {
		return ""
	}
	plain, err := stdhex.DecodeString(run[:len(run)&^1])
	if err != nil {
		return ""
	}
	return string(plain)
}

// printable reports whether bytes are plain text in ASCII.
func printable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

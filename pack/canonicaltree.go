package pack

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// errNotJSON says that a value is not what decoding JSON gives.
var errNotJSON = errors.New("canonical form: the value has no JSON form")

// AppendCanonical appends the canonical form (RFC 8785) of decoded JSON to b:
// map[string]any, []any, string, float64, bool or nil. It gives the bytes that
// Canonical gives for the same content, without the text in between; a nil map or
// list is null, as in encoding/json. The error
// is for a value of another type, for a number that is not finite and for names
// that are the same as soon as their invalid UTF-8 is replaced.
func AppendCanonical(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case float64:
		return appendCanonicalNumber(b, v)
	case string:
		return AppendCanonicalString(b, v), nil
	case []any:
		if v == nil {
			return append(b, "null"...), nil
		}
		return appendCanonicalList(b, v)
	case map[string]any:
		if v == nil {
			return append(b, "null"...), nil
		}
		return AppendCanonicalMap(b, v, AppendCanonical)
	}
	return b, fmt.Errorf("%w: it is of type %T", errNotJSON, v)
}

func appendCanonicalList(b []byte, items []any) ([]byte, error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = AppendCanonical(b, item); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// AppendCanonicalMap appends the canonical form of an object whose values are
// written by value, sorted by name.
func AppendCanonicalMap[T any](b []byte, m map[string]T, value func([]byte, T) ([]byte, error)) ([]byte, error) {
	names := make([]string, 0, len(m))
	names = slices.AppendSeq(names, maps.Keys(m))
	slices.SortFunc(names, compareUTF16)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			if compareUTF16(names[i-1], name) == 0 {
				return b, fmt.Errorf("%w: the name %q is there twice", errNotJSON, name)
			}
			b = append(b, ',')
		}
		b = append(AppendCanonicalString(b, name), ':')
		var err error
		if b, err = value(b, m[name]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// compareUTF16 compares two texts by their UTF-16 code units, the order of names
// in RFC 8785, section 3.2.3: -1, 0 or 1. Each byte of invalid UTF-8 counts as
// U+FFFD.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] && a[i] < utf8.RuneSelf {
		i++
	}
	a, b = a[i:], b[i:]
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			return compareRunes(x, y)
		}
		a, b = a[n:], b[m:]
	}
	return min(len(a), 1) - min(len(b), 1)
}

// compareRunes puts characters beyond U+FFFF where their surrogates stand, which
// is below U+E000.
func compareRunes(x, y rune) int {
	if (x > 0xFFFF) != (y > 0xFFFF) && min(x, y) >= 0xE000 {
		x, y = y, x
	}
	if x < y {
		return -1
	}
	return 1
}

// AppendCanonicalString appends a text in the canonical form. Each byte of
// invalid UTF-8 becomes U+FFFD, as in encoding/json.
func AppendCanonicalString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + size
			}
			i += size
			continue
		}
		if i++; c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i-1]...)
		start = i
		if short := shortEscape(c); short != 0 {
			b = append(b, '\\', short)
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// shortEscape returns the letter of an escape of two characters, 0 where there
// is none.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}

// appendCanonicalNumber appends a number as ECMAScript writes it (RFC 8785,
// section 3.2.2.3): the shortest digits that read back to it, with an exponent
// only below 1e-6 and from 1e21 on.
func appendCanonicalNumber(b []byte, n float64) ([]byte, error) {
	switch size := math.Abs(n); {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return b, fmt.Errorf("%w: it is the number %v", errNotJSON, n)
	case n == 0: // -0 too
		return append(b, '0'), nil
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(b, n, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, n, 'e', -1, 64)
	// Go writes at least two digits of the exponent.
	if last := len(b) - 1; b[last-1] == '0' && (b[last-2] == '-' || b[last-2] == '+') {
		b[last-1] = b[last]
		b = b[:last]
	}
	return b, nil
}

package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Digest is "sha256:" and 64 hexadecimal digits.
type Digest string

// DigestOf returns the SHA-256 digest of the bytes as they are.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// Canonical returns the JSON Canonicalization Scheme form (RFC 8785) of a JSON
// document: the same bytes for the same content, whatever its formatting and
// member order. The error says why a document has none.
func Canonical(src []byte) ([]byte, error) {
	b, err := jcs.Transform(src)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return b, nil
}

// errFaults says that a document is not one to sign or to compare: two that
// differ in a number beyond 2^53 alone could share a canonical form.
var errFaults = errors.New("canonical form: the document has faults")

// CanonicalDigest returns the digest of the canonical form of the document, which is
// worked out once. It fails for a document in which the reader found a fault, and for one
// that is not JSON.
func (d *Document) CanonicalDigest() (Digest, error) {
	if d.digest == nil {
		return "", errFaults
	}
	return d.digest(), nil
}

// canonicalDigest writes the canonical form of what was read; its bytes are those of
// Canonical for the source of a document without faults.
func (d *Document) canonicalDigest() Digest {
	return DigestOf(appendCanonicalNode(make([]byte, 0, len(d.Source)), d.Root))
}

func appendCanonicalNode(b []byte, n *Node) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, n.Bool)
	case Number:
		b, _ = appendCanonicalNumber(b, n.Number) // it is finite
		return b
	case String:
		return AppendCanonicalString(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonicalNode(b, item)
		}
		return append(b, ']')
	}
	var few [16]*Member
	members := few[:0]
	for i := range n.Members {
		members = append(members, &n.Members[i])
	}
	slices.SortFunc(members, func(a, b *Member) int { return compareUTF16(a.Name, b.Name) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendCanonicalString(b, m.Name), ':')
		b = appendCanonicalNode(b, m.Value)
	}
	return append(b, '}')
}

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
	names := slices.SortedFunc(maps.Keys(m), compareUTF16)
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
// in RFC 8785, section 3.2.3. Each byte of invalid UTF-8 counts as U+FFFD.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] && a[i] < utf8.RuneSelf {
		i++
	}
	a, b = a[i:], b[i:]
	if a == "" || b == "" || min(a[0], b[0]) < utf8.RuneSelf { // as in any encoding
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
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
		if short := strings.IndexByte("\"\\\b\t\n\f\r", c); short >= 0 {
			b = append(b, '\\', `"\btnfr`[short])
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// appendCanonicalNumber appends a number as ECMAScript writes it (RFC 8785,
// section 3.2.2.3).
func appendCanonicalNumber(b []byte, n float64) ([]byte, error) {
	if whole := int64(n); math.Abs(n) < 1<<53 && float64(whole) == n {
		return strconv.AppendInt(b, whole, 10), nil
	}
	text, err := jcs.NumberToJSON(n)
	if err != nil {
		return b, fmt.Errorf("%w: it is the number %v", errNotJSON, n)
	}
	return append(b, text...), nil
}
